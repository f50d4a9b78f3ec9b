"""The unit ball of the l1 norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import TooManyVerticesError
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet, positive_integer
from feaslearn.sets.simplex import Simplex
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import L1_BALL, SetCode, single
from feaslearn.tolerances import INSIDE_TOL, MOST_VERTICES

#: Up to this p the ball is written with one row for each of its 2^p faces.
MAX_DIMENSION = 12


@dataclass(eq=False, repr=False)
class L1Ball(PrimitiveSet):
    r"""The ball :math:`\{z : |z_1| + \dots + |z_p| \le 1\}`.

    Parameters
    ----------
    p : int
        Number of entries.

    Examples
    --------
    >>> from feaslearn import L1Ball
    >>> L1Ball(3).argmin([[0.3, -0.5, 0.2]])
    array([[0., 1., 0.]])
    """

    p: int

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return positive_integer(self.p, "p", "L1Ball")

    def check(self) -> None:
        """Refuse a wrong p; a ball is never empty or unbounded."""
        _ = self.dimension

    def conic_form(self) -> ConicForm:
        """Return ``1 - sign'z >= 0`` for all ``2^p`` sign vectors.

        Raises
        ------
        TooManyVerticesError
            For p above 12: such a ball is the image of the simplex of its ``2p`` vertices.
        """
        p = self.dimension
        if p > MAX_DIMENSION:
            raise TooManyVerticesError(
                f"{self!r} has 2^{p} facets, too many for a conic form (p at most "
                f"{MAX_DIMENSION}); use Affine(Simplex({2 * p})), whose regions include its images"
            )
        signs = np.asarray(1 - 2 * ((np.arange(2**p)[:, None] >> np.arange(p)) & 1), dtype=float)
        return ConicForm(-signs, -np.ones(2**p), (Cone("nonnegative", 2**p),))

    def code(self) -> SetCode:
        """Return what the compiled kernels read."""
        return single(L1_BALL, self.dimension)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the hull of the signed unit vectors with the least cost, or the whole ball."""
        cost, margin = self._cost(q, tolerance)
        largest = np.abs(cost).max()
        zero = np.zeros(len(cost))
        if largest <= margin:
            return AffineImage(self, np.eye(len(cost)), zero)
        tied = np.flatnonzero(np.abs(cost) >= largest - margin)
        columns = np.diag(-np.sign(cost))[:, tied]
        return AffineImage(Simplex(len(tied)), columns, zero)

    def contains(self, Z: ArrayLike, tolerance: float = INSIDE_TOL) -> Mask:
        """Say for each row of ``Z`` whether its l1 norm is at most one."""
        return np.asarray(np.abs(self._rows(Z, "Z")).sum(axis=1) <= 1.0 + tolerance)

    def center(self) -> Array:
        """Return zero."""
        return np.zeros(self.dimension)

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return ``+e_1, -e_1, +e_2, ...``."""
        p = self.dimension
        self._refuse_beyond(limit, 2 * p)
        signs = np.tile([1.0, -1.0], p)
        return np.asarray(np.repeat(np.eye(p), 2, axis=0) * signs[:, None] + 0.0)
