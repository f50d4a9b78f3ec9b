"""A self-check for users: the same problems in another tool and in our code."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.atomic import temporary_folder
from feaslearn.exceptions import (
    CheckError,
    DataError,
    MissingExtraError,
    SolverError,
    TooManyVerticesError,
    UnsupportedError,
)
from feaslearn.export.exported import read_region
from feaslearn.export.files import to_lp, to_mps
from feaslearn.export.naming import safe_names
from feaslearn.export.solving import EXACT, Solving, in_cvxpy, in_gurobipy, in_linopy, in_pyomo
from feaslearn.export.tables import table_text
from feaslearn.messages import did_you_mean
from feaslearn.region import Region
from feaslearn.regressor.learned_region import LearnedRegion
from feaslearn.regressor.outputs import is_frame
from feaslearn.runs.progress import ProgressBar
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import HIGHS_TOL, divisors

#: A region far from zero counts as this share of how far it is: solvers round there.
FAR = 1e-3


# Minimise costs over a region that was written to a file, with HiGHS.


def in_file(write: Callable[..., dict[str, str]], source: Any) -> Solving:
    """Solve a file in the MPS or LP format with HiGHS."""
    with temporary_folder() as folder:
        path = folder / f"region.{'mps' if write is to_mps else 'lp'}"
        return of_file(path, list(write(source, path).values()))


def in_vertices(source: Any) -> Solving:
    """Look for the best vertex in a table of them."""
    read_region(source, "to_csv")
    points = np.array(_cells(source, "vertices"), dtype=float)
    return Solving(None, lambda prices: points[np.argmin(points @ prices)])


def in_halfspaces(source: Any) -> Solving:
    """Solve the linear program of a table of inequalities and equalities."""
    read_region(source, "to_csv")
    cells, n = _cells(source, "halfspaces"), source.n
    matrix = np.array([row[:n] for row in cells], dtype=float).reshape(-1, n)
    limits, equal = (
        np.array([float(row[-1]) for row in cells]),
        np.array([row[n] == "=" for row in cells], dtype=bool),
    )
    rows = (matrix[~equal], limits[~equal], matrix[equal], limits[equal])
    free = np.full(n, np.inf)

    def minimize(prices: Array) -> Array:
        return CheckedProgram(prices, -free, free, *rows).solve("exported").point

    return Solving(None, minimize)


#: A new tool is one entry here.
TOOLS: dict[str, Callable[[Any], Solving]] = {
    "cvxpy": in_cvxpy,
    "pyomo": in_pyomo,
    "linopy": in_linopy,
    "gurobipy": in_gurobipy,
    "mps": partial(in_file, to_mps),
    "lp": partial(in_file, to_lp),
    "vertices": in_vertices,
    "halfspaces": in_halfspaces,
}


class ToolCheck(NamedTuple):
    """What was found in one tool; ``skipped`` says why nothing was."""

    tool: str
    problems: int = 0
    largest_difference: float = 0.0
    seconds: float = 0.0
    skipped: str = ""


@dataclass(frozen=True)
class Verification:
    """How far other tools are from our optima; prints as a table.

    Parameters
    ----------
    checks : tuple of ToolCheck
        One for each tool.
    tolerance : float
        The largest difference that is accepted, as a share of the size of the region.
    """

    checks: tuple[ToolCheck, ...]
    tolerance: float

    def __str__(self) -> str:
        lines = [f"{'tool':12}{'problems':>10}{'largest difference':>21}{'seconds':>10}"]
        for check in self.checks:
            found = f"{check.problems:>10}{check.largest_difference:>21.1e}{check.seconds:>10.2f}"
            said = f"  {_short(check.skipped)}" if check.skipped else found
            lines.append(f"{check.tool:12}{said}")
        return "\n".join(lines)


#: A cost, the least of it over a region, and how much differences are measured by.
Problem = tuple[Array, float, float]
#: Signals, None for a region, and the problems there.
Asked = list[tuple[Any, list[Problem]]]


def _short(text: str) -> str:
    """Return the beginning and the end of a long reason, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:50]} ... {line[-65:]}"


def verify(
    source: Region | LearnedRegion,
    tools: str | Sequence[str] | None = None,
    *,
    signals: ArrayLike | None = None,
    n_problems: int = 10,
    tolerance: float = 1e-6,
    random_state: int = 0,
) -> Verification:
    r"""Minimise random costs over an exported region in its tool and in our code; compare.

    .. math:: |\, \min_{x \in R} c'x - c'x_{\text{tool}} \,| \le \text{tolerance} \cdot
        \max(\max_{x \in R} c'x - \min_{x \in R} c'x,\; 10^{-3} |c|'|x|)

    Differences are shares of the size of the region, so that units do not matter. They do to
    solvers: these allow rows to be violated by 1e-6 to 1e-9 in the units of the decisions, which is
    all of a region that is as small. Such a region does not pass; exported in larger units, it
    does.

    Parameters
    ----------
    source : Region or fitted RegionRegressor
        What was, or would be, exported.
    tools : str or sequence of str, default=None
        Some of "cvxpy", "pyomo", "linopy", "gurobipy", "mps", "lp", "vertices", "halfspaces", or
        the name of a file that `to_mps` or `to_lp` wrote. None takes all that are installed and can
        hold the region.
    signals : array-like of shape (N, K), default=None
        Where to compare a fitted model.
    n_problems : int, default=10
        Number of random costs, for each signal.
    tolerance : float, default=1e-6
        Largest difference that is accepted, as a share of the size of the region.
    random_state : int, default=0
        Seed of the costs.

    Returns
    -------
    Verification
        The largest difference in each tool.

    Raises
    ------
    CheckError
        If an optimum differs by more than the tolerance.
    SolverError
        If a tool finds no optimum.

    Examples
    --------
    >>> import feaslearn as fl
    >>> from feaslearn.sets import AffineImage
    >>> region = fl.Region(AffineImage(fl.Simplex(2), [[1.0, 0], [0, 2]], [0.0, 0]), ["a", "b"])
    >>> found = fl.export.verify(region, ["cvxpy", "mps"])
    >>> [check.tool for check in found.checks if check.largest_difference < 1e-6]
    ['cvxpy', 'mps']
    """
    if not isinstance(n_problems, Integral) or n_problems < 1:
        raise DataError(f"n_problems={n_problems!r} is not an integer >= 1")
    chosen = list(TOOLS) if tools is None else [tools] if isinstance(tools, str) else list(tools)
    makers = [(str(tool), _maker(str(tool))) for tool in chosen]
    regions = _regions(source, signals)
    costs = np.random.default_rng(random_state).standard_normal((n_problems, regions[0][1].n))
    asked = [(signal, [_problem(region, cost) for cost in costs]) for signal, region in regions]
    hint = _hint(asked, tolerance)
    checks: list[ToolCheck] = []
    with ProgressBar("verifying", len(makers) * len(regions) * n_problems) as bar:
        for tool, make in makers:
            started, differences = perf_counter(), []
            try:
                for difference in _differences(make(source), asked):
                    differences.append(difference)
                    bar.update(len(checks) * len(regions) * n_problems + len(differences))
            except (MissingExtraError, TooManyVerticesError, UnsupportedError) as error:
                if tools is not None:
                    raise
                checks.append(ToolCheck(tool, skipped=str(error)))
                continue
            except SolverError as error:
                if not hint:
                    raise
                raise SolverError(f"{tool}: {error}{hint}") from error
            seconds = perf_counter() - started
            checks.append(ToolCheck(tool, len(differences), max(differences), seconds))
    found = Verification(tuple(checks), tolerance)
    wrong = [check.tool for check in checks if not check.largest_difference <= tolerance]
    if wrong:
        raise CheckError(
            f"optima in {', '.join(wrong)} differ by more than {tolerance:g} from ours{hint}:\n"
            f"{found}"
        )
    return found


def _maker(tool: str) -> Callable[[Any], Solving]:
    if tool in TOOLS:
        return TOOLS[tool]
    if Path(tool).suffix in (".mps", ".lp"):
        return lambda source: of_file(tool, list(safe_names(source.names).values()))
    raise DataError(f"tools: {tool!r} is not known; {did_you_mean(tool, list(TOOLS))}")


def _regions(source: Region | LearnedRegion, signals: ArrayLike | None) -> list[tuple[Any, Region]]:
    """Return signals and the regions there; the signal of a region is None."""
    if isinstance(source, LearnedRegion):
        if signals is None:
            raise DataError("verify: say with signals=... where a fitted model is to be compared")
        table: Any = signals if is_frame(signals) else np.atleast_2d(np.asarray(signals))
        rows = [table[i : i + 1] for i in range(len(table))]
        return [(row, source.region(row)) for row in rows]
    if not isinstance(source, Region):
        raise UnsupportedError(
            f"a Region or a fitted RegionRegressor can be verified, not {type(source).__name__}"
        )
    return [(None, source)]


def _problem(region: Region, cost: Array) -> Problem:
    x = region.minimize(cost)
    least = float(cost @ x)
    size = max(region.support(cost) - least, FAR * float(np.abs(cost) @ np.abs(x)))
    return cost, least, float(divisors(size))


def _hint(asked: Asked, tolerance: float) -> str:
    """Say that a region is too small for solvers, if it is."""
    size = min(size / float(np.abs(cost).sum()) for _, some in asked for cost, _, size in some)
    if tolerance * size >= HIGHS_TOL:
        return ""
    return (
        f" (the region is only about {size:.0e} in size; tolerances of solvers, 1e-6 to 1e-9, "
        "swallow what is so small: export it in larger units, and verify that)"
    )


def _differences(solving: Solving, asked: Asked) -> Iterator[float]:
    for signal, problems in asked:
        if signal is not None and solving.exported is not None:
            solving.exported.set_signal(signal)
        for cost, least, size in problems:
            yield abs(least - float(cost @ solving.minimize(cost))) / size


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
    columns = np.array([labels.index(name) for name in names], dtype=np.int32)

    def minimize(prices: Array) -> Array:
        every = np.zeros(len(labels))
        every[columns] = prices
        solver.changeColsCost(len(labels), np.arange(len(labels), dtype=np.int32), every)
        solver.run()
        status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(f"HiGHS found no optimum: {solver.modelStatusToString(status)}")
        return np.asarray(solver.getSolution().col_value)[columns]

    return Solving(None, minimize)


def _cells(region: Any, contents: str) -> list[list[str]]:
    """Return the rows below the header, read as any program would."""
    return list(csv.reader(io.StringIO(table_text(region, contents), newline="")))[1:]
