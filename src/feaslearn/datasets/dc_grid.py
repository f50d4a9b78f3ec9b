"""Power grids in the direct-current approximation."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.datasets.case_file import CaseFile, read_case
from feaslearn.datasets.linear_program import AffineRows, LinearProgram
from feaslearn.exceptions import DataError, Problems
from feaslearn.messages import list_first

#: The type of a bus that is out of service.
ISOLATED = 4
#: The model of costs in ``mpc.gencost`` that is read, where its numbers begin, most numbers.
POLYNOMIAL, FIRST_COLUMN, MAX_NUMBERS = 2, 4, 10**6


class DcGrid:
    r"""Generators, loads and lines of a case file, flows in the direct-current approximation.

    .. math:: \min_{p, \theta} c'p \quad \text{s.t.} \quad E p = d + g + C' S C \theta,\;
        f_{\min} \le S C \theta \le f_{\max},\; p_{\min} \le p \le p_{\max}

    where the susceptance of a line is ``x / (r² + x²)``, without taps and shifts of transformers,
    ``f`` holds the rating A of each line and the limit of its angle difference, and ``g`` the
    active power of shunts at nominal voltage. This is the approximation behind the column "DC" of
    PGLib-OPF's published baseline, and reproduces it. Power is in MW throughout.

    Parameters
    ----------
    case : str or path
        The name of a PGLib-OPF case (``"case39_epri"``; needs the extra ``cases``), or the path of
        a MATPOWER case file, which ends with ``.m``.
    variant : {"api", "sad"}, optional
        The variant of a PGLib case: "api" with loads so high that lines bind, "sad" with small
        angle differences.

    Attributes
    ----------
    name : str
        The name of the case.
    buses : ndarray of int, shape (B,)
        The numbers of the buses in service.
    loads : ndarray of shape (B,)
        The load of each bus in the file.
    ends : ndarray of int, shape (L, 2)
        The positions of the two buses of each line in service.
    susceptances, flow_lower, flow_upper : ndarray of shape (L,)
        The susceptance of each line in parts of baseMVA, and the limits of its flow.
    generators : tuple of int
        The generators that can be dispatched, by their row in the file, counted from 1. Those out
        of service are left out; those whose limits are equal are fixed injections.
    generator_buses : ndarray of int, shape (G,)
        The numbers of their buses.
    lower, upper : ndarray of shape (G,)
        Their limits.
    costs : GeneratorCosts or None
        Their costs; None where the file has none.
    fixed_cost : float
        What is paid whatever the dispatch: constants and fixed injections.

    References
    ----------
    Babaeinejadsarookolaee et al., "The Power Grid Library for Benchmarking AC Optimal Power Flow
    Algorithms", arXiv:1908.02788, 2019.

    Zimmerman, Murillo-Sánchez and Thomas, "MATPOWER: Steady-State Operations, Planning, and
    Analysis Tools for Power Systems Research and Education", IEEE Transactions on Power Systems
    26(1), 2011.

    Examples
    --------
    >>> from feaslearn.datasets import DcGrid
    >>> grid = DcGrid("case5_pjm")
    >>> grid
    DcGrid('pglib_opf_case5_pjm': 5 buses, 6 lines, 5 generators)
    >>> cost = grid.linear_program().optimal_value([grid.loads], [grid.costs.slope])
    >>> f"{cost[0] + grid.fixed_cost:.4e}"  # as published
    '1.7480e+04'
    """

    def __init__(self, case: str | os.PathLike[str], variant: str | None = None) -> None:
        file = read_case(case, variant)
        self.name = file.name
        self._base = file.base
        problems = Problems()
        _check(problems, file)
        problems.raise_if_any(DataError, f"DcGrid: {file.name}")
        bus = file.bus[file.bus[:, 1] != ISOLATED]
        self.buses: NDArray[np.int64] = bus[:, 0].astype(np.int64)
        self.loads: Array = bus[:, 2].copy()
        self._positions = {int(number): i for i, number in enumerate(self.buses)}
        self._injected = -bus[:, 4]
        self._read_lines(file.branch)
        self._read_generators(file.gen, file.gencost)

    def _read_lines(self, branch: Array) -> None:
        """Read the lines in service and their limits."""
        branch = branch[(branch[:, 10] > 0) & self._connected(branch[:, 0], branch[:, 1])]
        self.ends = np.column_stack([self._at(branch[:, 0]), self._at(branch[:, 1])])
        self.susceptances = _susceptances(branch)
        rating = np.where(branch[:, 5] > 0.0, branch[:, 5], np.inf)
        lowest, highest = _angle_limits(branch)
        megawatts = self.susceptances * self._base
        with np.errstate(invalid="ignore"):  # no susceptance times no limit
            flows = np.nan_to_num([megawatts * lowest, megawatts * highest], posinf=np.inf)
        self.flow_lower: Array = np.maximum(-rating, flows.min(axis=0))
        self.flow_upper: Array = np.minimum(rating, flows.max(axis=0))

    def _read_generators(self, gen: Array, gencost: Array | None) -> None:
        """Read the generators in service and their costs."""
        running = np.flatnonzero((gen[:, 7] > 0) & self._connected(gen[:, 0]))
        lower, upper = gen[running, 9], gen[running, 8]
        moves = upper > lower
        self.generators = tuple(int(row) + 1 for row in running[moves])
        self.generator_buses: NDArray[np.int64] = gen[running[moves], 0].astype(np.int64)
        self.lower: Array = lower[moves]
        self.upper: Array = upper[moves]
        np.add.at(self._injected, self._at(gen[running[~moves], 0]), lower[~moves])
        self.costs: GeneratorCosts | None = None
        self.fixed_cost = 0.0
        if gencost is not None:
            every = read_costs(gencost[running], lower, upper)
            self.costs = GeneratorCosts(*(column[moves] for column in every))
            self.fixed_cost = float(every.constant.sum() + every.slope[~moves] @ lower[~moves])

    def _connected(self, *numbers: Array) -> Mask:
        """Return where all of the buses are in service."""
        inside = np.isin(np.column_stack(numbers), self.buses)
        return np.asarray(inside.all(axis=1))

    def _at(self, numbers: Array | NDArray[np.int64]) -> Indices:
        """Return the indices of buses."""
        return np.array([self._positions[int(number)] for number in numbers], dtype=np.intp)

    def linear_program(
        self,
        shares: Array | None = None,
        fixed: Array | None = None,
        n_signals: int | None = None,
    ) -> LinearProgram:
        """Return the grid as a linear program whose hidden variables are the angles of the buses.

        ``d(s) = fixed + shares s``, the loads being the last of the signals.

        Parameters
        ----------
        shares : ndarray of shape (B, K), optional
            How the loads that are signals fall on the buses; by default one signal for each bus.
        fixed : ndarray of shape (B,), optional
            The load of each bus that does not depend on the signals; by default none.
        n_signals : int, optional
            How many signals there are; by default the loads and no others.

        Returns
        -------
        LinearProgram
            The forward problem; a cost for each of the generators that can be dispatched.
        """
        n_buses, n_lines, n_generators = len(self.buses), len(self.ends), len(self.generators)
        shares = np.eye(n_buses) if shares is None else shares
        n_loads = shares.shape[1]
        n_signals = n_loads if n_signals is None else n_signals
        slope = np.hstack([np.zeros((n_buses, n_signals - n_loads)), shares])
        constant = -self._injected if fixed is None else fixed - self._injected
        lines = np.repeat(np.arange(n_lines), 2)
        signs = np.tile([1.0, -1.0], n_lines)
        ends = sparse.csr_array((signs, (lines, self.ends.ravel())), shape=(n_lines, n_buses))
        flows = sparse.diags_array(self.susceptances) @ ends
        units = (np.ones(n_generators), (self._at(self.generator_buses), range(n_generators)))
        delivered = sparse.csr_array(units, shape=(n_buses, n_generators))
        limited = np.flatnonzero(np.isfinite(self.flow_lower) | np.isfinite(self.flow_upper))
        matrix = sparse.block_array(
            [[delivered / self._base, -(ends.T @ flows)], [None, sparse.csr_array(flows)[limited]]]
        )
        still = np.zeros((len(limited), n_signals))
        # Rows are in parts of baseMVA, as susceptances are: in MW their rounding would seem large.
        rows = [
            AffineRows(
                np.append(constant, limits[limited]) / self._base,
                np.vstack([slope, still]) / self._base,
            )
            for limits in (self.flow_lower, self.flow_upper)
        ]
        angles = np.full(n_buses, np.inf)
        angles[0] = 0.0  # angles matter by their differences alone
        lower, upper = np.append(self.lower, -angles), np.append(self.upper, angles)
        return LinearProgram(matrix, rows[0], rows[1], lower, upper, n_generators)

    def __repr__(self) -> str:
        return (
            f"DcGrid({self.name!r}: {len(self.buses)} buses, {len(self.ends)} lines, "
            f"{len(self.generators)} generators)"
        )


def _susceptances(branch: Array) -> Array:
    """Return ``x / (r² + x²)``, not finite where both are zero."""
    r, x = branch[:, 2], branch[:, 3]
    with np.errstate(all="ignore"):
        return np.asarray(x / (r**2 + x**2))


def _angle_limits(branch: Array) -> tuple[Array, Array]:
    """Return the limits of the angle differences in radians; 360 degrees or both 0 is unlimited."""
    if branch.shape[1] < 13:
        return np.full(len(branch), -np.inf), np.full(len(branch), np.inf)
    lowest, highest = branch[:, 11], branch[:, 12]
    none = (lowest == 0.0) & (highest == 0.0)
    return (
        np.where(none | (lowest <= -360.0), -np.inf, np.deg2rad(lowest)),
        np.where(none | (highest >= 360.0), np.inf, np.deg2rad(highest)),
    )


def _check(problems: Problems, file: CaseFile) -> None:
    """Add what is wrong with the tables; rows are counted from 1, as in the file."""
    numbers = file.bus[:, 0]
    whole = file.bus[:, [0, 6, 10]]
    odd = np.asarray(((np.abs(whole) > 2.0**53) | (whole != np.floor(whole))).any(axis=1))
    _add_rows(problems, "bus", "number, area or zone that is not an integer", odd)
    endless = np.asarray(np.isinf(file.bus[:, [2, 4]]).any(axis=1))
    _add_rows(problems, "bus", "load or shunt that is infinite", endless)
    known, counts = np.unique(numbers, return_counts=True)
    _add_rows(problems, "bus", "number that another bus has", np.isin(numbers, known[counts > 1]))
    gen, branch = file.gen, file.branch
    _add_rows(problems, "gen", "bus that is missing", ~np.isin(gen[:, 0], numbers))
    _add_rows(
        problems, "gen", "lower limit above the upper", (gen[:, 9] > gen[:, 8]) & (gen[:, 7] > 0)
    )
    lost = np.asarray(~np.isin(branch[:, :2], numbers).all(axis=1))
    _add_rows(problems, "branch", "bus that is missing", lost)
    shorted = ~np.isfinite(_susceptances(branch)) & (branch[:, 10] > 0)
    _add_rows(problems, "branch", "resistance and reactance of 0, or infinite ones", shorted)
    movable = (gen[:, 7] > 0) & (gen[:, 8] > gen[:, 9])
    if not movable.any():
        problems.add("mpc.gen has no generator in service that can be dispatched")
    if file.gencost is None:
        return
    if len(file.gencost) not in (len(gen), 2 * len(gen)):
        problems.add(f"mpc.gencost has {len(file.gencost)} rows for {len(gen)} generators")
    elif wrong := describe_wrong_costs(file.gencost[: len(gen)]):
        problems.add(f"mpc.gencost: {list_first(wrong[:5], len(wrong))}")


def _add_rows(problems: Problems, table: str, what: str, where: Mask) -> None:
    """Add a problem that names rows of a table."""
    if where.any():
        rows = [f"row {row + 1}" for row in np.flatnonzero(where)]
        problems.add(f"mpc.{table} has a {what}: {list_first(rows[:5], len(rows))}")


class GeneratorCosts(NamedTuple):
    """``cost(p) = constant + slope p``, in money for an hour, power in MW."""

    constant: Array
    slope: Array
    curved: Mask


def read_costs(gencost: Array, lower: Array, upper: Array) -> GeneratorCosts:
    """Read the costs of generators from the rows of ``mpc.gencost``."""
    constant, slope = np.zeros(len(gencost)), np.zeros(len(gencost))
    curved = np.zeros(len(gencost), dtype=bool)
    middles = 0.5 * (lower + upper)
    with np.errstate(over="ignore", invalid="ignore"):
        for i, row in enumerate(gencost):
            # The highest power comes first, in the file and in numpy.poly1d.
            cost = np.poly1d(row[FIRST_COLUMN : FIRST_COLUMN + int(row[3])])
            curved[i] = cost.order > 1
            at = float(middles[i]) if curved[i] else 0.0
            slope[i] = cost.deriv()(at)
            constant[i] = cost(at) - slope[i] * at
    wrong = np.flatnonzero(~np.isfinite(constant + slope))
    if len(wrong):
        rows = [f"row {i + 1}" for i in wrong[:5]]
        raise DataError(f"gencost: numbers too large in {list_first(rows, len(wrong))}")
    return GeneratorCosts(constant, slope, curved)


def describe_wrong_costs(gencost: Array) -> list[str]:
    """Return a line about each row of ``mpc.gencost`` that is invalid."""
    wrong = []
    for i, row in enumerate(gencost):
        if row[0] != POLYNOMIAL or not 1 <= row[3] <= MAX_NUMBERS:
            wrong.append(
                f"row {i + 1}: model {row[0]:g} with {row[3]:g} numbers (polynomials are read, 2)"
            )
            continue
        numbers = row[FIRST_COLUMN : FIRST_COLUMN + int(row[3])]
        if len(numbers) < row[3] or not np.isfinite(numbers).all():
            wrong.append(f"row {i + 1}: {row[3]:g} numbers are announced, fewer given")
    return wrong
