"""The samples of an affine hypothesis whose latent points are enumerated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data import Block
from feaslearn.hypotheses import MapHypothesis
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Loss, Objective, Suboptimality
from feaslearn.tolerances import TIE_TOL


@dataclass(frozen=True)
class EnumeratedSamples:
    r"""Predictions :math:`v_{im} = A(s_i) w_m + b(s_i) = \beta' \psi_{im}` of enumerated points w.

    The prediction of each sample for each point is linear in one matrix :math:`\beta` (d, n), which
    holds the parameters for features and decisions of size one. Samples with the same features and
    decisions make a group: whichever point is nearest is nearest for all of them.
    """

    hypothesis: MapHypothesis
    loss: Loss
    psi: Array
    costs: Array
    decisions: Array
    weights: Array
    groups: Indices
    scale: float
    units: Array
    total: float

    @classmethod
    def of(cls, objective: Objective) -> EnumeratedSamples:
        """Read the samples of an objective, whose hypothesis is affine."""
        whole = objective.load()
        whole = Block(*(array[whole.weights > 0.0] for array in whole))
        n = whole.decisions.shape[1]
        hypothesis = objective.maps()
        primitive = hypothesis.latent(n)
        units = np.abs(whole.features).max(axis=0)
        units[units == 0.0] = 1.0
        features = whole.features / units
        points = primitive.vertices()
        psi = np.einsum("ik,mj->imkj", features, points).reshape(len(features), len(points), -1)
        if not primitive.absorbs_offset:
            repeated = np.repeat(features[:, None, :], len(points), axis=1)
            psi = np.concatenate([psi, repeated], axis=2)
        scale = float(np.nanmax(np.abs(whole.decisions), initial=0.0)) or 1.0
        loss = objective.loss
        costs = loss.unit_costs(whole.costs)
        pairs = np.nan_to_num(np.hstack([features, whole.decisions]), nan=np.inf)
        groups = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
        total = float(whole.weights.sum())
        weights = whole.weights / total
        decisions = whole.decisions / scale
        return cls(hypothesis, loss, psi, costs, decisions, weights, groups, scale, units, total)

    @property
    def interchangeable(self) -> bool:
        """Whether the points can change places: unit vectors with columns of their own."""
        return (
            self.hypothesis.latent(self.decisions.shape[1]).absorbs_offset
            and self.n_points == self.n_latent
        )

    @property
    def n_latent(self) -> int:
        """Number of entries p of a latent point."""
        return self.hypothesis.latent(self.decisions.shape[1]).dimension

    @property
    def n_points(self) -> int:
        """Number M of enumerated points."""
        return int(self.psi.shape[1])

    @cached_property
    def seen(self) -> Mask:
        """Which decisions were observed."""
        return ~np.isnan(self.decisions)

    @cached_property
    def known(self) -> Array:
        """The decisions, zero where they were not observed."""
        return np.nan_to_num(self.decisions)

    @property
    def priced(self) -> bool:
        """Whether excess cost counts on its own: suboptimality."""
        return isinstance(self.loss, Suboptimality)

    def predictions(self, beta: Array) -> Array:
        """Return the prediction of each sample for each point (N, M, n)."""
        return np.asarray(self.psi @ beta)

    def prices(self, predictions: Array) -> Array:
        """Return the cost of each prediction (N, M)."""
        return np.asarray(np.einsum("imn,in->im", predictions, self.costs))

    def distances(self, predictions: Array) -> Array:
        """Return the distance of each decision to each prediction (N, M), as the loss measures."""
        gaps = (predictions - self.known[:, None, :]) * self.seen[:, None, :]
        return self.loss.lengths(gaps.reshape(-1, gaps.shape[2])).reshape(gaps.shape[:2])

    def losses(self, predictions: Array, distances: Array) -> Array:
        """Return the loss of each sample, its nearest minimiser taken where several tie."""
        prices = self.prices(predictions)
        if not self.priced:
            limits = prices.min(axis=1) + TIE_TOL * np.abs(prices).max(axis=1)
            return np.asarray(np.where(prices <= limits[:, None], distances, np.inf).min(axis=1))
        paid = np.einsum("in,in->i", self.known, self.costs)
        excess = np.maximum(paid - prices.min(axis=1), 0.0)
        near = distances.min(axis=1)
        if self.loss.norm == "linf":
            return np.asarray(np.maximum(near, excess))
        return np.asarray(near + (excess**2 if self.loss.norm == "l2" else excess))

    def value(self, beta: Array) -> float:
        """Return the weighted loss, in the units of the program."""
        predictions = self.predictions(beta)
        return float(self.weights @ self.losses(predictions, self.distances(predictions)))

    def in_units(self, value: float) -> float:
        """Return a loss in the units of the data, given one of the program."""
        return value * self.total * (self.scale**2 if self.loss.norm == "l2" else self.scale)

    def theta(self, beta: Array) -> Array:
        """Return the parameters of the hypothesis."""
        k, p, n = len(self.units), self.n_latent, beta.shape[1]
        units = self.scale / self.units
        A = beta[: k * p].reshape(k, p, n).transpose(0, 2, 1) * units[:, None, None]
        b = beta[k * p :] * units[:, None] if len(beta) > k * p else np.zeros((k, n))
        return self.hypothesis.theta_of(Maps(A, b))

    def beta(self, theta: Array) -> Array:
        """Return the matrix of the program, given parameters of the hypothesis."""
        k, n = len(self.units), self.decisions.shape[1]
        maps = self.hypothesis.maps(theta, n, k)
        units = self.units / self.scale
        A = (maps.A * units[:, None, None]).transpose(0, 2, 1).reshape(k * self.n_latent, n)
        if self.psi.shape[2] == len(A):
            return np.asarray(A)
        return np.vstack([A, maps.b * units[:, None]])
