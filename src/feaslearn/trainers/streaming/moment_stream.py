"""Minkowski sums that go on learning: moments, and the rows at which scales are held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows
from feaslearn.trainers.minkowski_fit.penalized import Answer, Penalized, Strengths
from feaslearn.trainers.minkowski_fit.scale_cone import ScaleCone
from feaslearn.trainers.standardize import CONSTANT, moments
from feaslearn.trainers.streaming.fading import faded

Array = NDArray[np.float64]

#: Numbers that are written out at once.
AT_ONCE = 4_000_000
#: A row is no longer held once its samples count less than this.
FORGOTTEN = 1e-3


class Frame(NamedTuple):
    """What features and decisions are measured from and in: ``(f - mean) / scale``, ``x - center``.

    A feature that never changed has an infinite scale.
    """

    mean: Array
    scale: Array
    center: Array

    def restored(self, table: Array) -> Array:
        """Return coefficients of the features themselves, given those of standardised ones."""
        m = len(table)
        table = table / self.scale[:m, None]
        table[0] -= self.mean[:m] @ table
        return table


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
    features, functions : ndarray of shape (k, k) and (m,)
        Sums of products of the features, and of the functions of the scales.
    rows, ages : ndarray of shape (R, m) and (R,)
        The set J: functions of the scales at rows that are held, and how many samples ago.
    """

    mean: Array
    scale: Array
    center: Array
    knots: Array | None
    sums: Moments
    features: Array
    functions: Array
    rows: Array
    ages: Array

    @classmethod
    def begun(cls, hypothesis: Minkowski, shard: Shard) -> Self:
        """Return the stream before its first chunk: only the frame is read from it."""
        k, n = shard.features.shape[1], shard.decisions.shape[1]
        mean, scale = moments([shard.features], [shard.weights])
        # What does not change in the first chunk may do so later.
        scale = np.where(np.isfinite(scale), scale, np.maximum(np.abs(mean), 1.0))
        center = np.zeros(n)
        if hypothesis.offset:
            seen = ~np.isnan(shard.decisions)
            weight = shard.weights @ seen
            sums = shard.weights @ np.where(seen, shard.decisions, 0.0)
            center = sums / np.where(weight > 0.0, weight, 1.0)
        basis = hypothesis.basis(k)
        knots = basis.place_knots(shard.features) if basis.knotted else None
        empty = Shard(*(part[:0] for part in shard))
        blank = cls(
            *(mean, scale, center, knots, _no_moments()),
            *(np.zeros((k, k)), np.zeros(basis.size), np.zeros((0, basis.size)), np.zeros(0)),
        )
        return replace(blank, sums=Moments.of(blank.standardized(hypothesis, empty)[0]))

    @property
    def weight(self) -> float:
        """What all samples count together."""
        return float(self.features[0, 0])

    def standardized(
        self, hypothesis: Minkowski, shard: Shard
    ) -> tuple[Rows, Array, NDArray[np.bool_]]:
        """Return samples in the frame of the stream, their features, and which of them tie."""
        n, k = shard.decisions.shape[1], shard.features.shape[1]
        points, tied = TermMinimizers(hypothesis.terms_of(n), n).at(shard.costs)
        if hypothesis.scale == "shared" and points.shape[1] > 1:
            points = points.sum(axis=1, keepdims=True)
        phi = np.ascontiguousarray((shard.features - self.mean) / self.scale)
        basis = hypothesis.basis(k)
        psi = phi if basis.size == k else np.ascontiguousarray(phi[:, : basis.size])
        if self.knots is not None:
            psi = basis.values(shard.features, self.knots)
        offset = phi if hypothesis.offset else phi[:, :0]
        rows = Rows(points, psi, offset, shard.decisions - self.center, shard.weights)
        return rows, phi, np.asarray(tied.any(axis=1))

    def after(self, hypothesis: Minkowski, shard: Shard, forgetting: float) -> tuple[Self, int]:
        """Return the stream after some more samples, with all their rows held, and their ties."""
        count, n = shard.decisions.shape
        shard, old = faded(shard, forgetting), self.scaled(forgetting**count)
        sums, features, functions = [old.sums], old.features, old.functions
        terms = len(hypothesis.terms_of(n))
        held = terms > 0 and not hypothesis.basis(len(self.mean)).nonnegative
        step, ties, new = AT_ONCE // max(terms**2, terms * n, 1), 0, [self.rows]
        for start in range(0, count, max(1, step)):
            part = Shard(*(array[start : start + max(1, step)] for array in shard))
            rows, phi, tied = self.standardized(hypothesis, part)
            sums.append(Moments.of(rows))
            features = features + (phi * part.weights[:, None]).T @ phi
            functions = functions + part.weights @ rows.psi
            ties += int(tied.sum())
            if held:
                new.append(rows.psi)
        ages = np.concatenate([self.ages + count, np.arange(count - 1.0, -1.0, -1.0)])
        stream = replace(
            self,
            sums=Moments.total(sums),
            features=features,
            functions=functions,
            rows=np.concatenate(new),
            ages=ages if held else self.ages,
        )
        return stream, ties

    def scaled(self, factor: float) -> Self:
        """Return the stream with all weights multiplied by a factor."""
        return replace(
            self,
            sums=self.sums.scaled(factor),
            features=factor * self.features,
            functions=factor * self.functions,
        )

    def solve(self, hypothesis: Minkowski, ridge: float) -> Solution:
        """Return the optimum, in the frame of all samples."""
        n, k = len(self.center), len(self.mean)
        basis = hypothesis.basis(k)
        turn, shift, frame = self._frame_now(hypothesis)
        M = basis.size
        own = turn[:M, :M] if self.knots is None else np.eye(M)
        sums = _carried(self.sums, own, turn if hypothesis.offset else turn[:0, :0], shift)
        one = np.zeros(M)
        one[: basis.knots_shape[0] if basis.knotted else 1] = 1.0
        cone = ScaleCone([self.rows @ own], sums.ra.shape[0], basis.nonnegative)
        problem = Penalized(cone, one, self.functions @ own / self.weight)
        answer = problem.solve(sums.reduced(), Strengths(ridge, 0.0))
        blocks: dict[str, Array] = {}
        if sums.ra.shape[0]:
            blocks["alpha"] = answer.a if self.knots is not None else frame.restored(answer.a.T).T
        if hypothesis.offset:
            blocks["b"] = frame.restored(answer.b)
            blocks["b"][0] += frame.center
        if sums.ra.shape[0] and self.knots is not None:
            blocks["knots"] = self.knots
        loss = max(0.0, sums.value(answer.a, answer.b)) / self.weight
        theta = hypothesis.layout(n, k).pack(blocks)
        return Solution(theta, loss, answer, self.rows @ own @ answer.a.T)

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

    def _frame_now(self, hypothesis: Minkowski) -> tuple[Array, Array, Frame]:
        """Return how features turn into those of the frame of all samples, the shift of the
        decisions, and that frame.
        """
        k = len(self.mean)
        mean = self.features[0] / self.weight
        spread = np.sqrt(np.maximum(np.diag(self.features) / self.weight - mean**2, 0.0))
        # The root of what two passes use: variances as differences carry rounding.
        spread[spread <= np.sqrt(CONSTANT) * np.abs(mean)] = np.inf
        mean[0], spread[0] = 0.0, 1.0
        turn = np.diag(1.0 / spread)
        turn[0, 1:] = -mean[1:] / spread[1:]
        shift = np.zeros(len(self.center))
        if hypothesis.offset:
            counts = self.sums.bb[0, 0]
            shift = self.sums.rb[0] / np.where(counts > 0.0, counts, 1.0)
        frame = Frame(self.mean + self.scale * mean, self.scale * spread, self.center + shift)
        frame.mean[0], frame.scale[0] = 0.0, 1.0
        return turn.reshape(k, k), shift, frame


def _no_moments() -> Moments:
    empty = np.zeros(0)
    return Moments(empty, empty, empty, empty, empty, 0.0)


def _carried(sums: Moments, psi: Array, phi: Array, shift: Array) -> Moments:
    """Return moments of other functions ``psi' = psi P``, ``phi' = phi Q``, of shifted decisions.

    Where the decisions are shifted, the first of ``phi`` is the constant.
    """
    ra, rb, xx = sums.ra, sums.rb, sums.xx
    if len(rb):
        ra = ra - np.einsum("gmj,j->gm", sums.ab[:, :, 0], shift)
        xx = xx - 2.0 * float(rb[0] @ shift) + float(sums.bb[0, 0] @ shift**2)
        rb = rb - sums.bb[:, 0] * shift
    return Moments(
        np.einsum("gmhl,mp,lq->gphq", sums.aa, psi, psi, optimize=True),
        np.einsum("gmkj,mp,kq->gpqj", sums.ab, psi, phi, optimize=True),
        np.einsum("klj,kp,lq->pqj", sums.bb, phi, phi, optimize=True),
        ra @ psi,
        phi.T @ rb,
        float(xx),
    )
