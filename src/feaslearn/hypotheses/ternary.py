"""A constant map of zeros and plus or minus ones."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array
from feaslearn.hypotheses.hypothesis import Layout
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps


class Ternary(MapHypothesis):
    r"""Regions :math:`\{A z + b(s) : z \in Z\}` with :math:`A \in \{-1, 0, 1\}^{n \times p}`.

    The map says which latent quantity adds to which decision, takes from it, or leaves it alone,
    as the incidence matrix of a network does; it does not depend on the signal. The offset b is
    affine in the features and free.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Box, Ternary
    >>> flow = Ternary(Box(1))
    >>> theta = np.array([1.0, -1.0, 0.0, 2.0])  # A = (1, -1), b = (0, 2)
    >>> flow.predict(theta, np.ones((1, 1)), np.array([[1.0, 3.0]]))
    array([[1., 1.]])
    """

    integer_parameters = True

    def layout(self, n: int, k: int) -> Layout:
        """Return blocks "A" (n, p) and "b" (k, n)."""
        return Layout({"A": (n, self.latent(n).dimension), "b": (k, n)})

    def maps(self, theta: Array, n: int, k: int) -> Maps:
        """Return ``A_0 = A`` and zero for the other features."""
        blocks = self.layout(n, k).unpack(theta)
        A = np.zeros((k, *blocks["A"].shape))
        A[0] = blocks["A"]
        return Maps(A, blocks["b"])

    def theta_of(self, maps: Maps) -> Array:
        """Return the constant map with each entry at the nearest of -1, 0 and 1, and the offset."""
        A = np.clip(np.round(maps.A[0]), -1.0, 1.0) + 0.0
        return np.concatenate([A.ravel(), maps.b.ravel()])

    def pull_back(self, gradient: Maps) -> Array:
        """Return the gradient of the constant map, and that of b."""
        return np.concatenate([gradient.A[0].ravel(), gradient.b.ravel()])
