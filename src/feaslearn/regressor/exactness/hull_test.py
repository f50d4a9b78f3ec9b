r"""Regions of half-spaces: the least of them holds the mixtures of all samples.

The rows :math:`a'x \le f'\phi(s)` make a convex set of pairs :math:`(\phi, x)`. It holds every
sample, so it holds their mixtures, and sample i is optimal in some such region exactly when no
mixture with its features is cheaper:

.. math:: \min \{ c_i'\textstyle\sum_j \lambda_j x_j :
    \sum_j \lambda_j \phi_j = \phi_i,\ \lambda \ge 0 \} \ge c_i'x_i
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.sets.checked_program import CheckedProgram
from feaslearn.sets.sizes import extent_of, powers_of_two
from feaslearn.trainers.progress import ProgressBar
from feaslearn.trainers.standardize import moments

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: Shares of a mixture below this are none.
NO_SHARE = 1e-9


class Dearer(NamedTuple):
    """A sample that costs more than a mixture of others with the same features, and by how much."""

    sample: int
    mixture: Places
    saving: float


class HullTest(NamedTuple):
    """The samples that contradict others, and how many were tested."""

    dearer: list[Dearer]
    tested: int


def mixtures_cheaper(rows: Shard, allowed: Places, error: float, until: float) -> HullTest:
    """Look for samples that are dearer than a mixture of others.

    ``error`` is how far each decision may be off: cheaper by what that can make is not cheaper.
    """
    features, costs, decisions = (table[allowed] for table in rows[:3])
    if not len(allowed):
        return HullTest([], 0)
    # Shares add up to one, the first feature, so the others may be moved by their means.
    mean, scale = moments([features], [np.ones(len(allowed))])
    matrix = ((features - mean) / scale).T
    ends = np.zeros(len(allowed)), np.full(len(allowed), np.inf)
    found: list[Dearer] = []
    with ProgressBar("consistency: samples", len(allowed)) as bar:
        for i, cost in enumerate(costs):
            if time.monotonic() > until:
                return HullTest(found, i)
            size = float(np.abs(cost).sum())
            if size == 0.0:
                continue
            prices = (decisions - decisions[i]) @ (cost / size)
            # In a unit of their own: tolerances mean the same for small prices as for large ones.
            own = float(powers_of_two(extent_of(prices)))
            program = CheckedProgram(prices / own, *ends, E=matrix, e=matrix[:, i])
            answer = program.solve(f"consistency (sample {i})")
            saving = -answer.value * own
            if saving > 2.0 * error:
                mixture = allowed[answer.point > NO_SHARE]
                found.append(Dearer(int(allowed[i]), mixture, saving * size))
            bar.update(i + 1)
    return HullTest(found, len(allowed))


def common_to_all(found: list[Dearer]) -> list[int]:
    """Return the samples that take part in every contradiction."""
    sets = [{each.sample, *each.mixture.tolist()} for each in found]
    return sorted(set.intersection(*sets)) if sets else []
