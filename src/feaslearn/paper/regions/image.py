"""Equation (7a) at one signal: the image of a set, its nearest points, how its minimisers move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from feaslearn.arrays import Array
from feaslearn.exceptions import UnsupportedError
from feaslearn.paper.kernels import nearest_rows, projection_code
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.l2_ball import L2Ball
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import minimize_linear, nearest_by_solver, nearest_in_cone
from feaslearn.solvers.conic_form import Cone, matrices, split, turned
from feaslearn.solvers.oracle_kernels import SetCode
from feaslearn.tolerances import (
    SOLVED_DEPENDENT_TOL,
    SOLVED_ZERO,
    ZERO_MULTIPLIER,
    divisors,
    extent_of,
    powers_of_two,
    size_of,
)

NORM_ORDERS: dict[str, float] = {"l1": 1, "l2": 2, "linf": np.inf}


class Nearest(NamedTuple):
    """A latent point whose image is nearest to a target.

    ``slope`` is the derivative of the distance in the image, the one that is optimal in the dual:
    where the norm has a kink at the residual, it is not the sign pattern of the residual.
    """

    latent: Array
    slope: Array


class Image(AffineImage):
    r"""The set :math:`\{M z + m : z \in Z\}`, with distances in the norms of the losses.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.
    matrix : array-like of shape (n, p)
        The matrix M.
    offset : array-like of shape (n,), default=None
        The vector m, zero by default.

    Examples
    --------
    >>> from feaslearn import Simplex
    >>> from feaslearn.paper import Image
    >>> triangle = Image(Simplex(3), [[0.0, 2, 0], [0, 0, 2]], [1.0, 1.0])
    >>> triangle.minimize([-1.0, 0.0])
    array([3., 1.])
    >>> triangle.distance([0.0, 1.0])
    1.0
    """

    def __init__(
        self, primitive: PrimitiveSet, matrix: ArrayLike, offset: ArrayLike | None = None
    ) -> None:
        M = np.asarray(matrix, dtype=float)
        m = np.zeros(len(M)) if offset is None else np.asarray(offset, dtype=float)
        super().__init__(primitive, M, m)

    def nearest(self, x: ArrayLike, norm: str = "l2") -> Nearest:
        """Return the latent z of the point nearest to ``x``, with the slope of the distance."""
        if norm not in NORM_ORDERS:
            raise UnsupportedError(f"norm={norm!r} is not known; use 'l2', 'l1' or 'linf'")
        target, Z = np.asarray(x, dtype=float) - self.offset, self.primitive
        # Standardized, so that tolerances mean the same for small numbers as for large ones.
        unit_size = powers_of_two(extent_of(self.matrix, target))
        target, M = target / unit_size, self.matrix / unit_size
        if Z.discrete:
            points = Z.vertices()
            lengths = np.linalg.norm(points @ M.T - target, NORM_ORDERS[norm], axis=1)
            z = points[int(lengths.argmin())]
        elif norm != "l2":
            n = len(M)
            limit = np.eye(n) if norm == "l1" else np.ones((n, 1))
            measure, bounds = np.vstack([-M, M]), np.vstack([limit, limit])
            offset, cone = np.concatenate([-target, target]), Cone("nonnegative", 2 * n)
            z, dual = nearest_in_cone(Z.conic_form(), measure, bounds, offset, cone)
            return Nearest(z, dual[:n] - dual[n:])
        elif (code := projection_code(Z)) is not None:
            z = nearest_latents(code, M[None], target[None])[0]
        else:
            z = nearest_by_solver(Z.conic_form(), M, target)
        residual = M @ z - target
        if norm == "l2" and np.linalg.norm(residual) <= SOLVED_ZERO * size_of(target):
            # A residual that is only rounding has no direction: a target inside has a distance of
            # slope zero.
            residual = np.zeros_like(residual)
        return Nearest(z, slopes_of(residual[None], norm)[0])

    def distance(self, x: ArrayLike, norm: str = "l2") -> float:
        """Return the distance of ``x`` to the image in a norm."""
        gap = np.asarray(x, dtype=float) - self.at(self.nearest(x, norm).latent)
        return float(np.linalg.norm(gap, NORM_ORDERS[norm]))


def nearest_latents(
    code: SetCode,
    M: Array,
    targets: Array,
    Q: Array | None = None,
    tolerances: Array | None = None,
) -> Array:
    """Return for each sample the z whose image is nearest to a target, among minimisers of q'z."""
    found = np.empty((len(M), M.shape[2]))
    Q = np.zeros(found.shape) if Q is None else Q
    tolerances = np.zeros(len(M)) if tolerances is None else tolerances
    nearest_rows(code, M, targets, Q, tolerances, found)
    return found


def slopes_of(residuals: Array, norm: str) -> Array:
    """Return a derivative of the norm of each row of residuals; zero where there is no unique."""
    if norm == "l2":
        return residuals / divisors(np.linalg.norm(residuals, axis=1, keepdims=True))
    slopes = np.sign(residuals)
    if norm == "linf":
        slopes *= np.arange(slopes.shape[1]) == np.abs(residuals).argmax(axis=1)[:, None]
    return slopes


# How the minimiser of a linear cost over a curved set moves when the cost moves.
#
# On the manifold of active constraints the minimiser solves a smooth problem whose Lagrangian has
# the Hessian :math:`W = \sum_b \mu_b \nabla^2 f_b(z)`, with :math:`f_b(z) = \|u_b\| - t_b` for
# each active second-order cone. For a semidefinite cone with slack
# :math:`S = \sum_b \sigma_b v_b v_b'` and multipliers :math:`\sum_a \mu_a u_a u_a'`, it adds
# :math:`\sum_{ab} (2 \mu_a / \sigma_b) g_{ab} g_{ab}'` with :math:`g_{ab}` the gradient of
# :math:`u_a' S v_b`. With N a basis of the tangent space,
# :math:`dz^*/dq = -N (N'WN)^{-1} N'`.


def turn_of(Z: PrimitiveSet, q: Array, direction: Array) -> Array:
    """Return the derivative of the minimiser of ``q'z`` when q moves in a direction.

    Zero where Z is polyhedral and the minimiser unique; a curved set turns.
    """
    form, length, p = Z.conic_form(), float(np.linalg.norm(q)), len(q)
    if form.polyhedral or length == 0.0:
        return np.zeros(p)
    if isinstance(Z, L2Ball):
        return (q * (q @ direction) / length**2 - direction) / length
    solution = minimize_linear(form, q)
    active, hessian = [np.empty((0, p))], np.zeros((p, p))
    zero = ZERO_MULTIPLIER * np.abs(q).max()
    zero_size = SOLVED_DEPENDENT_TOL * size_of(solution.point)
    slack = form.H @ solution.point - form.h
    for cone, rows in form.blocks():
        H, dual = form.H[rows], solution.dual[rows]
        if cone.kind == "zero":
            active.append(H)
        elif cone.kind == "nonnegative":
            active.append(H[dual > zero])
        elif np.linalg.norm(dual) > zero:
            if cone.kind == "semidefinite":
                fixed, curved = _semidefinite(H, slack[rows], dual, zero, zero_size)
            else:
                fixed, curved = _second_order(H, slack[rows], dual, zero_size)
            active.append(fixed)
            hessian += curved
    N = null_space(np.vstack(active), rcond=SOLVED_DEPENDENT_TOL)
    curvature = N.T @ hessian @ N
    moved, *_ = np.linalg.lstsq(curvature, N.T @ direction, rcond=SOLVED_DEPENDENT_TOL)
    return np.asarray(-N @ moved)


def _second_order(H: Array, slack: Array, dual: Array, zero_size: float) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of second-order rows with such multipliers."""
    u = slack[1:]
    length = np.linalg.norm(u)
    if length <= zero_size:
        # At the apex the point cannot move.
        return H, np.zeros((H.shape[1], H.shape[1]))
    unit = u / length
    across = np.eye(len(u)) - np.outer(unit, unit)
    return (unit @ H[1:] - H[0])[None, :], dual[0] * H[1:].T @ across @ H[1:] / length


def _semidefinite(
    H: Array, slack: Array, dual: Array, zero: float, zero_size: float
) -> tuple[Array, Array]:
    """Return the active rows and the Hessian of semidefinite rows with such multipliers."""
    _, _, nullity, values, vectors = split(dual, zero)
    null, image = vectors[:, :nullity], vectors[:, nullity:]
    sizes, axes = np.linalg.eigh(null.T @ matrices(slack) @ null)
    rows = turned(np.hstack([null @ axes, image])) @ H
    # Which two columns of the turn each row of the triangle belongs to: ``first <= second``.
    second, first = np.tril_indices(len(vectors))
    bent = (first < nullity) & (second >= nullity)
    bent[bent] = sizes[first[bent]] > zero_size
    prices = values[second[bent]] / sizes[first[bent]]
    # Rows of the triangle hold the entries off the diagonal times the root of two.
    return rows[(second >= nullity) & ~bent], rows[bent].T @ (rows[bent] * prices[:, None])
