"""Half-spaces of a polytope, and hulls of points that may lie in a subspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls
from scipy.spatial import ConvexHull, KDTree

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import TooManyVerticesError
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.tolerances import FEASIBILITY_TOL, MOST_VERTICES, SAME_TOL, divisors, size_of

#: A hull of N points in d dimensions can have about ``N**(d // 2)`` facets; more are not tried.
MOST_FACETS = 200_000_000
#: Steps of nonnegative least squares for each column.
PIVOTS = 100


@dataclass(frozen=True, eq=False)
class HalfSpaces:
    r"""The polyhedron :math:`\{x : A x \le b,\; E x = e\}`.

    Rows have Euclidean norm one.
    """

    A: Array
    b: Array
    E: Array
    e: Array

    @classmethod
    def from_conic(cls, form: ConicForm, matrix: Array, offset: Array) -> HalfSpaces:
        """Return the half-spaces of ``{M z + m : H z - h in K}`` for an invertible M."""
        H = np.linalg.solve(matrix.T, form.H.T).T
        h = form.h + H @ offset
        equality = form.equality_rows
        norms = np.linalg.norm(H, axis=1)
        kept = norms > 0.0
        H, h = H[kept] / norms[kept, None], h[kept] / norms[kept]
        equality = equality[kept]
        return cls(-H[~equality], -h[~equality], H[equality], h[equality])

    def meeting(self, other: HalfSpaces) -> HalfSpaces:
        """Return the points that satisfy the rows of both."""
        pairs = ((self.A, other.A), (self.b, other.b), (self.E, other.E), (self.e, other.e))
        return HalfSpaces(*(np.concatenate(pair) for pair in pairs))

    def form(self) -> ConicForm:
        """Return the rows as a conic form."""
        cones = (Cone("nonnegative", len(self.A)), Cone("zero", len(self.E)))
        return ConicForm(np.vstack([-self.A, self.E]), np.concatenate([-self.b, self.e]), cones)

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the vertices as rows; refuse more than ``limit``, or a set without limits."""
        from feaslearn.sets.vertex_enumeration import vertices_of_form

        return vertices_of_form(self.form(), limit, "the region")

    def contains(self, X: ArrayLike, tolerance: float = 1e-7) -> Mask:
        """Say for each row of ``X`` whether it satisfies all rows to an absolute tolerance."""
        rows = np.atleast_2d(np.asarray(X, dtype=float))
        inside = (rows @ self.A.T <= self.b + tolerance).all(axis=1)
        on_equalities = (np.abs(rows @ self.E.T - self.e) <= tolerance).all(axis=1)
        return np.asarray(inside & on_equalities)


def _flat(points: Array) -> tuple[Array, Array, Array]:
    """Return the centre, a basis of the affine hull of the points, and its complement."""
    center = points.mean(axis=0)
    _, singular, Vt = np.linalg.svd(points - center, full_matrices=True)
    rank = int((singular > SAME_TOL * size_of(points) * np.sqrt(len(points))).sum())
    return center, Vt[:rank], Vt[rank:]


def flat_dimension(points: Array) -> int:
    """Return the dimension of the affine hull of the points."""
    return len(_flat(points)[1])


def distinct(points: Array) -> Array:
    """Return the rows of ``points`` without those that repeat an earlier one up to rounding."""
    scaled = points / size_of(points)
    # Most repetitions fall into one cell of a grid; the tree finds those across its lines.
    _, first = np.unique(scaled.round(10), axis=0, return_index=True)
    kept = np.sort(first)
    pairs = KDTree(scaled[kept]).query_pairs(SAME_TOL, output_type="ndarray")
    return np.asarray(points[np.delete(kept, pairs[:, 1])])


def extreme_points(points: Array) -> Array:
    """Return the rows of ``points`` that are vertices of their convex hull, in their order."""
    points = distinct(points)
    center, basis, _ = _flat(points)
    if len(points) == len(basis) + 1:
        return points
    inner = (points - center) @ basis.T
    if len(basis) == 1:
        ends = np.sort([int(inner[:, 0].argmin()), int(inner[:, 0].argmax())])
        return np.asarray(points[ends])
    if not may_have_too_many_facets(*inner.shape):
        return np.asarray(points[np.sort(ConvexHull(inner).vertices)])
    extreme = [_sticks_out(inner, i) for i in range(len(inner))]
    return np.asarray(points[extreme])


def may_have_too_many_facets(count: int, d: int) -> bool:
    """Say whether the hull of so many points in d dimensions is not worth trying."""
    return bool(count ** (d // 2) > MOST_FACETS)


def _sticks_out(inner: Array, i: int) -> bool:
    """Say whether a point lies outside the hull of all others."""
    others = np.delete(inner, i, axis=0).T
    away = others @ nearest_mixture(others, inner[i]) - inner[i]
    return bool(np.linalg.norm(away) > FEASIBILITY_TOL * np.abs(inner).max())


def nearest_mixture(points: Array, target: Array) -> Array:
    """Return the weights of the mixture of points (columns) that is nearest to a target."""
    # Where u >= 0 has the least |D u|^2 + (e'u - 1)^2, u / e'u has the least |D w|.
    away = points - target[:, None]
    rows = np.vstack([away / divisors(np.abs(away).max()), np.ones(points.shape[1])])
    u = nnls(rows, np.eye(len(rows))[-1], maxiter=PIVOTS * rows.shape[1])[0]
    return np.asarray(u / u.sum())


def half_spaces_of_points(points: Array) -> HalfSpaces:
    """Return the half-spaces of the convex hull of points, with equalities where it is inner."""
    center, basis, complement = _flat(points)
    inner = (points - center) @ basis.T
    if len(basis) == 0:
        rows, limits = np.empty((0, 0)), np.empty(0)
    elif len(basis) == 1:
        rows = np.array([[1.0], [-1.0]])
        limits = np.array([inner.max(), -inner.min()])
    elif may_have_too_many_facets(*inner.shape):
        raise TooManyVerticesError(
            f"the hull of {len(inner)} points in {len(basis)} dimensions may have too many facets "
            "to list; describe the region by the rows of its primitive set and its map"
        )
    else:
        # Facets with more than d corners come in pieces.
        equations = distinct(ConvexHull(inner).equations)
        rows, limits = equations[:, :-1], -equations[:, -1]
    A = rows @ basis
    return HalfSpaces(A, limits + A @ center, complement, complement @ center)
