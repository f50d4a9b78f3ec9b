"""Minimise costs over a region that was written to a file, with HiGHS."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.atomic import temporary_folder
from feaslearn.exceptions import SolverError
from feaslearn.export.exported import read_region
from feaslearn.export.files import to_lp, to_mps
from feaslearn.export.naming import safe_names
from feaslearn.export.solving import EXACT, Solving
from feaslearn.export.tables import table_text
from feaslearn.sets.checked_program import CheckedProgram

Array = NDArray[np.float64]


def in_mps(source: Any) -> Solving:
    """Solve an MPS file with HiGHS."""
    with temporary_folder() as folder:
        path = folder / "region.mps"
        return of_file(path, list(to_mps(source, path).values()))


def in_lp(source: Any) -> Solving:
    """Solve a file in the LP format with HiGHS."""
    with temporary_folder() as folder:
        path = folder / "region.lp"
        return of_file(path, list(to_lp(source, path).values()))


def in_own_file(path: str | os.PathLike[str]) -> Callable[[Any], Solving]:
    """Return what solves a file that was written before."""
    return lambda source: of_file(path, list(safe_names(source.names).values()))


def of_file(path: str | os.PathLike[str], names: list[str]) -> Solving:
    """Solve a file of a linear program with HiGHS, whatever its objective is."""
    import highspy

    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if solver.readModel(os.fspath(path)) == highspy.HighsStatus.kError:
        raise SolverError(f"{os.fspath(path)}: HiGHS does not read it as a linear program")
    for option, value in EXACT.items():
        solver.setOptionValue(option, value)
    labels = list(solver.getLp().col_names_)
    missing = [name for name in names if name not in labels]
    if missing:
        raise SolverError(f"{os.fspath(path)}: there is no column {', '.join(missing)}")
    places = np.array([labels.index(name) for name in names], dtype=np.int32)

    def minimize(prices: Array) -> Array:
        every = np.zeros(len(labels))
        every[places] = prices
        solver.changeColsCost(len(labels), np.arange(len(labels), dtype=np.int32), every)
        solver.run()
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(f"HiGHS found no optimum: {solver.modelStatusToString(status)}")
        return np.asarray(solver.getSolution().col_value)[places]

    return Solving(None, minimize)


def in_vertices(source: Any) -> Solving:
    """Look for the best vertex in a table of them."""
    read_region(source, "to_csv")
    points = np.array(_cells(source, "vertices"), dtype=float)
    return Solving(None, lambda prices: points[np.argmin(points @ prices)])


def in_halfspaces(source: Any) -> Solving:
    """Solve the linear program of a table of inequalities and equalities."""
    read_region(source, "to_csv")
    cells = _cells(source, "halfspaces")
    upper, equal = (
        np.array(
            [[*row[:-2], row[-1]] for row in cells if row[-2] == relation], dtype=float
        ).reshape(-1, source.n + 1)
        for relation in ("<=", "=")
    )

    def minimize(prices: Array) -> Array:
        free = np.full(source.n, np.inf)
        program = CheckedProgram(
            prices, -free, free, upper[:, :-1], upper[:, -1], equal[:, :-1], equal[:, -1]
        )
        return program.solve("exported").point

    return Solving(None, minimize)


def _cells(region: Any, contents: str) -> list[list[str]]:
    """Return the rows below the header, read as any program would."""
    return list(csv.reader(io.StringIO(table_text(region, contents), newline="")))[1:]
