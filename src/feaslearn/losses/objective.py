"""The training objective: a weighted sum over shards of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.constrained import constrained, known_shape, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.known import KnownShape
from feaslearn.losses.loss import Loss
from feaslearn.losses.validation import Validation
from feaslearn.runs import Run

Array = NDArray[np.float64]
Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Objective:
    r"""The objective :math:`\sum_i w_i \ell_\theta(x_i, s_i)` over shards of samples.

    Shards have a fixed size and are added in their order, so the value is the same for any
    number of threads.

    Parameters
    ----------
    loss : Loss
        Loss of a sample.
    hypothesis : Hypothesis
        Class of regions.
    shards : sequence of Shard
        The samples.
    n_jobs : int, default=1
        Threads; kernels release the GIL.
    validation : Validation, optional
        Samples on which a search is watched; they are no part of the objective.
    run : Run, optional
        How long a search may take, and what of it is done already; no part of the objective either.
    """

    loss: Loss
    hypothesis: Hypothesis
    shards: Sequence[Shard]
    n_jobs: int = 1
    validation: Validation | None = None
    run: Run = field(default_factory=Run, repr=False, compare=False)

    @property
    def n_decisions(self) -> int:
        """Number of decisions n."""
        return int(self.shards[0].decisions.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features k, the constant included."""
        return int(self.shards[0].features.shape[1])

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.hypothesis.layout(self.n_decisions, self.n_features).size

    @property
    def known(self) -> KnownShape | None:
        """The rows that are known, if there are any."""
        return known_shape(self.hypothesis)

    def within(self, name: object) -> Objective:
        """Return the same objective for a part of the run."""
        return replace(self, run=self.run.within(name))

    def limited(self, seconds: float | None) -> Objective:
        """Return the same objective for a search that may take so long."""
        return replace(self, run=self.run.limited(seconds))

    def of(self, hypothesis: Hypothesis) -> Objective:
        """Return the objective of another hypothesis, within the same known constraints."""
        shape = self.known
        return replace(
            self, hypothesis=hypothesis if shape is None else constrained(hypothesis, shape)
        )

    def learned(self) -> Objective:
        """Return the objective without what is known.

        Costs lose their part across the known equalities: it is the same for all decisions.
        """
        shape = self.known
        if shape is None:
            return self
        rows = [_learned_rows(shard, shape) for shard in self.shards]
        watched = self.validation
        if watched is not None:
            watched = watched._replace(rows=_learned_rows(watched.rows, shape))
        hypothesis = without_known(self.hypothesis)
        return replace(self, hypothesis=hypothesis, shards=rows, validation=watched)

    def whole(self) -> Shard:
        """Return all samples as one shard."""
        return Shard(*(np.concatenate(parts) for parts in zip(*self.shards, strict=True)))

    def maps(self) -> MapHypothesis:
        """Return the hypothesis, which must be an affine image of one primitive set."""
        if not isinstance(self.hypothesis, MapHypothesis):
            raise UnsupportedError(f"{self.hypothesis!r} has no gradient in its parameters")
        return self.hypothesis

    def value(self, theta: Array) -> float:
        """Return the objective alone, for any hypothesis."""

        def one(shard: Shard) -> float:
            return float(shard.weights @ self.loss.samples(self.hypothesis, theta, shard))

        return sum(self.each(one, self.shards))

    def each(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Return what ``function`` makes of each item, in order, on as many threads as allowed."""
        if self.n_jobs == 1 or len(items) == 1:
            return [function(item) for item in items]
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return list(pool.map(function, items))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """Return the objective and its gradient."""
        hypothesis = self.maps()

        def one(shard: Shard) -> tuple[float, Array]:
            return self.loss.value_and_gradient(hypothesis, theta, shard)

        parts = self.each(one, self.shards)
        gradient = np.zeros(self.size)
        value = 0.0
        for part, slope in parts:
            value += part
            gradient += slope
        return value, gradient


def _learned_rows(shard: Shard, shape: KnownShape) -> Shard:
    features, known = shape.split(shard.features)
    return shard._replace(features=features, costs=known.inner_costs(shard.costs))
