"""Regions as files of linear programs, which every solver reads."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, FileError, SolverError, UnsupportedError
from feaslearn.export.exported import read_source
from feaslearn.export.naming import free_prefix, names_of_rows, safe_names
from feaslearn.export.solver_form import SolverForm, solver_form
from feaslearn.io.whole_files import check_writable, write_bytes
from feaslearn.region import Region
from feaslearn.region.form import beside
from feaslearn.regressor.learned_region import LearnedRegion
from feaslearn.solvers.highs import Bounds, open_program

#: How a line begins that is for readers alone.
COMMENTS = {"mps": "* ", "lp": "\\ "}
#: Numbers that HiGHS takes are smaller.
LARGEST = 1e15
#: How a file ends that is whole.
ENDS = {"mps": "ENDATA\n", "lp": "end\n"}


def to_mps(
    region: Region, path: str | os.PathLike[str], cost: ArrayLike | None = None
) -> dict[str, str]:
    r"""Write a region as an MPS file, whole or not at all.

    .. math:: \min c'x \quad \text{over} \quad x = A z + b, \; Hz \ge h

    Parameters
    ----------
    region : Region
        The region at one signal, which must not be curved.
    path : path-like
        Where to write.
    cost : array-like of shape (n,), default=None
        What to minimise; None leaves the objective zero.

    Returns
    -------
    dict
        For each decision the name of its column: letters, digits and underscores. The file lists
        the names that had to change, in comments at its head.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Box(2), [[1.0, 0], [0, 2]], [1.0, 1]), ["gas", "CHP 1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fl.export.to_mps(region, Path(folder) / "region.mps")
    {'gas': 'gas', 'CHP 1': 'CHP_1'}
    """
    return _write(region, path, cost, "mps")


def to_lp(
    region: Region, path: str | os.PathLike[str], cost: ArrayLike | None = None
) -> dict[str, str]:
    r"""Write a region as a file in the LP format, which people can read, whole or not at all.

    .. math:: \min c'x \quad \text{over} \quad x = A z + b, \; Hz \ge h

    Parameters
    ----------
    region : Region
        The region at one signal, which must not be curved.
    path : path-like
        Where to write.
    cost : array-like of shape (n,), default=None
        What to minimise; None leaves the objective zero.

    Returns
    -------
    dict
        For each decision the name of its column, as for `to_mps`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Simplex(2), [[1.0, 0], [0, 2]], [0.0, 0]), ["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fl.export.to_lp(region, Path(folder) / "region.lp")
    {'a': 'a', 'b': 'b'}
    """
    return _write(region, path, cost, "lp")


def _write(
    region: Region, path: str | os.PathLike[str], cost: ArrayLike | None, form: str
) -> dict[str, str]:
    check_writable(path)
    text, names = program_text(region, form, cost)
    write_bytes(path, text.encode("utf-8"))
    return names


def program_text(
    region: Region, form: str, cost: ArrayLike | None = None
) -> tuple[str, dict[str, str]]:
    """Return the text of a file, in the form "mps" or "lp", and the names of its columns."""
    if isinstance(region, LearnedRegion):
        raise UnsupportedError(
            f"to_{form} holds a region at one signal: give it model.region(signal), not the model"
        )
    given = read_source(region)
    rows = solver_form(given.form, f"to_{form}", bound_decisions=True)
    names = safe_names(given.names)
    prices = np.zeros(rows.rows.n) if cost is None else _prices(cost, region)
    labels = names_of_rows(rows.rows, given.names)
    text = _written(highs_of(rows, prices, list(names.values()), list(labels.values())), form)
    mark = COMMENTS[form]
    head = [f"{mark}The region of {rows.rows.n} decisions, written by feaslearn"]
    head += [f"{mark}{new} is {old!a}" for old, new in names.items() if old != new]
    head += [f"{mark}row {new} is that of {old!a}" for old, new in labels.items() if old != new]
    return "\n".join([*head, text]), names


def _written(solver: Any, form: str) -> str:
    """Return what HiGHS writes; it does not say when the disk is full."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"region.{form}"
            if solver.writeModel(str(path)).name == "kError":
                raise SolverError(f"HiGHS could not write the region in the {form} format")
            text = path.read_text("utf-8")
    except OSError as error:
        place = os.environ.get("TMPDIR", "the folder of temporary files")
        raise FileError(f"{place}: {error.strerror or error}") from error
    if not text.endswith(ENDS[form]):
        raise FileError(
            f"{tempfile.gettempdir()}: {form} could not be written whole; is the disk full?"
        )
    return text


def _prices(cost: ArrayLike, region: Region) -> Array:
    try:
        prices = np.asarray(cost, dtype=float)
    except (TypeError, ValueError):
        raise DataError("cost holds something that is not a number") from None
    if prices.shape != (region.n,) or not np.isfinite(prices).all():
        raise DataError(f"cost must be {region.n} finite numbers, one for each decision")
    return prices


def highs_of(form: SolverForm, prices: Array, names: list[str], labels: list[str]) -> Any:
    """Return HiGHS with the program of a region at one signal."""
    rows = form.rows
    columns = [*names, *(f"{free_prefix('z', names)}{j}" for j in range(rows.p))]
    upper = np.where(form.equal, rows.r[0], np.inf)
    matrix = sp.csc_array(beside([rows.X, rows.Z[0]]))
    matrix.eliminate_zeros()
    if np.abs(np.append(matrix.data, prices)).max(initial=0.0) >= LARGEST:
        raise SolverError(
            "HiGHS does not take the numbers of the region; those beyond 1e15 are too large"
        )
    solver = open_program(
        matrix,
        np.append(prices, np.zeros(rows.p)),
        Bounds(rows.r[0], upper, form.lower, form.upper),
        {"output_flag": False},
    )
    for j, name in enumerate(columns):
        solver.passColName(j, name)
    for i, label in enumerate(labels):
        solver.passRowName(i, label)
    return solver
