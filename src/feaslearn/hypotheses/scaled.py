"""The paper's convex class: a scaled and moved primitive set."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses.hypothesis import Layout
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term import Term
from feaslearn.sets.primitive_set import PrimitiveSet


class Scaled(MapHypothesis):
    r"""Regions :math:`\{\alpha z + b(s) : z \in Z\}` with :math:`\alpha \ge 0` and b learned.

    Scaling does not change which points of Z are optimal, so training is a convex problem.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z, with as many entries as there are decisions.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import L1Ball, Scaled
    >>> ball = Scaled(L1Ball(2))
    >>> theta = np.array([0.5, 1.0, 1.0])  # alpha = 0.5, b = (1, 1)
    >>> ball.predict(theta, np.ones((1, 1)), np.array([[0.3, -0.9]]))
    array([[1. , 1.5]])
    """

    def as_minkowski(self, n: int) -> Minkowski:
        """Return the sum of one term, with a constant scale."""
        return Minkowski([Term(self.latent(n))], scale="constant")

    def latent(self, n: int) -> PrimitiveSet:
        """Return the primitive set, which must have n entries."""
        primitive = super().latent(n)
        if primitive.dimension != n:
            raise UnsupportedError(
                f"Scaled needs a set with as many entries as decisions ({n}), but {primitive!r} "
                f"has {primitive.dimension}; Affine takes any number"
            )
        return primitive

    def layout(self, n: int, k: int) -> Layout:
        """Return blocks "alpha" (1,) and "b" (k, n)."""
        return Layout({"alpha": (1,), "b": (k, n)})

    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return ``A_0 = alpha I`` and zero for the other features."""
        blocks = self.layout(n, k).unpack(theta)
        A = np.zeros((k, n, n))
        A[0] = blocks["alpha"][0] * np.eye(n)
        return Maps(A, blocks["b"])

    def theta_of(self, maps: Maps) -> Array:
        """Return the mean of the constant map's diagonal, not below zero, and the offset."""
        alpha = max(0.0, float(np.trace(maps.A[0])) / maps.A.shape[1])
        return np.concatenate([[alpha], maps.b.ravel()])

    def pull_back(self, gradient: Maps) -> Array:
        """Return the trace of the constant map's gradient, and that of b."""
        return np.concatenate([[np.trace(gradient.A[0])], gradient.b.ravel()])
