"""What zero loss says about the cuts of a network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.baselines.enumerated_network import EQUAL
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.flow_program import price_levels
from feaslearn.network.integer_program import FloatArray
from feaslearn.problem.candidate_lines import CandidateLines
from feaslearn.problem.network_samples import NetworkSamples

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


def find_tight_cuts(losses: NetworkLosses) -> TightCuts | None:
    """Return what zero loss asks of cuts; None if no network has zero loss.

    With ``S`` the plants of the k lowest prices, a feasible x is optimal if ``x(S)`` is
    ``d(T) + f(δT) + C(S - T)`` for some T. Since ``x(T) <= d(T) + f(δT)``, the plants of S outside
    T then deliver all they can, those of T outside S nothing, and the cut is ``x(T) - d(T)``.

    Parameters
    ----------
    losses : NetworkLosses
        The samples.

    Returns
    -------
    TightCuts or None
        The conditions.
    """
    candidates, samples = losses.candidates, losses.samples
    tolerance = EQUAL * float(np.abs(samples.decisions).max())
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
    for sample in range(len(surplus)):
        for level in price_levels(samples.costs[sample]):
            clause = finder.clause(sample, level, surplus[sample])
            if clause is not None and not clause:
                return None
            if clause is not None:
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

    def clause(self, sample: int, level: NDArray[np.intp], surplus: FloatArray) -> Clause | None:
        """Return the sets of which one must be tight; None if that is so in any network."""
        candidates, x = self._candidates, self._decisions[sample]
        rest = np.setdiff1d(np.arange(len(x)), level)
        spare = candidates.generator_capacity[level] - x[level]
        if x[rest].sum() <= self._tolerance or spare.sum() <= self._tolerance:
            return None
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
    """Return the capacity that all lines share, if they do.

    Parameters
    ----------
    candidates : CandidateLines
        The lines there may be.

    Returns
    -------
    float or None
        The capacity.
    """
    capacity = candidates.line_capacity
    shared = len(capacity) > 0 and capacity[0] > 0.0 and bool((capacity == capacity[0]).all())
    return float(capacity[0]) if shared else None


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
