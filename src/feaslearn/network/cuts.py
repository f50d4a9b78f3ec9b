"""Networks of zero loss, by the cuts that it makes tight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.network.candidates import CandidateLines, Networks
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.samples import NetworkSamples
from feaslearn.network.search import Limits, NetworkProgram, SearchResult, excluding
from feaslearn.runs import Clock
from feaslearn.tolerances import ACCEPT_TOL, CAPACITY_TOL, GAIN_TOL, TIE_TOL

#: Entries of a table with a column for each set of nodes that are held at once.
MAX_ENTRIES = 2**22

Clause = frozenset[int]


class TightCuts(NamedTuple):
    """Zero loss, as conditions on cuts.

    A network explains every sample exactly when each set of nodes has a cut of at least ``needs``
    (the dispatches are feasible), and of each clause one set has a cut of no more than that (what
    the cheaper plants deliver could not be more). Sets are numbered as in `CandidateLines.members`;
    a set and its complement have the same cut, so the last node is always outside.
    """

    needs: Array
    clauses: list[Clause]
    tolerance: float


def find_tight_cuts(losses: NetworkLosses, clock: Clock) -> TightCuts | None:
    """Return what zero loss asks of cuts; None if no network has zero loss, or the time is up.

    With ``S`` the plants of the k lowest prices, a feasible x is optimal if ``x(S)`` is
    ``d(T) + f(δT) + C(S - T)`` for some T. Since ``x(T) <= d(T) + f(δT)``, the plants of S outside
    T then deliver all they can, those of T outside S nothing, and the cut is ``x(T) - d(T)``.
    """
    candidates, samples = losses.candidates, losses.samples
    tolerance = GAIN_TOL * float(np.abs(samples.decisions).max())
    surplus = candidates.surplus(samples.demands, samples.decisions)
    capacity = candidates.generator_capacity
    outside = (samples.decisions < -tolerance) | (samples.decisions > capacity + tolerance)
    if outside.any() or (np.abs(surplus.sum(axis=1)) > tolerance).any():
        return None
    step = max(1, MAX_ENTRIES // len(candidates.members))
    members = candidates.members.astype(np.float64)
    half = len(members) // 2
    needs = np.zeros(max(half, 1))
    for start in range(0, len(surplus), step):
        sent = np.abs(surplus[start : start + step] @ members[: len(needs)].T)
        needs = np.maximum(needs, sent.max(axis=0))
    clauses: set[Clause] = set()
    for level, rows in _levels(samples):
        for sample in rows:
            # What the plants of the level could deliver more, and what the others deliver.
            spare, rest = capacity - samples.decisions[sample], samples.decisions[sample].copy()
            rest[level], spare[np.setdiff1d(np.arange(len(rest)), level)] = 0.0, 0.0
            if rest.sum() <= tolerance or spare.sum() <= tolerance:
                continue
            wasted = members[:, candidates.plants] @ (rest - spare) + spare.sum()
            sets = np.flatnonzero(wasted <= tolerance)
            # A set and its complement have the same cut.
            same = np.minimum(sets, len(members) - 1 - sets)
            tight = members[sets] @ surplus[sample] >= needs[same] - tolerance
            clause = frozenset(same[tight].tolist())
            if not clause or clock.out():
                return None
            clauses.add(clause)
    return TightCuts(needs, _without_supersets(clauses), tolerance)


def common_capacity(candidates: CandidateLines) -> float | None:
    """Return the capacity that all lines share, if they do."""
    capacity = candidates.line_capacity
    shared = len(capacity) > 0 and capacity[0] > 0.0 and bool((capacity == capacity[0]).all())
    return float(capacity[0]) if shared else None


def _levels(samples: NetworkSamples) -> Iterator[tuple[Indices, Indices]]:
    """Yield each set of cheapest plants with the samples in whose prices it is one."""
    order = np.argsort(samples.costs, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(samples.costs, order, axis=1), axis=1)
    apart = steps > TIE_TOL * np.abs(samples.costs).max(axis=1, keepdims=True)
    for last in range(apart.shape[1]):
        rows = np.flatnonzero(apart[:, last])
        sets = np.sort(order[rows, : last + 1], axis=1)
        for level in np.unique(sets, axis=0):
            yield level, rows[(sets == level).all(axis=1)]


def _without_supersets(clauses: set[Clause]) -> list[Clause]:
    """Return the clauses that contain no other one."""
    kept: list[Clause] = []
    for clause in sorted(clauses, key=lambda clause: (len(clause), sorted(clause))):
        if not any(smaller <= clause for smaller in kept):
            kept.append(clause)
    return kept


class CutSearch:
    r"""The networks of zero loss: binaries for lines and for sets of nodes whose cut is tight.

    .. math::
        f(\delta_y T) \ge r_T \;\; \forall T, \qquad
        f(\delta_y T) \le r_T + M (1 - t_T), \qquad \sum_{T \in \text{clause}} t_T \ge 1

    No variable belongs to a sample, so the number of samples does not matter.
    """

    def __init__(self, losses: NetworkLosses, cuts: TightCuts) -> None:
        self.losses = losses
        self.n_solves = 0
        candidates = losses.candidates
        self._n_lines = len(candidates.lines)
        unit = common_capacity(candidates)
        self._capacity = np.ones(self._n_lines) if unit else candidates.line_capacity
        # Lines of one capacity are counted, which rounds what is needed up.
        self._least = cuts.needs - cuts.tolerance
        self._most = cuts.needs + cuts.tolerance
        if unit:
            self._least = np.ceil(self._least / unit)
            self._most = np.floor(self._most / unit)
        self._crossing = candidates.crossing[: len(cuts.needs)]
        self._clauses = cuts.clauses
        tight = sorted({T for clause in cuts.clauses for T in clause})
        self.program = NetworkProgram(self._n_lines + len(tight))
        self._add_clauses(tight)
        needed = np.union1d(np.array(tight, dtype=np.intp), np.flatnonzero(self._least > 0))
        matrix = self._crossing[needed] * self._capacity
        self.program.matrix_rows(matrix, self._least[needed], np.inf)
        if (self._least[1:] > 0).all():
            # The network is connected: every set of nodes needs a line out of it.
            joined = float(len(candidates.nodes) - 1)
            self.program.matrix_rows(np.ones((1, self._n_lines)), joined, np.inf)

    def cheapest(
        self, weights: Array, most_loss: float, limits: Limits, clock: Clock
    ) -> SearchResult:
        """Return the network of zero loss with the least ``weights @ y``."""
        cost = np.zeros(self.program.n_binary)
        cost[: self._n_lines] = weights
        fixed = np.full(self.program.n_binary, -1, dtype=np.int8)
        fixed[: self._n_lines] = limits.fixed
        whole = bool((weights == np.rint(weights)).all())
        bound = -np.inf
        while True:
            self.n_solves += 1
            answer = self.program.best(cost, fixed, limits.rows(), clock.left)
            bound = max(bound, np.ceil(answer.bound - ACCEPT_TOL) if whole else answer.bound)
            if answer.values is None:
                return SearchResult(answer.outcome, None, np.inf, bound)
            network = np.asarray(answer.values[: self._n_lines] > 0.5)
            if self.losses.nearest(network)[0].mean() <= self.losses.tolerance:
                return SearchResult(answer.outcome, network, float(weights @ network), bound)
            # At the edge of the tolerances; what is measured decides.
            self.program.extend(excluding(network))

    def explains(self, networks: Networks) -> Mask:
        """Return which networks have zero loss, by all of their cuts."""
        zero = np.zeros(len(networks), dtype=bool)
        step = max(1, MAX_ENTRIES // len(self._least))
        for start in range(0, len(networks), step):
            some = networks[start : start + step] * self._capacity
            cuts = some @ self._crossing.T
            enough = (cuts >= self._least - CAPACITY_TOL).all(axis=1)
            for clause in self._clauses:
                sets = sorted(clause)
                enough &= (cuts[:, sets] <= self._most[sets] + CAPACITY_TOL).any(axis=1)
            zero[start : start + step] = enough
        return zero

    def _add_clauses(self, tight: list[int]) -> None:
        """Add binaries for tight sets: one of each clause."""
        index = {T: self._n_lines + position for position, T in enumerate(tight)}
        for T in tight:
            lines = np.flatnonzero(self._crossing[T])
            most = self._capacity[lines].sum()
            slack = max(0.0, most - self._most[T])
            self.program.row([(lines, self._capacity[lines]), (index[T], slack)], upper=most)
        for clause in self._clauses:
            self.program.row([(np.array([index[T] for T in sorted(clause)]), 1.0)], lower=1.0)
