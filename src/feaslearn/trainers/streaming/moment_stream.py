"""Minkowski sums that go on learning: moments, and the rows at which scales are held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.trainers.minkowski_fit.moments import Moments
from feaslearn.trainers.minkowski_fit.negative_scales import NegativeRows
from feaslearn.trainers.minkowski_fit.penalized import Answer, Penalized, Strengths
from feaslearn.trainers.minkowski_fit.scale_cone import ScaleCone
from feaslearn.trainers.minkowski_fit.shard_moments import ShardMoments
from feaslearn.trainers.minkowski_fit.units import Units
from feaslearn.trainers.streaming.fading import faded

Array = NDArray[np.float64]

#: A row is no longer held once its samples count less than this.
FORGOTTEN = 1e-3


class Solution(NamedTuple):
    """Parameters, their mean loss, how they were found, and the scales at the rows held."""

    theta: Array
    loss: float
    answer: Answer
    scales: Array


@dataclass(frozen=True, eq=False)
class MomentStream:
    r"""The moments of all samples so far, older ones counting less.

    .. math:: \min_a \sum_i \lambda^{N-i} w_i \|x_i - \hat x_i\|^2 \quad \text{s.t.} \quad
              \psi(s_j)'a_t \ge 0 \; \forall j \in J

    The frame is that of the first chunk, which keeps rounding small; a solution is found in the
    frame of all samples, to which moments are carried over exactly.

    Parameters
    ----------
    mean, scale, center : ndarray of shape (k,), (k,), (n,)
        The frame of the moments.
    knots : ndarray or None
        Where the functions of the scales have their knots, those of the first chunk.
    sums : Moments
        What squared errors need.
    rows, ages : ndarray of shape (R, m) and (R,)
        The set J: functions of the scales at rows that are held, and how many samples ago.
    """

    mean: Array
    scale: Array
    center: Array
    knots: Array | None
    sums: Moments
    rows: Array
    ages: Array

    @classmethod
    def begun(cls, hypothesis: Minkowski, shard: Shard) -> Self:
        """Return the stream before its first chunk: only the frame is read from it."""
        k, n = shard.features.shape[1], shard.decisions.shape[1]
        units = Units.of(shard, bool(hypothesis.offset), exact=False)
        basis = hypothesis.basis(k)
        knots = basis.place_knots(shard.features) if basis.knotted else None
        blank = ShardMoments(hypothesis, n, k, units, knots).of(
            Shard(*(part[:0] for part in shard))
        )
        return cls(*units, knots, blank, np.zeros((0, basis.size)), np.zeros(0))

    @property
    def weight(self) -> float:
        """What all samples count together."""
        return self.sums.weight

    def _of(self, hypothesis: Minkowski) -> ShardMoments:
        """Return what makes the moments of more samples."""
        units = Units(self.mean, self.scale, self.center)
        return ShardMoments(hypothesis, len(self.center), len(self.mean), units, self.knots)

    def after(self, hypothesis: Minkowski, shard: Shard, forgetting: float) -> tuple[Self, int]:
        """Return the stream after some more samples, with all their rows held, and their ties."""
        of, count = self._of(hypothesis), len(shard.weights)
        old, new = self.sums.scaled(forgetting**count), of.of(faded(shard, forgetting))
        held = of.shape[0] > 0 and not of.basis.nonnegative
        rows, ages = self.rows, self.ages
        if held:
            rows = np.concatenate([rows, of.psi(shard.features)])
            ages = np.concatenate([ages + count, np.arange(count - 1.0, -1.0, -1.0)])
        stream = replace(self, sums=Moments.total([old, new]), rows=rows, ages=ages)
        return stream, int(new.tied)

    def scaled(self, factor: float) -> Self:
        """Return the stream with all weights multiplied by a factor."""
        return replace(self, sums=self.sums.scaled(factor))

    def solve(self, hypothesis: Minkowski, ridge: float) -> Solution:
        """Return the optimum, in the units of all samples."""
        of = self._of(hypothesis)
        before, after = of.units, self.sums.own_units(of.units, of.split)
        sums, of = self.sums.in_units(before, after, of.split), of.in_units(after)
        rows, M = self.rows, of.basis.size
        if self.knots is None:
            rows = rows @ before.change(after)[:M, :M].T
        lookout = None if of.basis.nonnegative or not of.shape[0] else NegativeRows(rows)
        problem = Penalized.over(ScaleCone(of.shape, lookout), sums, of.basis, of.split)
        answer = problem.solve(sums.reduced(), Strengths(ridge, 0.0))
        loss = max(0.0, sums.value(answer.a, answer.b)) / self.weight
        return Solution(of.theta(answer.a, answer.b), loss, answer, rows @ answer.a.T)

    def pruned(self, scales: Array, retained: int, forgetting: float) -> Self:
        """Return the stream with no more rows than ``retained``, given the scales at its rows.

        The extremes of every function are kept, then the rows at which a scale is closest to
        zero. Rows whose samples are forgotten go first.
        """
        recent = forgetting**self.ages >= FORGOTTEN
        rows, ages, scales = self.rows[recent], self.ages[recent], scales[recent]
        if len(rows) > retained:
            size = np.abs(scales).max(axis=0, initial=0.0)
            closeness = (scales / np.where(size > 0.0, size, 1.0)).min(axis=1)
            closeness[[*rows.argmin(axis=0), *rows.argmax(axis=0)]] = -np.inf
            kept = np.sort(np.argsort(closeness, kind="stable")[:retained])
            rows, ages = rows[kept], ages[kept]
        return replace(self, rows=rows, ages=ages)
