"""Images of primitive sets under affine maps: faces, and learned regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.sets.half_spaces import (
    HalfSpaces,
    distinct,
    extreme_points,
    flat_dimension,
    half_spaces_of_points,
    nearest_mixture,
)
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.solvers.oracle_kernels import L2_BALL
from feaslearn.tolerances import (
    ACCEPT_TOL,
    EXACT_TOL,
    MOST_VERTICES,
    ROUNDING,
    extent_of,
    powers_of_two,
)

if TYPE_CHECKING:
    from feaslearn.sets.primitive_set import PrimitiveSet, Ties


#: A map whose condition number is below this is inverted.
INVERTIBLE = 1e10


@dataclass(frozen=True, eq=False)
class AffineImage:
    r"""The set :math:`\{M z + m : z \in Z\}`.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.
    matrix : ndarray of shape (n, p)
        The matrix M.
    offset : ndarray of shape (n,)
        The vector m.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.sets import AffineImage, Simplex
    >>> triangle = AffineImage(Simplex(3), np.array([[0.0, 2, 0], [0, 0, 2]]), np.ones(2))
    >>> triangle.minimize([-1.0, 0.0])
    array([3., 1.])
    >>> triangle.distance([0.0, 1.0])
    1.0
    """

    primitive: PrimitiveSet
    matrix: Array
    offset: Array

    def __post_init__(self) -> None:
        try:
            matrix = np.ascontiguousarray(self.matrix, dtype=float)
            offset = np.ascontiguousarray(self.offset, dtype=float)
        except (TypeError, ValueError):
            raise DataError("AffineImage: matrix and offset must hold numbers") from None
        p = self.primitive.dimension
        if matrix.ndim != 2 or matrix.shape[1] != p or offset.shape != matrix.shape[:1]:
            raise DataError(
                f"AffineImage: matrix and offset have shapes {matrix.shape} and {offset.shape}; "
                f"expected (n, {p}) and (n,) for {self.primitive!r}"
            )
        for name, values in (("matrix", matrix), ("offset", offset)):
            if not np.isfinite(values).all():
                raise DataError(f"AffineImage: {name} holds NaN or infinite values")
            object.__setattr__(self, name, values)

    @classmethod
    def point(cls, value: Array) -> Self:
        """Return the set that holds one point."""
        from feaslearn.sets.simplex import Simplex

        column = np.ascontiguousarray(value, dtype=float)[:, None]
        return cls(Simplex(1), column, np.zeros(len(column)))

    @property
    def n(self) -> int:
        """Number of entries of a point of the image."""
        return len(self.offset)

    @property
    def is_point(self) -> bool:
        """Whether the image is a single point by its description."""
        return self.primitive.dimension == 1 and self.primitive.absorbs_offset

    def minimize(self, cost: ArrayLike, ties: Ties = "first") -> Array:
        """Return a point of least cost ``c'x``."""
        q = self.matrix.T @ self._vector(cost, "cost")
        return self.at(self.primitive.argmin(q, ties=ties))

    def support(self, direction: ArrayLike) -> float:
        """Return the support function ``max d'x`` over the image."""
        d = self._vector(direction, "direction")
        return float(d @ self.offset - self.primitive.minimum(-(self.matrix.T @ d))[0])

    def optimal_face(self, cost: ArrayLike) -> Self:
        """Return all points of least cost."""
        q = self.matrix.T @ self._vector(cost, "cost")
        face = self.primitive.face(q)
        offset = self.matrix @ face.offset + self.offset
        return type(self)(face.primitive, self.matrix @ face.matrix, offset)

    def nearest_latent(self, x: ArrayLike) -> Array:
        """Return the latent z of the point nearest to ``x``; NaN entries of x do not count."""
        target = self._vector(x, "x", allow_nan=True) - self.offset
        # Standardized, so that tolerances mean the same for small numbers as for large ones.
        unit_size = powers_of_two(extent_of(self.matrix, np.nan_to_num(target)))
        target, M = target / unit_size, self.matrix / unit_size
        seen = ~np.isnan(target)
        if not seen.all():
            target, M = np.where(seen, target, 0.0), np.where(seen[:, None], M, 0.0)
        if self.primitive.discrete:
            points = self.primitive.vertices()
            best = np.linalg.norm(points @ M.T - target, axis=1).argmin()
            return np.asarray(points[best])
        code = self.primitive.code()
        if code is not None and L2_BALL not in code.kinds:
            return self._nearest_mixture(M, target)
        return nearest_by_solver(self.primitive.conic_form(), M, target)

    def _nearest_mixture(self, M: Array, target: Array) -> Array:
        """Mix corners: one is added while it is nearer along the way that is left."""
        corners = self.primitive.argmin(-(M.T @ target))[None]
        while True:
            z = nearest_mixture(M @ corners.T, target) @ corners
            away = M @ z - target
            corner = self.primitive.argmin(M.T @ away)
            gain = away @ M @ (z - corner)
            if gain <= EXACT_TOL * np.linalg.norm(away) or (corners == corner).all(axis=1).any():
                return np.asarray(z)
            corners = np.vstack([corners, corner])

    def at(self, z: Array) -> Array:
        """Return the image of a latent point."""
        return np.asarray(self.matrix @ z + self.offset)

    def distance(self, x: ArrayLike) -> float:
        """Return the distance of ``x`` to the image; NaN entries do not count."""
        target = self._vector(x, "x", allow_nan=True)
        gap = np.nan_to_num(target - self.at(self.nearest_latent(target)))
        return float(np.linalg.norm(gap))

    def project(self, X: ArrayLike) -> Array:
        """Return the Euclidean projection of a point or of each row of ``X``."""
        rows = np.atleast_2d(np.asarray(X, dtype=float))
        return np.array([self.at(self.nearest_latent(x)) for x in rows]).reshape(np.shape(X))

    def contains(self, X: ArrayLike, tolerance: float = 1e-7) -> Mask:
        """Say for each row of ``X`` whether it lies in the image.

        The tolerance is relative to the size of the image; of a single point, which may be near
        zero by a solver's account, the last digits do not count either.
        """
        rows = np.atleast_2d(np.asarray(X, dtype=float))
        size = extent_of(self.matrix, ACCEPT_TOL * self.offset)
        allowed = max(tolerance * size, ROUNDING * self.is_point)
        return np.array([self.distance(x) <= allowed for x in rows])

    def bounding_box(self) -> tuple[Array, Array]:
        """Return the least and the greatest value of each coordinate."""
        rows = np.vstack([self.matrix, -self.matrix])
        least = self.primitive.minimum(rows)
        return least[: self.n] + self.offset, self.offset - least[self.n :]

    def center(self) -> Array:
        """Return the image of the primitive set's centre."""
        return self.at(self.primitive.center())

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the vertices of the image as rows (images of vertices that are extreme).

        All points of the image where the primitive set is discrete.
        """
        if self.n == 1 and not self.primitive.discrete:
            return distinct(np.array(self.bounding_box()))
        unit_size = powers_of_two(extent_of(self.matrix, self.offset))
        corners = self.primitive.vertices(limit)
        points = corners @ (self.matrix / unit_size).T + self.offset / unit_size
        if self.primitive.discrete:
            points = distinct(points)
        elif flat_dimension(points) != flat_dimension(corners):
            # Otherwise the map folds nothing and keeps every vertex.
            points = extreme_points(points)
        return np.asarray(unit_size * points)

    def halfspaces(self, limit: int = MOST_VERTICES) -> HalfSpaces:
        """Return the image, or its hull where it is discrete, as ``A x <= b, E x = e``.

        Read off the primitive's rows where the map can be inverted, otherwise from the vertices.
        """
        square = self.matrix.shape[0] == self.matrix.shape[1]
        if square and np.linalg.cond(self.matrix) < INVERTIBLE:
            form = self.primitive.conic_form()
            if form.polyhedral:
                return HalfSpaces.from_conic(form, self.matrix, self.offset)
        unit_size = powers_of_two(extent_of(self.matrix, self.offset))
        rows = half_spaces_of_points(self.vertices(limit) / unit_size)
        return HalfSpaces(rows.A, unit_size * rows.b, rows.E, unit_size * rows.e)

    def _vector(self, values: ArrayLike, name: str, allow_nan: bool = False) -> Array:
        vector = np.asarray(values, dtype=float)
        if vector.shape != (self.n,):
            raise DataError(f"{name} has shape {vector.shape}; expected ({self.n},)")
        bad = np.isinf(vector) if allow_nan else ~np.isfinite(vector)
        if bad.any():
            raise DataError(f"{name}[{int(np.argmax(bad))}] is {vector[np.argmax(bad)]}")
        return vector
