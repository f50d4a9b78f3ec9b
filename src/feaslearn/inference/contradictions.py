"""Samples that cannot all be explained by one region."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block
from feaslearn.inference.linear_system import Elastic, LinearSystem
from feaslearn.runs.progress import ProgressBar
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import SOLVED_ZERO, ZERO_PRICE, extent_of, powers_of_two
from feaslearn.trainers.standardize import moments

#: Samples that are added at once, as a share of the working set, and at least.
MORE, LEAST = 0.5, 10
#: More samples that are missed than this are not named: it is noise, not a few wrong ones.
MOST_MISSED, MOST_SHARE = 200, 0.2


def shrink(
    rows: Indices, contradict: Callable[[Indices], bool], until: float = np.inf
) -> tuple[Indices, bool]:
    """Leave out halves, quarters and single samples while the others contradict each other.

    Returns what is left at the time ``until``, and whether each of these samples is needed.
    """
    size = max(1, len(rows) // 2)
    while True:
        start = 0
        while start < len(rows) and len(rows) > 1:
            if time.monotonic() > until:
                return rows, False
            others = np.delete(rows, np.arange(start, min(start + size, len(rows))))
            if len(others) and contradict(others):
                rows = others
            else:
                start += size
        if size == 1:
            return rows, True
        size = max(1, min(size // 2, len(rows) // 2))


# Classes whose decisions are linear in their parameters.


class Explained(NamedTuple):
    """The working set, its optimum, the samples that this misses, and whether it misses no other.

    Without missed samples, one region explains all.
    """

    chosen: Indices
    optimum: Elastic
    missed: Indices
    no_other: bool


class Examined(NamedTuple):
    """A contradiction and the samples to blame; none, and parameters, if all can be explained."""

    theta: Array
    core: Indices
    blamed: list[int]
    alone: bool = True


def examine(system: LinearSystem, until: float) -> Examined:
    """Say whether one region explains all samples, and if not, which of them contradict it."""
    allowed = np.flatnonzero(~system.left_out)
    start = np.random.default_rng(0).permutation(allowed)[: system.n_parameters]
    chosen, optimum, missed, _ = explain(system, allowed, start)
    if not len(missed):
        return Examined(optimum.theta, missed, [])

    def contradict(some: Indices) -> bool:
        return bool(system.solve(some).missed.max(initial=0.0) > SOLVED_ZERO)

    # By duality, samples without a multiplier are not needed.
    forced = chosen[optimum.forced]
    chosen = forced if len(forced) and contradict(forced) else chosen
    core = np.sort(shrink(chosen, contradict)[0])
    blamed = _single(system, allowed, core, until)
    if blamed:
        return Examined(optimum.theta, core, blamed)
    # Where the region of least total error misses only a few samples, it explains all others.
    most = min(MOST_MISSED, max(2, int(MOST_SHARE * len(allowed))))
    start = np.union1d(core, allowed[: 2 * system.n_parameters])
    found = explain(system, allowed, start, most, until)
    blamed = np.sort(found.missed).tolist() if found.no_other else []
    return Examined(optimum.theta, core, blamed, alone=False)


def explain(
    system: LinearSystem, allowed: Indices, chosen: Indices, most: int = 0, until: float = np.inf
) -> Explained:
    """Solve for a working set, to which those allowed that the optimum misses most are added.

    It ends where the optimum misses no other sample, or more than ``most`` of the working set.
    """
    while True:
        optimum = system.solve(chosen)
        missed = chosen[optimum.missed > SOLVED_ZERO]
        fresh = chosen[:0]
        if len(missed) <= most:
            violation = system.missed(optimum.theta)
            others = np.setdiff1d(allowed, chosen)
            others = others[violation[others] > SOLVED_ZERO]
            worst = np.argsort(-violation[others], kind="stable")
            fresh = others[worst[: max(LEAST, int(MORE * len(chosen)))]]
        if not len(fresh) or time.monotonic() > until:
            return Explained(chosen, optimum, missed, len(missed) <= most and not len(fresh))
        chosen = np.concatenate([chosen, fresh])


def _single(system: LinearSystem, allowed: Indices, core: Indices, until: float) -> list[int]:
    """Return the samples without any one of which one region explains all others."""
    # A single wrong sample is in every contradiction, so those of one contradiction are tried.
    found = []
    with ProgressBar("consistency: samples to blame", len(core)) as bar:
        for done, sample in enumerate(core):
            if time.monotonic() > until:
                return []
            others = allowed[allowed != sample]
            start = np.union1d(core[core != sample], others[: system.n_parameters])
            if len(others) and not len(explain(system, others, start).missed):
                found.append(int(sample))
            bar.update(done + 1)
    return found


# Regions of half-spaces: the least of them holds the mixtures of all samples.
#
# The rows :math:`a'x \le f'\phi(s)` make a convex set of pairs :math:`(\phi, x)`. It holds every
# sample, so it holds their mixtures, and sample i is optimal in some such region exactly when no
# mixture with its features is cheaper:
#
# .. math:: \min \{ c_i'\textstyle\sum_j \lambda_j x_j :
#     \sum_j \lambda_j \phi_j = \phi_i,\ \lambda \ge 0 \} \ge c_i'x_i


class Dominated(NamedTuple):
    """A sample that costs more than a mixture of others with its features, and by how much."""

    sample: int
    mixture: Indices
    saving: float


class HullTest(NamedTuple):
    """The samples that a mixture of others dominates, and how many were tested."""

    dominated: list[Dominated]
    tested: int

    def common(self) -> list[int]:
        """Return the samples that take part in every contradiction."""
        sets = [{each.sample, *each.mixture.tolist()} for each in self.dominated]
        return sorted(set.intersection(*sets)) if sets else []


def find_dominated(rows: Block, allowed: Indices, error: float, until: float) -> HullTest:
    """Look for samples that cost more than a mixture of others, beyond errors of decisions."""
    features, costs, decisions = (table[allowed] for table in rows[:3])
    if not len(allowed):
        return HullTest([], 0)
    # Shares add up to one, the first feature, so the others may be moved by their means.
    mean, scale = moments([features], [np.ones(len(allowed))])
    matrix = ((features - mean) / scale).T
    ends = np.zeros(len(allowed)), np.full(len(allowed), np.inf)
    found: list[Dominated] = []
    with ProgressBar("consistency: samples", len(allowed)) as bar:
        for i, cost in enumerate(costs):
            if time.monotonic() > until:
                return HullTest(found, i)
            size = float(np.abs(cost).sum())
            if size == 0.0:
                continue
            prices = (decisions - decisions[i]) @ (cost / size)
            # Standardized: tolerances mean the same for small prices as for large ones.
            unit = float(powers_of_two(extent_of(prices)))
            program = CheckedProgram(prices / unit, *ends, E=matrix, e=matrix[:, i])
            answer = program.solve(f"consistency (sample {i})")
            saving = -answer.value * unit
            if saving > 2.0 * error:
                mixture = allowed[answer.point > ZERO_PRICE]
                found.append(Dominated(int(allowed[i]), mixture, saving * size))
            bar.update(i + 1)
    return HullTest(found, len(allowed))
