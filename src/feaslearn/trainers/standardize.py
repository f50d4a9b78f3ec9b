"""Training in standardised features, so that units and offsets of signals do not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.hypotheses.affine import Maps
from feaslearn.tolerances import LSTSQ_TOL, ROUNDING
from feaslearn.trainers.objective import Objective


def moments(
    features: Sequence[Array], weights: Sequence[Array], constant_first: bool = True
) -> tuple[Array, Array]:
    """Return mean and standard deviation of each feature over all parts."""
    # A feature that never changes has an infinite deviation: divided by it, the feature vanishes.
    pairs = list(zip(features, weights, strict=True))
    total = sum(float(part.sum()) for part in weights)
    mean = np.sum([weighted_sum(part, weight) for part, weight in pairs], axis=0) / total
    squares = [weighted_sum((part - mean) ** 2, weight) for part, weight in pairs]
    return _units(mean, np.sqrt(np.sum(squares, axis=0) / total), constant_first)


def _units(mean: Array, scale: Array, constant_first: bool = True) -> tuple[Array, Array]:
    scale = np.where(scale <= ROUNDING * np.abs(mean), np.inf, scale)
    if constant_first:
        mean[0], scale[0] = 0.0, 1.0
    return mean, scale


def weighted_sum(table: Array, weights: Array) -> Array:
    """Return ``w'T``, the same for any number of threads; a threaded product is not."""
    return np.asarray((weights[:, None] * table).sum(axis=0))


def observed_mean(table: Array, weights: Array) -> Array:
    """Return the weighted mean of what was observed in each column; zero where nothing was."""
    total = weighted_sum((~np.isnan(table)).astype(float), weights)
    return weighted_sum(np.nan_to_num(table), weights) / np.where(total > 0.0, total, 1.0)


@dataclass(frozen=True)
class Standardization:
    """Means and scales of the features; the constant keeps mean 0 and scale 1."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, objective: Objective) -> Standardization:
        """Measure the features of an objective with its weights."""

        def sums(block: Block) -> tuple[Array, float]:
            return weighted_sum(block.features, block.weights), float(block.weights.sum())

        features, total = objective.samples.sum(sums, objective.n_jobs)
        mean = features / total

        def squares(block: Block) -> Array:
            return weighted_sum((block.features - mean) ** 2, block.weights)

        return cls(*_units(mean, np.sqrt(objective.samples.sum(squares, objective.n_jobs) / total)))

    def apply(self, objective: Objective) -> Objective:
        """Return the same objective in standardised features."""
        return replace(objective, samples=objective.samples.then(self.rows))

    def rows(self, block: Block) -> Block:
        """Return some samples with standardised features."""
        features = np.ascontiguousarray(block.features - self.mean)
        features /= self.scale
        return block._replace(features=features)

    def convert(self, objective: Objective, theta: Array) -> Array:
        """Return the parameters for standardised features, given those for the features."""
        hypothesis = objective.affine()
        A, b = hypothesis.maps(theta, objective.n_decisions, objective.n_features)
        scale = np.where(np.isfinite(self.scale), self.scale, 0.0)
        level_A, level_b = np.tensordot(self.mean, A, axes=1), self.mean @ b
        A, b = A * scale[:, None, None], b * scale[:, None]
        A[0] += level_A
        b[0] += level_b
        return hypothesis.theta_of(Maps(A, b))

    def revert(self, objective: Objective, theta: Array) -> Array:
        """Return the parameters for the features, given those for standardised ones."""
        hypothesis = objective.affine()
        A, b = hypothesis.maps(theta, objective.n_decisions, objective.n_features)
        A, b = A / self.scale[:, None, None], b / self.scale[:, None]
        A[0] -= np.tensordot(self.mean, A, axes=1)
        b[0] -= self.mean @ b
        return hypothesis.theta_of(Maps(A, b))


# Weighted least squares with unobserved entries.


def least_squares(features: Array, targets: Array, weights: Array) -> Array:
    """Return the coefficients (k, n) of weighted least squares; NaN targets do not count."""
    # Of dependent features, the solution of least norm in standardised ones: units do not matter,
    # and a feature that never changed has no effect.
    observed = ~np.isnan(targets) & (weights > 0.0)[:, None]
    together: dict[bytes, list[int]] = {}
    for j, seen in enumerate(observed.T):
        together.setdefault(seen.tobytes(), []).append(j)
    beta = np.zeros((features.shape[1], targets.shape[1]))
    for columns in together.values():
        rows = observed[:, columns[0]]
        if rows.any():
            beta[:, columns] = _complete(features[rows], targets[rows][:, columns], weights[rows])
    return beta


def _complete(features: Array, targets: Array, weights: Array) -> Array:
    """Regress targets that were all observed."""
    mean, scale = moments([features], [weights])
    level = weighted_sum(targets, weights) / weights.sum()
    roots = np.sqrt(weights)[:, None]
    centered = (features - mean)[:, 1:] / scale[1:] * roots
    slope = np.linalg.lstsq(centered, (targets - level) * roots, rcond=LSTSQ_TOL)[0]
    slope = slope / scale[1:, None]
    return np.vstack([level - mean[1:] @ slope, slope])
