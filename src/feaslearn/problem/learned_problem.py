"""A learned region, or one known in closed form, as a forward problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.exceptions import DataError, Problems
from feaslearn.parameters import check_value
from feaslearn.problem.forward_problem import (
    NORM,
    FloatArray,
    Norm,
    check_same_length,
    check_table,
)

if TYPE_CHECKING:
    from feaslearn.hypotheses import Hypothesis
    from feaslearn.sets import AffineImage


class LearnedProblem:
    """The problem of a decision maker who faces a region of a hypothesis.

    ``min { c'x : x = A(s) z + b(s), z in Z }``

    Parameters
    ----------
    hypothesis : Hypothesis
        What the region can be.
    theta : array_like of shape (size,)
        The parameters of the region, one flat vector.
    features : callable
        From signals (N, K) to the features (N, k) that the region is affine in; the first is 1.

    References
    ----------
    Boyd and Vandenberghe, "Convex Optimization", 2004, chapter 8 (distances to convex sets).

    Examples
    --------
    A ball of radius 2 around the point (1, 1), whatever the signal.

    >>> import numpy as np
    >>> from feaslearn.hypotheses import Scaled
    >>> from feaslearn.problem import LearnedProblem
    >>> from feaslearn.sets import L2Ball
    >>> ball = LearnedProblem(Scaled(L2Ball(2)), [2.0, 1.0, 1.0], lambda s: np.ones((len(s), 1)))
    >>> ball.solve([[0.0]], [[0.0, 1.0]])
    array([[ 1., -1.]])
    >>> ball.distance_to_feasible([[1.0, 4.5]], [[0.0]]).round(9)
    array([1.5])
    """

    def __init__(
        self,
        hypothesis: Hypothesis,
        theta: ArrayLike,
        features: Callable[[FloatArray], FloatArray],
    ) -> None:
        self.hypothesis = hypothesis
        self.theta = np.ascontiguousarray(theta, dtype=np.float64)
        self.features = features
        if self.theta.ndim != 1 or not np.isfinite(self.theta).all():
            raise DataError(
                f"LearnedProblem: theta has shape {self.theta.shape}, expected one flat vector "
                "of finite numbers"
            )

    def image(self, signal: ArrayLike) -> AffineImage:
        """Return the region at one signal.

        Parameters
        ----------
        signal : array_like of shape (K,)
            The signal.

        Returns
        -------
        AffineImage
            The region, with its matrix and its offset.
        """
        features = self._features(np.atleast_2d(signal))
        n = self._n_decisions(features.shape[1])
        return self.hypothesis.image(self.theta, features[0], n)

    def solve(self, signals: ArrayLike, costs: ArrayLike) -> FloatArray:
        """Return one optimal decision for each sample.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.

        Returns
        -------
        ndarray of shape (N, n)
            The decisions.
        """
        features, weights = self._tables("solve", signals, costs=costs)
        return self.hypothesis.predict(self.theta, features, weights)

    def optimal_value(self, signals: ArrayLike, costs: ArrayLike) -> FloatArray:
        """Return the least cost of each sample.

        Parameters
        ----------
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.

        Returns
        -------
        ndarray of shape (N,)
            The costs ``c'x`` of optimal decisions.
        """
        features, weights = self._tables("optimal_value", signals, costs=costs)
        best = self.hypothesis.predict(self.theta, features, weights)
        values: FloatArray = np.einsum("ij,ij->i", best, weights)
        return values

    def distance_to_feasible(
        self, decisions: ArrayLike, signals: ArrayLike, norm: Norm = "l2"
    ) -> FloatArray:
        """Return how far each decision is from the region.

        Parameters
        ----------
        decisions : array_like of shape (N, n)
            The decisions; NaN entries were not observed and do not count.
        signals : array_like of shape (N, K)
            The signals.
        norm : {"l1", "l2", "linf"}
            The norm.

        Returns
        -------
        ndarray of shape (N,)
            The distances, not squared.
        """
        features, points = self._tables("distance_to_feasible", signals, norm, decisions=decisions)
        images = self._images(features)
        return np.array([image.distance(x, norm) for image, x in zip(images, points, strict=True)])

    def distance_to_optimal(
        self, decisions: ArrayLike, signals: ArrayLike, costs: ArrayLike, norm: Norm = "l2"
    ) -> FloatArray:
        """Return how far each decision is from the nearest optimal one.

        Parameters
        ----------
        decisions : array_like of shape (N, n)
            The decisions; NaN entries were not observed and do not count.
        signals : array_like of shape (N, K)
            The signals.
        costs : array_like of shape (N, n)
            The cost of each decision.
        norm : {"l1", "l2", "linf"}
            The norm.

        Returns
        -------
        ndarray of shape (N,)
            The distances, not squared.
        """
        features, points, weights = self._tables(
            "distance_to_optimal", signals, norm, decisions=decisions, costs=costs
        )
        images = self._images(features)
        return np.array(
            [
                image.optimal_face(c).distance(x, norm)
                for image, x, c in zip(images, points, weights, strict=True)
            ]
        )

    def __repr__(self) -> str:
        return f"LearnedProblem({self.hypothesis!r}, {len(self.theta)} parameters)"

    def _features(self, signals: ArrayLike) -> FloatArray:
        problems = Problems()
        table = check_table(problems, "signals", signals, None)
        problems.raise_if_any(DataError, "LearnedProblem")
        features = check_table(problems, "features(signals)", self.features(table), None)
        check_same_length(problems, signals=table, features=features)
        problems.raise_if_any(DataError, "LearnedProblem")
        return features

    def _tables(
        self, caller: str, signals: ArrayLike, norm: str = "l2", **others: ArrayLike
    ) -> list[FloatArray]:
        """Check the tables, and return the features and then the others in their order."""
        features = self._features(signals)
        problems = Problems()
        check_value("norm", norm, NORM, problems)
        n = self._n_decisions(features.shape[1])
        tables = {"signals": features}
        for name, table in others.items():
            tables[name] = check_table(problems, name, table, n, allow_nan=name == "decisions")
        check_same_length(problems, **tables)
        problems.raise_if_any(DataError, f"LearnedProblem.{caller}")
        return list(tables.values())

    def _n_decisions(self, k: int) -> int:
        """Return the number of decisions that theta has parameters for."""
        n = 1
        while self.hypothesis.layout(n, k).size < len(self.theta):
            n += 1
        if self.hypothesis.layout(n, k).size != len(self.theta):
            raise DataError(
                f"LearnedProblem: theta has {len(self.theta)} entries, which no number of decisions"
                f" needs with {k} features; check theta and features"
            )
        return n

    def _images(self, features: FloatArray) -> list[AffineImage]:
        """Return the region of each sample; equal features share one, which may be costly."""
        n = self._n_decisions(features.shape[1])
        known: dict[bytes, AffineImage] = {}
        images = []
        for phi in features:
            key = phi.tobytes()
            if key not in known:
                known[key] = self.hypothesis.image(self.theta, phi, n)
            images.append(known[key])
        return images
