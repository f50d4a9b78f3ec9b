r"""The losses as the paper writes them, as convex programs: the second implementation.

For fixed A and b, the exact reformulation of predictability, (10a), and of suboptimality, (10b):

.. math::
    \ell^p &= \min \{ \|\gamma\| : x + \gamma = Az + b,\ Hz - h \in K,\ \lambda \in K^*,\
    A'c = H'\lambda,\ c'(x + \gamma - b) \le \lambda'h \} \\
    \ell^s &= \min \{ \|(\gamma_f, \gamma_o)\| : x + \gamma = Az + b,\ \|\gamma\| \le \gamma_f,\
    Hz - h \in K,\ \lambda \in K^*,\ A'c = H'\lambda,\ c'(x - b) - \lambda'h \le \gamma_o \}

The last row of the first is strong duality, which holds only where :math:`x + \gamma` is optimal,
and which no point satisfies strictly. Linear rows do not mind. With curved cones an error of 1e-12
in it is one of 1e-6 in :math:`\gamma`, so there it is written cone by cone, as complementary
slackness to optimal multipliers, which is the same set. In the second, the norm of :math:`\gamma`
and that of the pair are the same one, so that the row of :math:`\gamma_f` is not needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import UnsupportedError
from feaslearn.paper.losses.loss import Loss, Predictability
from feaslearn.paper.problem import Problem
from feaslearn.paper.programs import CONIC, LINEAR, in_cone, load_cvxpy, solve
from feaslearn.paper.regions.image import NORM_ORDERS
from feaslearn.sets.conic_faces import optimal_face
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import minimize_linear
from feaslearn.tolerances import SUM_ROUNDING


def losses_by_program(problem: Problem, theta: Array) -> Array:
    """Return the loss of every sample, each by a convex program.

    Slow (milliseconds a row) and obviously right: what the fast losses are held against.

    Parameters
    ----------
    problem : Problem
        The training problem.
    theta : ndarray
        Parameters of its region.

    Returns
    -------
    ndarray of shape (N,)
        The losses.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> data = paper.Data([[0.2], [0.8]], [[1, 0], [1, 0]], [[0.2, 0.8], [0.8, 0.2]], [0])
    >>> problem = paper.Problem.of(paper.Affine(Simplex(2)), data)
    >>> paper.losses_by_program(problem, np.eye(2).ravel()).round(6) + 0.0
    array([0., 2.])
    """
    features, costs, decisions, _ = problem.samples
    A, b = problem.maps(theta).at(features)
    program = LossProgram(problem.region.Z, problem.n_decisions, problem.loss)
    rows = zip(A, b, problem.loss.unit_costs(costs), decisions, strict=True)
    return np.array([program.solve(*row) for row in rows])


class LossProgram:
    """The program of one pair under a loss, compiled once."""

    def __init__(self, Z: PrimitiveSet, n: int, loss: Loss) -> None:
        if Z.discrete:
            raise UnsupportedError(f"{Z!r} holds binary points, which no convex program describes")
        cp = load_cvxpy()
        self._loss, self._form = loss, Z.conic_form()
        self._near, p = isinstance(loss, Predictability), Z.dimension
        self._A, self._q, self._cost = cp.Parameter((n, p)), cp.Parameter(p), cp.Parameter()
        self._b, self._c, self._x = (cp.Parameter(n) for _ in range(3))
        self._gamma, z, lam = cp.Variable(n), cp.Variable(p), cp.Variable(len(self._form.h))
        self._excess = cp.Variable(nonneg=True)
        moved = self._cost + self._c @ self._gamma if self._near else self._cost - self._excess
        rows = [
            self._x + self._gamma == self._A @ z + self._b,
            *in_cone(self._form, self._form.H @ z - self._form.h),
            *in_cone(self._form, lam, dual=True),
            self._q == self._form.H.T @ lam,  # q = A'c
            moved <= lam @ self._form.h,  # cost = c'(x - b)
        ]
        self._program = self._stated(self._gamma, rows)

    def _stated(self, gamma: Any, rows: list[Any]) -> Any:
        """Return the program that minimises the norm of a correction."""
        cp, loss = load_cvxpy(), self._loss
        size = gamma if self._near else cp.hstack([gamma, self._excess])
        order = {"l1": 1, "l2": 2, "linf": "inf"}[loss.norm]
        measure = cp.sum_squares(size) if loss.is_squared_l2 else cp.norm(size, order)
        return cp.Problem(cp.Minimize(measure), rows)

    def solve(self, A: Array, b: Array, c: Array, x: Array) -> float:
        """Return the loss of one pair."""
        # The minimisers do not depend on the unit of money, but the tolerances of solvers do.
        unit = float(np.abs(c).max()) or 1.0 if self._near else 1.0
        c = c / unit
        q = A.T @ c
        # A cost at right angles to the region is no cost; rounding alone must not make it one.
        q[np.abs(q) <= SUM_ROUNDING * (np.abs(A).T @ np.abs(c))] = 0.0
        self._A.value, self._b.value, self._x.value = A, b, x
        self._q.value, self._c.value, self._cost.value = q, c, c @ (x - b)
        program, gamma = self._program, self._gamma
        if self._near and not self._form.polyhedral:
            gamma = load_cvxpy().Variable(len(x))
            program = self._stated(gamma, self._complementary(gamma, q))
        linear = self._form.polyhedral and self._loss.norm != "l2"
        solve(program, "loss", LINEAR if linear else CONIC)
        found = gamma.value if self._near else np.append(gamma.value, self._excess.value)
        length = float(np.linalg.norm(found, NORM_ORDERS[self._loss.norm]))
        return length * length if self._loss.is_squared_l2 else length

    def _complementary(self, gamma: Any, q: Array) -> list[Any]:
        """Return the rows of predictability, strong duality written as complementary slackness."""
        form, (point, basis) = self._form, (np.zeros(len(q)), np.eye(len(q)))
        if q.any():
            point, basis, form = optimal_face(form, minimize_linear(form, q), q)
        if not basis.shape[1]:
            return [self._x + gamma == self._A @ point + self._b]
        w = load_cvxpy().Variable(basis.shape[1])
        image = self._A @ (point + basis @ w) + self._b
        return [self._x + gamma == image, *in_cone(form, form.H @ w - form.h)]
