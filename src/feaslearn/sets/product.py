"""Cartesian products of primitive sets: what Minkowski sums are images of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from feaslearn.arrays import Array, Mask
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic_form import ConicForm, stack
from feaslearn.solvers.oracle_kernels import SetCode, join
from feaslearn.tolerances import INSIDE_TOL, MOST_VERTICES


@dataclass(eq=False, repr=False)
class Product(PrimitiveSet):
    r"""The Cartesian product :math:`Z_1 \times \dots \times Z_m`.

    Its image under ``[E_1, ..., E_m]`` is the Minkowski sum of the images of its factors.

    Parameters
    ----------
    sets : sequence of PrimitiveSet
        The factors; a point holds their entries one after the other.

    Examples
    --------
    >>> from feaslearn import Box, Simplex
    >>> from feaslearn.sets.product import Product
    >>> Product([Simplex(2), Box(1)]).argmin([[2.0, 1.0, -1.0]])
    array([[0., 1., 1.]])
    """

    sets: Sequence[PrimitiveSet]

    def _split(self, rows: Array) -> list[Array]:
        stops = np.cumsum([factor.dimension for factor in self.sets])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(rows, stops, axis=-1)]

    @property
    def discrete(self) -> bool:
        """Whether the factors hold only enumerated points."""
        return self.sets[0].discrete

    @property
    def dimension(self) -> int:
        """Number of entries of a point: the sum over the factors."""
        return sum(factor.dimension for factor in self.sets)

    def conic_form(self) -> ConicForm:
        """Return the factors' rows, block by block."""
        return stack([factor.conic_form() for factor in self.sets])

    def code(self) -> SetCode | None:
        """Return what the compiled kernels read, if they serve every factor."""
        codes = [factor.code() for factor in self.sets]
        known = [code for code in codes if code is not None]
        return join(known) if len(known) == len(codes) else None

    def check(self) -> None:
        """Refuse the first factor that is empty, unbounded or wrong."""
        for factor in self.sets:
            factor.check()

    def _argmin_rows(self, Q: Array) -> Array:
        if self.code() is not None:
            return super()._argmin_rows(Q)
        parts = zip(self.sets, self._split(Q), strict=True)
        return np.hstack([factor.argmin(part) for factor, part in parts])

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return the product of the factors' faces."""
        cost, margin = self._cost(q, tolerance)
        parts = zip(self.sets, self._split(cost), strict=True)
        faces = [factor.face(part, margin) for factor, part in parts]
        wide = [face for face in faces if not face.is_point]
        offset = np.concatenate([f.center() if f.is_point else f.offset for f in faces])
        if not wide:
            return AffineImage.point(offset)
        blocks = [face.matrix[:, :0] if face.is_point else face.matrix for face in faces]
        return AffineImage(Product([face.primitive for face in wide]), block_diag(*blocks), offset)

    def contains(self, Z: ArrayLike, tolerance: float = INSIDE_TOL) -> Mask:
        """Say for each row of ``Z`` whether each part lies in its factor."""
        parts = zip(self.sets, self._split(self._rows(Z, "Z")), strict=True)
        inside = [factor.contains(part, tolerance) for factor, part in parts]
        return np.asarray(np.all(inside, axis=0))

    def center(self) -> Array:
        """Return the factors' centres."""
        return np.concatenate([factor.center() for factor in self.sets])

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return every combination of the factors' vertices, the last factor moving fastest."""
        lists = [factor.vertices(limit) for factor in self.sets]
        self._refuse_beyond(limit, prod(len(points) for points in lists))
        grid = np.indices([len(points) for points in lists])
        return np.hstack([points[i.ravel()] for points, i in zip(lists, grid, strict=True)])
