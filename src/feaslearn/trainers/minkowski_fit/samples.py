"""The samples of a Minkowski fit as a linear model sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.formulations import ProgramRows
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows
from feaslearn.trainers.standardize import moments as mean_and_scale
from feaslearn.trainers.standardize import weighted_sum

Array = NDArray[np.float64]

#: Numbers that are kept so that minimisers need not be found again.
KEPT = 30_000_000
#: Products of two scales that are written out at once.
AT_ONCE = 4_000_000


class Samples:
    """Minimisers of the terms, functions of the scales, standardised features, centred decisions.

    Parameters
    ----------
    hypothesis : Minkowski
        The terms.
    shards : sequence of Shard
        The samples.

    Attributes
    ----------
    knots : ndarray or None
        Where the functions of the scales have their knots.
    parts : list of ndarray of shape (N, M)
        Functions of the scales at the rows of each shard.
    tied : list of ndarray of shape (N, T)
        Which terms have several minimisers.
    """

    def __init__(self, hypothesis: Minkowski, shards: Sequence[Shard]) -> None:
        self.hypothesis, self.shards = hypothesis, shards
        self.n, self.k = shards[0].decisions.shape[1], shards[0].features.shape[1]
        self.basis = hypothesis.basis(self.k)
        terms = hypothesis.terms_of(self.n)
        self.minimizers = TermMinimizers(terms, self.n)
        self.shape = (1 if terms and hypothesis.scale == "shared" else len(terms), self.basis.size)
        features = [shard.features for shard in shards]
        self.mean, self.scale = mean_and_scale(features, [shard.weights for shard in shards])
        self.knots = None
        if self.basis.knotted:
            self.knots = self.basis.place_knots(np.concatenate(features))
        shrink = 1.0 / self.scale
        self._phi = [np.ascontiguousarray((part - self.mean) * shrink) for part in features]
        self.parts = [self._psi(*pair) for pair in zip(features, self._phi, strict=True)]
        self.center = self._center()
        self.tied: list[NDArray[np.bool_]] = []
        size = sum(len(part) for part in features) * self.minimizers.count * self.n
        self._keep = size <= KEPT
        self._points: dict[tuple[int, int], Array] = {}

    def _psi(self, features: Array, phi: Array) -> Array:
        if self.knots is not None:
            return self.basis.values(features, self.knots)
        return phi if self.basis.size == self.k else np.ascontiguousarray(phi[:, : self.basis.size])

    def _center(self) -> Array:
        """Return the mean of each decision, which an offset takes up and rounding is spared."""
        if not self.hypothesis.offset:
            return np.zeros(self.n)
        total, weight = np.zeros(self.n), np.zeros(self.n)
        for shard in self.shards:
            seen = ~np.isnan(shard.decisions)
            total += shard.weights @ np.where(seen, shard.decisions, 0.0)
            weight += shard.weights @ seen
        return np.asarray(total / np.where(weight > 0.0, weight, 1.0))

    def spread(self) -> float:
        """Return the largest distance of a decision from its mean, or one."""
        far = [np.nanmax(np.abs(shard.decisions - self.center)) for shard in self.shards]
        return float(max(far)) or 1.0

    def mean_psi(self) -> Array:
        """Return the weighted mean of the functions of the scales."""
        if self.knots is None:
            # Standardised features have mean zero, but for the constant.
            return np.asarray(np.eye(self.basis.size)[0])
        weights = [shard.weights for shard in self.shards]
        sums = [weighted_sum(*pair) for pair in zip(self.parts, weights, strict=True)]
        return np.asarray(np.sum(sums, axis=0) / sum(float(w.sum()) for w in weights))

    def rows(self, factors: Sequence[Array] | None = None) -> Iterator[tuple[int, slice, Rows]]:
        """Yield shard, place and samples in pieces; ``factors`` multiply the weights."""
        numbers = max(1, self.shape[0] ** 2, self.minimizers.count * self.n)
        chunk = max(1, AT_ONCE // numbers)
        first = not self.tied
        for i, shard in enumerate(self.shards):
            ties = []
            for start in range(0, len(shard.weights), chunk):
                place = slice(start, start + chunk)
                points, tied = self._minimizers_at(i, place)
                ties.append(tied)
                weights = shard.weights[place]
                if factors is not None:
                    weights = weights * factors[i][place]
                psi, phi = self.parts[i][place], self._phi[i][place]
                if not self.hypothesis.offset:
                    phi = phi[:, :0]
                elif self.parts[i] is self._phi[i]:
                    phi = psi
                x = shard.decisions[place] - self.center
                yield i, place, Rows(points, psi, phi, x, weights)
            if first:
                self.tied.append(np.concatenate(ties))

    def _minimizers_at(self, i: int, place: slice) -> tuple[Array, NDArray[np.bool_]]:
        key = (i, place.start)
        if key in self._points:
            return self._points[key], self.tied[i][place]
        points, tied = self.minimizers.at(self.shards[i].costs[place])
        if self.shape[0] == 1 < points.shape[1]:
            points = points.sum(axis=1, keepdims=True)
        if self._keep:
            self._points[key] = points
        return points, tied

    def fold_moments(
        self, folds: Sequence[NDArray[np.intp]], factors: Sequence[Array] | None = None
    ) -> list[Moments]:
        """Return the moments of each fold; ``folds`` says for each shard's rows which is theirs."""
        count = 1 + max(int(fold.max()) for fold in folds)
        sums: list[Moments | None] = [None] * count
        for i, place, rows in self.rows(factors):
            fold = folds[i][place]
            for f in range(fold.min(), fold.max() + 1):
                chosen = fold == f
                part = rows if chosen.all() else rows.some(chosen)
                moments, before = Moments.of(part), sums[f]
                sums[f] = moments if before is None else Moments.total([before, moments])
        return [moments for moments in sums if moments is not None]

    def program_rows(self) -> ProgramRows:
        """Return all samples as the training program reads them."""
        phi = np.concatenate(self._phi)
        return ProgramRows(
            np.concatenate(self.parts),
            phi if self.hypothesis.offset else phi[:, :0],
            np.concatenate([shard.costs for shard in self.shards]),
            np.concatenate([shard.decisions for shard in self.shards]) - self.center,
            np.concatenate([shard.weights for shard in self.shards]),
        )

    def theta(self, a: Array, b: Array) -> Array:
        """Return the parameters for features and decisions as they were."""
        blocks: dict[str, Array] = {}
        if self.shape[0]:
            blocks["alpha"] = a if self.knots is not None else self._restored(a.T).T
        if self.hypothesis.offset:
            blocks["b"] = self._restored(b)
            blocks["b"][0] += self.center
        if self.shape[0] and self.knots is not None:
            blocks["knots"] = self.knots
        return self.hypothesis.layout(self.n, self.k).pack(blocks)

    def _restored(self, table: Array) -> Array:
        """Return coefficients of the features themselves, given those of standardised ones."""
        m = len(table)
        table = table / self.scale[:m, None]
        table[0] -= self.mean[:m] @ table
        return table
