"""Clusters of decisions as the vertices of a region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from feaslearn.arrays import Array
from feaslearn.baselines.samples import check_samples, signals_to_predict
from feaslearn.costs import CostSpecification, resolve_cost
from feaslearn.data import Block, as_matrix, column_names
from feaslearn.exceptions import DataError, Problems, checked
from feaslearn.hypotheses import Affine
from feaslearn.losses import Loss
from feaslearn.parameters import Either, Integer, check_value
from feaslearn.sets import Simplex

#: Rounds of clusters and of decisions filled from them.
MAX_ROUNDS = 20


@dataclass(eq=False, repr=False)
class NearestVertices(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""The cheapest of the centres of clusters of observed decisions.

    .. math:: \hat x(s) \in \arg\min \{c(s)'v : v \in \{v_1, \ldots, v_p\}\}, \qquad
        \min_v \sum_i w_i \min_k \|x_i - v_k\|^2

    K-means finds the vertices :math:`v_k` without regard to the cost; the region is their convex
    hull. It takes milliseconds, and what a learned region gains over it is what looking at the cost
    is worth. Decisions that were not observed (NaN) are filled from the centre of their cluster, in
    alternation with the clusters.

    Parameters
    ----------
    n_vertices : int
        Number p of vertices.
    cost : cost specification
        How c(s) is read from the signals, as in `RegionRegressor`.
    sense : {"min", "max"}, default="min"
        Whether decisions minimise or maximise the cost.
    random_state : int, default=None
        Seed of the starts of k-means.

    Attributes
    ----------
    vertices_ : ndarray of shape (p, n)
        The vertices, in the order of their entries; fewer than asked for where there are fewer
        distinct decisions.
    cost_ : ResolvedCost
        The cost, checked against the signals.
    n_features_in_ : int
        The number of signals.
    feature_names_in_ : ndarray
        The names of the signals, where they have names.

    References
    ----------
    Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(100, random_state=0)
    >>> model = fl.baselines.NearestVertices(2, data.cost, random_state=0)
    >>> model.fit(data.signals, data.decisions).vertices_
    array([[0., 1.],
           [1., 0.]])
    >>> model.predict([[0.2], [0.9]])
    array([[1., 0.],
           [0., 1.]])
    """

    n_vertices: int = 2
    cost: CostSpecification | None = None
    sense: Literal["min", "max"] = "min"
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array_like of shape (N, K)
            The signals.
        y : array_like of shape (N, n) or (N,)
            The decisions; NaN where not observed.
        sample_weight : array_like of shape (N,), optional
            The weight of each sample, not negative.

        Returns
        -------
        NearestVertices
            The model itself.
        """
        signals, decisions, weights = check_samples(X, y, sample_weight, "NearestVertices")
        problems = Problems()
        check_value("n_vertices", self.n_vertices, Integer(1), problems)
        check_value("sense", self.sense, Either("min", "max"), problems)
        unseen = np.isnan(decisions[weights > 0.0]).all(axis=0)
        if unseen.any():
            problems.add(f"y: columns {np.flatnonzero(unseen).tolist()} have no observed entry")
        cost = resolve_cost(
            self.cost,
            n_decisions=decisions.shape[1],
            signal_names=column_names(X),
            n_signals=signals.shape[1],
            problems=problems,
        )
        cost = checked(cost, problems, "NearestVertices")
        validate_data(self, X, skip_check_array=True)
        self.cost_ = cost
        self._one_column = np.asarray(y).ndim == 1
        kept = (weights > 0.0) & ~np.isnan(decisions).all(axis=1)
        centers = self._centers(decisions[kept], weights[kept])
        self.vertices_ = centers[np.lexsort(centers.T[::-1])] + 0.0
        return self

    def _centers(self, decisions: Array, weights: Array) -> Array:
        """Find clusters, fill what was not observed from the centres, and repeat."""
        from sklearn.cluster import KMeans

        hidden = np.isnan(decisions)
        filled = np.where(hidden, np.nanmean(decisions, axis=0), decisions)
        for _ in range(MAX_ROUNDS if hidden.any() else 1):
            count = min(int(self.n_vertices), len(np.unique(filled, axis=0)))
            clusters = KMeans(count, n_init=10, random_state=self.random_state)
            clusters.fit(filled, sample_weight=weights)
            centers = clusters.cluster_centers_
            before, filled = filled, np.where(hidden, centers[clusters.labels_], decisions)
            if np.allclose(before, filled):
                break
        # What the filling approaches: the mean of what was observed in each cluster.
        seen = weights[:, None] * ~hidden
        member = np.arange(len(centers))[:, None] == clusters.labels_
        mass = member @ seen
        sums = member @ (seen * np.nan_to_num(decisions))
        means = sums / np.where(mass > 0.0, mass, 1.0)
        return np.asarray(np.where(mass > 0.0, means, centers))

    def predict(self, X: ArrayLike, costs: ArrayLike | None = None) -> Array:
        """Return the cheapest vertex of each sample.

        Parameters
        ----------
        X : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n), optional
            Costs to use instead of those read from the signals.

        Returns
        -------
        ndarray of shape (N, n) or (N,)
            The decisions, in the shape of those it was fitted to.
        """
        prices = self._prices(X, costs)
        chosen = self.vertices_[(prices @ self.vertices_.T).argmin(axis=1)]
        return np.asarray(chosen[:, 0] if self._one_column else chosen)

    def sample_losses(
        self, loss: Loss, X: ArrayLike, y: ArrayLike, costs: ArrayLike | None = None
    ) -> Array:
        """Return the loss of each pair under the hull of the vertices.

        Parameters
        ----------
        loss : Loss
            Predictability or Suboptimality.
        X, y : array_like
            Signals and decisions.
        costs : array_like of shape (N, n), optional
            Costs to use instead of those read from the signals.

        Returns
        -------
        ndarray of shape (N,)
            Losses.
        """
        prices = self._prices(X, costs)
        _, decisions, weights = check_samples(X, y, None, "NearestVertices")
        block = Block(np.ones((len(prices), 1)), prices, decisions, weights)
        hull = Affine(Simplex(len(self.vertices_)))
        return loss.samples(hull, np.ascontiguousarray(self.vertices_.T).ravel(), block)

    def _prices(self, X: ArrayLike, costs: ArrayLike | None) -> Array:
        """Return what is minimised: the costs, negated where they are maximised."""
        signals = signals_to_predict(self, X, "vertices_")
        sign = -1.0 if self.sense == "max" else 1.0
        if costs is None:
            return np.ascontiguousarray(sign * self.cost_.evaluate(signals))
        problems = Problems()
        table = as_matrix(costs, name="costs", problems=problems, allow_1d=True)
        expected = (len(signals), self.vertices_.shape[1])
        if table is not None and table.shape != expected:
            problems.add(f"costs have shape {table.shape}, expected {expected}")
        problems.raise_if_any(DataError, "NearestVertices")
        return np.ascontiguousarray(sign * np.asarray(table))
