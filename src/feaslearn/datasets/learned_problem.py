"""A learned region, or one known in closed form, as a forward problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.datasets.forward_problem import (
    CheckedProblem,
    Norm,
    check_same_length,
    check_table,
)
from feaslearn.exceptions import DataError, Problems

if TYPE_CHECKING:
    from feaslearn.hypotheses import Hypothesis
    from feaslearn.sets import AffineImage


class LearnedProblem(CheckedProblem):
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
    >>> from feaslearn.datasets import LearnedProblem
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
        features: Callable[[Array], Array],
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

    def __repr__(self) -> str:
        return f"LearnedProblem({self.hypothesis!r}, {len(self.theta)} parameters)"

    def _minimizers(self, table: Array, costs: Array) -> Array:
        return self.hypothesis.predict(self.theta, table, costs)

    def _distances(self, table: Array, points: Array, costs: Array | None, norm: Norm) -> Array:
        regions = self._images(table)
        if costs is None:
            pairs = zip(regions, points, strict=True)
            return np.array([region.distance(x, norm) for region, x in pairs])
        triples = zip(regions, points, costs, strict=True)
        return np.array([region.optimal_face(c).distance(x, norm) for region, x, c in triples])

    def _features(self, signals: ArrayLike) -> Array:
        """Return the features of checked signals."""
        problems = Problems()
        table = check_table(problems, "signals", signals, None)
        problems.raise_if_any(DataError, "LearnedProblem")
        features = check_table(problems, "features(signals)", self.features(table), None)
        check_same_length(problems, signals=table, features=features)
        problems.raise_if_any(DataError, "LearnedProblem")
        return features

    def _read(self, problems: Problems, signals: ArrayLike) -> tuple[Array, int]:
        features = self._features(signals)
        return features, self._n_decisions(features.shape[1])

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

    def _images(self, features: Array) -> list[AffineImage]:
        """Return the region of each sample; equal features share one, which may be costly."""
        n = self._n_decisions(features.shape[1])
        rows, of_sample = np.unique(features, axis=0, return_inverse=True)
        images = [self.hypothesis.image(self.theta, phi, n) for phi in rows]
        return [images[i] for i in of_sample.ravel()]
