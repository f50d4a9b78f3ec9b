"""The training objective: what the decisions that a model returns lose on its samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block, Samples
from feaslearn.data.source import in_order
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.affine import Affine
from feaslearn.hypotheses.constrained import Constrained, known_shape, without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.known import KnownShape
from feaslearn.runs import Run

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Objective:
    r"""The objective :math:`\sum_i w_i \|\hat x_\theta(s_i) - x_i\|^2` over blocks of samples.

    Decisions that were not observed do not count. Where several decisions are of least cost, the
    one that a model returns counts.

    Blocks have a fixed size and are added in their order, so the value is the same for any
    number of threads.

    Parameters
    ----------
    hypothesis : Hypothesis
        Class of regions.
    samples : Samples
        The samples, in memory or read again for each sum.
    n_jobs : int, default=1
        Threads; kernels release the GIL.
    run : Run, optional
        How long a search may take, and what of it is done already; no part of the objective.
    drawn : bool, default=False
        Whether the samples are some of the user's, so that their numbers mean nothing to him.
    """

    hypothesis: Hypothesis
    samples: Samples
    n_jobs: int = 1
    run: Run = field(default_factory=Run, repr=False, compare=False)
    drawn: bool = field(default=False, repr=False, compare=False)

    @property
    def first(self) -> Block:
        """Some of the samples."""
        return self.samples.head()

    @property
    def n_decisions(self) -> int:
        """Number of decisions n."""
        return int(self.first.decisions.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features k, the constant included."""
        return int(self.first.features.shape[1])

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.samples.n_samples

    @property
    def n_observed(self) -> int:
        """Number of decisions that were observed."""
        return self.samples.n_observed

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.hypothesis.layout(self.n_decisions, self.n_features).size

    @property
    def known(self) -> KnownShape | None:
        """The rows that are known, if there are any."""
        return known_shape(self.hypothesis)

    def limited(self, seconds: float | None) -> Objective:
        """Return the same objective for a search that may take so long."""
        return replace(self, run=self.run.part(seconds))

    def of(self, hypothesis: Hypothesis) -> Objective:
        """Return the objective of another hypothesis, within the same known constraints."""
        shape = self.known
        return replace(
            self, hypothesis=hypothesis if shape is None else Constrained(hypothesis, shape)
        )

    def learned(self) -> Objective:
        """Return the objective without what is known.

        Costs lose their part across the known equalities: it is the same for all decisions.
        """
        shape = self.known
        if shape is None:
            return self
        rows = self.samples.then(partial(_learned_rows, shape))
        return replace(self, hypothesis=without_known(self.hypothesis), samples=rows)

    def normalized(self) -> Objective:
        """Return the objective with weights that add up to one; in memory, they already do."""
        return replace(self, samples=self.samples.normalized())

    def load(self) -> Block:
        """Return all samples as one block."""
        return self.samples.load()

    def affine(self) -> Affine:
        """Return the hypothesis, which must be an affine image of one primitive set."""
        affine = self.hypothesis.as_affine()
        if affine is None:
            raise UnsupportedError(f"{self.hypothesis!r} is not an affine image of one set")
        return affine

    def value(self, theta: Array) -> float:
        """Return the objective, for any hypothesis."""
        hypothesis = self.hypothesis

        def one(block: Block) -> float:
            found = hypothesis.predict(theta, block.features, block.costs)
            return float(block.weights @ squared_lengths(found - block.decisions))

        return self.samples.sum(one, self.n_jobs)

    def each(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Return what ``function`` makes of each item, in order, on as many threads as allowed."""
        return list(in_order(function, items, min(self.n_jobs, len(items))))


def squared_lengths(residuals: Array) -> Array:
    """Return the squared length of each row; what was not observed does not count."""
    residuals = np.nan_to_num(residuals)
    return np.asarray(np.einsum("ij,ij->i", residuals, residuals))


def _learned_rows(shape: KnownShape, block: Block) -> Block:
    features, known = shape.split(block.features)
    return block._replace(features=features, costs=known.inner_costs(block.costs))
