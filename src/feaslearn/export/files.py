"""Regions as files of linear programs, which every solver reads."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.atomic import check_writable, temporary_folder, write_bytes
from feaslearn.exceptions import DataError, FileError, SolverError
from feaslearn.export.exported import read_region
from feaslearn.export.naming import free_prefix, names_of_rows, safe_names
from feaslearn.export.solver_form import SolverForm, solver_form
from feaslearn.region import Region
from feaslearn.region.form import beside

#: How a line begins that is for readers alone.
COMMENTS = {"mps": "* ", "lp": "\\ "}
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
        The region at one signal, which must not be curved; binary sets give integers.
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
        The region at one signal, which must not be curved; binary sets give integers.
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
    given = read_region(region, f"to_{form}")
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
    with temporary_folder() as folder:
        path = folder / f"region.{form}"
        if _name(solver.writeModel(str(path))) == "kError":
            raise SolverError(f"HiGHS could not write the region in the {form} format")
        text = path.read_text("utf-8")
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
    import highspy

    rows, program = form.rows, highspy.HighsLp()
    n, p, m = rows.n, rows.p, len(form.equal)
    prefix = free_prefix("z", names)
    program.num_col_, program.num_row_ = n + p, m
    program.col_names_ = [*names, *(f"{prefix}{j}" for j in range(p))]
    program.row_names_ = labels
    program.col_cost_ = np.append(prices, np.zeros(p))
    program.col_lower_, program.col_upper_ = form.lower, form.upper
    program.row_lower_ = rows.r[0]
    program.row_upper_ = np.where(form.equal, rows.r[0], np.inf)
    matrix = beside([rows.X, rows.Z[0]])
    matrix.eliminate_zeros()
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = matrix.indptr
    program.a_matrix_.index_ = matrix.indices
    program.a_matrix_.value_ = matrix.data
    if rows.integer.any():
        kinds = highspy.HighsVarType
        whole = [kinds.kInteger if each else kinds.kContinuous for each in rows.integer]
        program.integrality_ = [*([kinds.kContinuous] * n), *whole]
    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if _name(solver.passModel(program)) == "kError":
        raise SolverError(
            "HiGHS does not take the numbers of the region; those beyond 1e15 are too large"
        )
    return solver


def _name(status: Any) -> str:
    return str(status.name)
