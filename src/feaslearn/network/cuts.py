"""Cuts of a network that zero loss makes tight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.network.candidates import CandidateLines
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.samples import NetworkSamples
from feaslearn.network.search import FloatArray
from feaslearn.runs import Clock
from feaslearn.tolerances import GAIN_TOL, TIE_TOL

#: Entries of the table of samples and sets of nodes that are held at once.
ENTRIES_AT_ONCE = 2**22

Clause = frozenset[int]


class TightCuts(NamedTuple):
    """Zero loss, as conditions on cuts.

    A network explains every sample exactly when each set of nodes has a cut of at least ``needs``
    (the dispatches are feasible), and of each clause one set has a cut of no more than that (what
    the cheaper plants deliver could not be more). Sets are numbered as in `CandidateLines.members`;
    a set and its complement have the same cut, so the last node is always outside.
    """

    needs: FloatArray
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
    surplus = _surplus(candidates, samples)
    capacity = candidates.generator_capacity
    outside = (samples.decisions < -tolerance) | (samples.decisions > capacity + tolerance)
    if outside.any() or (np.abs(surplus.sum(axis=1)) > tolerance).any():
        return None
    step = max(1, ENTRIES_AT_ONCE // len(candidates.members))
    members = candidates.members.astype(np.float64)
    half = len(members) // 2
    needs = np.zeros(max(half, 1))
    for start in range(0, len(surplus), step):
        sent = np.abs(surplus[start : start + step] @ members[: len(needs)].T)
        needs = np.maximum(needs, sent.max(axis=0))
    finder = _ClauseFinder(losses, needs, members, tolerance)
    clauses: set[Clause] = set()
    for level, rows in _levels(samples):
        for sample in finder.informative(rows, level):
            clause = finder.clause(int(sample), level, surplus[sample])
            if not clause or clock.out():
                return None
            clauses.add(clause)
    return TightCuts(needs, _without_supersets(clauses), tolerance)


class _ClauseFinder:
    """Finds the sets of nodes whose cut can be what stops the cheaper plants."""

    def __init__(
        self, losses: NetworkLosses, needs: FloatArray, members: FloatArray, tolerance: float
    ) -> None:
        self._candidates = losses.candidates
        self._decisions = losses.samples.decisions
        self._needs = np.concatenate([needs, needs[::-1]]) if len(members) > 1 else needs
        self._members = members
        self._inside = members[:, losses.candidates.plants]
        self._tolerance = tolerance
        self._unit = common_capacity(losses.candidates)

    def informative(self, rows: NDArray[np.intp], level: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the samples whose cheaper plants had capacity left while dearer ones ran."""
        x = self._decisions[rows]
        rest = np.delete(np.arange(x.shape[1]), level)
        spare = self._candidates.generator_capacity[level] - x[:, level]
        runs, could = x[:, rest].sum(axis=1), spare.sum(axis=1)
        return np.asarray(rows[(runs > self._tolerance) & (could > self._tolerance)])

    def clause(self, sample: int, level: NDArray[np.intp], surplus: FloatArray) -> Clause:
        """Return the sets of which one must be tight."""
        x = self._decisions[sample]
        rest = np.delete(np.arange(len(x)), level)
        spare = self._candidates.generator_capacity[level] - x[level]
        wasted = self._inside[:, rest] @ x[rest] + (1.0 - self._inside[:, level]) @ spare
        sets = np.flatnonzero(wasted <= self._tolerance)
        sent = self._members[sets] @ surplus
        tight = sent >= self._needs[sets] - self._tolerance
        if self._unit is not None:
            off = np.abs(sent - self._unit * np.rint(sent / self._unit))
            tight &= off <= self._tolerance
        last = len(self._members) - 1
        return frozenset(int(min(T, last - T)) for T in sets[tight])


def common_capacity(candidates: CandidateLines) -> float | None:
    """Return the capacity that all lines share, if they do."""
    capacity = candidates.line_capacity
    shared = len(capacity) > 0 and capacity[0] > 0.0 and bool((capacity == capacity[0]).all())
    return float(capacity[0]) if shared else None


def _levels(samples: NetworkSamples) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield each set of cheapest plants with the samples in whose prices it is one."""
    order = np.argsort(samples.costs, axis=1, kind="stable")
    steps = np.diff(np.take_along_axis(samples.costs, order, axis=1), axis=1)
    apart = steps > TIE_TOL * np.abs(samples.costs).max(axis=1, keepdims=True)
    for place in range(apart.shape[1]):
        rows = np.flatnonzero(apart[:, place])
        sets = np.sort(order[rows, : place + 1], axis=1)
        for level in np.unique(sets, axis=0):
            yield level, rows[(sets == level).all(axis=1)]


def _surplus(candidates: CandidateLines, samples: NetworkSamples) -> FloatArray:
    surplus = -samples.demands
    for plant, node in enumerate(candidates.plants):
        surplus[:, node] += samples.decisions[:, plant]
    return surplus


def _without_supersets(clauses: set[Clause]) -> list[Clause]:
    """A clause that contains another one adds nothing."""
    kept: list[Clause] = []
    for clause in sorted(clauses, key=lambda clause: (len(clause), sorted(clause))):
        if not any(smaller <= clause for smaller in kept):
            kept.append(clause)
    return kept
