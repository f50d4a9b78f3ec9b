"""The unit simplex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet, checked_flag, positive_integer
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.oracle_kernels import BINARY_POINTS, SIMPLEX, SetCode, single
from feaslearn.tolerances import MOST_VERTICES


@dataclass(eq=False, repr=False)
class Simplex(PrimitiveSet):
    r"""The unit simplex :math:`\{z \ge 0 : e'z = 1\}`.

    Its affine image is the convex hull of p columns: the region of a decision maker who switches
    between p policies.

    Parameters
    ----------
    p : int
        Number of vertices.
    binary : bool, default=False
        Whether the set holds only its vertices, the p unit vectors. Minimisers are the same; the
        distance to the set, or to tied minimisers, is the one to the nearest vertex.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Remark 3.1.

    Examples
    --------
    >>> from feaslearn import Simplex
    >>> Simplex(3).argmin([[0.3, 0.1, 0.2]])
    array([[0., 1., 0.]])
    >>> Simplex(2).contains([[0.5, 0.5]]), Simplex(2, binary=True).contains([[0.5, 0.5]])
    (array([ True]), array([False]))
    """

    absorbs_offset = True

    p: int
    binary: bool = False

    @property
    def discrete(self) -> bool:
        """Whether the set holds only its vertices."""
        return checked_flag(self.binary, "Simplex")

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return positive_integer(self.p, "p", "Simplex")

    def conic_form(self) -> ConicForm:
        """Return ``z >= 0`` and ``e'z - 1 = 0``: the hull of the vertices, if binary."""
        p = self.dimension
        H = np.vstack([np.eye(p), np.ones(p)])
        return ConicForm(H, np.append(np.zeros(p), 1.0), (Cone("nonnegative", p), Cone("zero", 1)))

    def code(self) -> SetCode:
        """Return what the compiled kernels read."""
        if self.discrete:
            return single(BINARY_POINTS, self.dimension, points=np.eye(self.dimension))
        return single(SIMPLEX, self.dimension)

    def check(self) -> None:
        """Refuse wrong parameters; a simplex is never empty or unbounded."""
        _ = self.dimension, self.discrete

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the hull of the vertices with the least cost; the vertices alone if binary."""
        cost, margin = self._cost(q, tolerance)
        tied = np.flatnonzero(cost <= cost.min() + margin)
        vertices = Simplex(len(tied), self.binary)
        return AffineImage(vertices, np.eye(len(cost))[:, tied], np.zeros(len(cost)))

    def center(self) -> Array:
        """Return the point with equal entries; the vertex in the middle of the list if binary."""
        if self.discrete:
            return np.asarray(np.eye(self.dimension)[self.dimension // 2])
        return np.full(self.dimension, 1.0 / self.dimension)

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the p unit vectors."""
        self._refuse_beyond(limit, self.dimension)
        return np.eye(self.dimension)
