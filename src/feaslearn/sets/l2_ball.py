"""The Euclidean unit ball."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet, positive_integer
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import L2_BALL, SetCode, single


@dataclass(eq=False, repr=False)
class L2Ball(PrimitiveSet):
    r"""The ball :math:`\{z : \|z\|_2 \le 1\}`; its affine images are ellipsoids.

    Parameters
    ----------
    p : int
        Number of entries.

    Examples
    --------
    >>> from feaslearn import L2Ball
    >>> L2Ball(2).argmin([[3.0, 4.0]])
    array([[-0.6, -0.8]])
    """

    p: int

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return positive_integer(self.p, "p", "L2Ball")

    def check(self) -> None:
        """Refuse a wrong p; a ball is never empty or unbounded."""
        _ = self.dimension

    def conic_form(self) -> ConicForm:
        """Return ``(1, z)`` in one second-order cone: ``H = [0; I]``, ``h = (-1, 0)``."""
        p = self.dimension
        H = np.vstack([np.zeros(p), np.eye(p)])
        return ConicForm(H, np.append(-1.0, np.zeros(p)), (Cone("second-order", p + 1),))

    def code(self) -> SetCode:
        """Return what the compiled kernels read."""
        return single(L2_BALL, self.dimension)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return ``-q / |q|``, or the whole ball where the cost is zero."""
        cost, margin = self._cost(q, tolerance)
        norm = np.linalg.norm(cost)
        if norm <= margin:
            return AffineImage(self, np.eye(len(cost)), np.zeros(len(cost)))
        return AffineImage.point(-cost / norm)

    def center(self) -> Array:
        """Return zero."""
        return np.zeros(self.dimension)
