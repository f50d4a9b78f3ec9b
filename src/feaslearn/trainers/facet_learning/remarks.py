"""What is said about the samples that facets are learned from."""

from __future__ import annotations

import numpy as np

from feaslearn.data import Shard
from feaslearn.exceptions import DataError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.kernels.small_lp import OPTIMAL
from feaslearn.messages import list_first, row_number
from feaslearn.trainers.facet_learning.response import contradiction
from feaslearn.trainers.facet_learning.samples import Samples, complete_rows

#: Savings of this many standard deviations of the noise are no noise.
CLEARLY = 5.0


def refuse_empty(hypothesis: Facets, start: FacetRows, samples: Samples, whole: Shard) -> None:
    """Refuse known constraints that contradict given bounds or equalities, naming the rows."""
    if isinstance(hypothesis.bounds, str) and isinstance(hypothesis.balance, str | None):
        return
    empty = np.flatnonzero(samples.solve(start).status != OPTIMAL)
    if len(empty):
        complete = np.flatnonzero(complete_rows(whole))
        places = [f"row {row_number(row)}" for row in complete[empty[:5]]]
        raise DataError(
            "FacetLearning: no region with the bounds and the balance of Facets satisfies the "
            f"known constraints at {list_first(places, len(empty))}; give one of them only"
        )


def contradictions(whole: Shard, samples: Samples, noise: float) -> list[str]:
    """Name the first pair of decisions that cannot both be optimal."""
    pair = contradiction(samples, max(1e-6, CLEARLY * noise))
    if pair is None:
        return []
    complete = np.flatnonzero(complete_rows(whole))
    i, j = complete[list(pair)]
    saved = float(whole.costs[i] @ (whole.decisions[i] - whole.decisions[j]))
    first, second = row_number(i), row_number(j)
    return [
        f"rows {first} and {second} have the same features, but at the prices of row {first} the "
        f"decision of row {second} costs {saved:.4g} less: they cannot both be optimal in one "
        "region; is a signal missing that the region depends on, or a cost wrong?"
    ]
