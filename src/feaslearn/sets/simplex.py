"""The unit simplex."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.kernels.set_code import SIMPLEX, TIE_TOLERANCE, SetCode, single
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_form import Cone, ConicForm
from feaslearn.sets.primitive_set import PrimitiveSet, positive_integer

Array = NDArray[np.float64]


class Simplex(PrimitiveSet):
    r"""The unit simplex :math:`\{z \ge 0 : e'z = 1\}`.

    Its affine image is the convex hull of p columns: the region of a decision maker who switches
    between p policies.

    Parameters
    ----------
    p : int
        Number of vertices.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Remark 3.1.

    Examples
    --------
    >>> from feaslearn import Simplex
    >>> Simplex(3).argmin([[0.3, 0.1, 0.2]])
    array([[0., 1., 0.]])
    """

    absorbs_offset = True

    def __init__(self, p: int) -> None:
        self.p = p

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return positive_integer(self.p, "p", "Simplex")

    def conic_form(self) -> ConicForm:
        """Return ``z >= 0`` and ``e'z - 1 = 0``."""
        p = self.dimension
        H = np.vstack([np.eye(p), np.ones(p)])
        return ConicForm(H, np.append(np.zeros(p), 1.0), (Cone("nonnegative", p), Cone("zero", 1)))

    def code(self) -> SetCode:
        """Return what the compiled kernels read."""
        return single(SIMPLEX, self.dimension)

    def check(self) -> None:
        """Refuse a wrong p; a simplex is never empty or unbounded."""
        _ = self.dimension

    def tied(self, Q: ArrayLike) -> NDArray[np.bool_]:
        """Say for each row of ``Q`` whether its least entry comes twice."""
        rows = self._rows(Q, "Q")
        limits = rows.min(axis=1) + TIE_TOLERANCE * np.abs(rows).max(axis=1)
        return np.asarray((rows <= limits[:, None]).sum(axis=1) > 1)

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the hull of the vertices with the least cost."""
        cost, margin = self._cost(q, tolerance)
        tied = np.flatnonzero(cost <= cost.min() + margin)
        return AffineImage(Simplex(len(tied)), np.eye(len(cost))[:, tied], np.zeros(len(cost)))

    def _project_rows(self, Z: Array) -> Array:
        ordered = -np.sort(-Z, axis=1)
        excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, Z.shape[1] + 1)
        last = (ordered > excess).sum(axis=1) - 1
        return np.asarray(np.maximum(Z - excess[np.arange(len(Z)), last][:, None], 0.0))

    def center(self) -> Array:
        """Return the point with equal entries."""
        return np.full(self.dimension, 1.0 / self.dimension)

    def vertices(self, limit: int = 10_000) -> Array:
        """Return the p unit vectors."""
        self._refuse_beyond(limit, self.dimension)
        return np.eye(self.dimension)
