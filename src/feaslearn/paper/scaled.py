r"""Proposition 3.7 (Section 3.3), equation (13): a set that is scaled and moved, to optimality.

With :math:`A(s) = \alpha I`, :math:`\alpha \ge 0`, and :math:`\zeta_i = \alpha z_i` the training
problem is convex:

.. math::
    \min_{\alpha \ge 0, b, \gamma, \zeta, \lambda} \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
    & x_i + \gamma_i = \zeta_i + b(s_i), \quad H \zeta_i - \alpha h \in K, \\
    & \alpha c_i - H'\lambda_i = 0, \quad \lambda_i \in K^*, \quad
      c_i'(x_i + \gamma_i - b(s_i)) - \lambda_i'h \le 0

*What is solved here.* The rows of :math:`\lambda` say that :math:`\zeta_i` is optimal in
:math:`\alpha Z`. Which points are optimal does not depend on the scale, so they say
:math:`\zeta_i \in \alpha F_i` with the face :math:`F_i = \arg\min_{z \in Z} c_i'z`, which is known
before training. Where the minimiser :math:`z_i^*` is unique, :math:`\zeta_i = \alpha z_i^*`, and
squared predictability is least squares of x on :math:`\alpha z^* + b(s)` with one coefficient that
is not negative, in closed form. Ties, other norms and suboptimality are one program in CVXPY.

Suboptimality ("in a similar way", the paper says) has :math:`\zeta_i \in \alpha Z` and the excess
cost :math:`J_i \ge c_i'(x_i - b(s_i)) - \alpha \min_{z \in Z} c_i'z`, :math:`J_i \ge 0`.

Z must be compact: otherwise :math:`\alpha = 0` leaves its recession cone, and not a point. The
linear policy :math:`\hat x(s) = b(s)` is the same without a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.paper.descent import least_squares
from feaslearn.paper.losses import Suboptimality
from feaslearn.paper.problem import Clock, Found, OutOfTime, Problem, Status
from feaslearn.paper.programs import CONIC, LINEAR, in_cone, load_cvxpy, solve
from feaslearn.paper.regions import Affine, Maps, Scaled
from feaslearn.tolerances import ROUNDING, SUM_ROUNDING

#: An optimum with ties whose returned decisions lose this many times what they lose when each tied
#: sample counts with its first minimiser is not kept: a region in which everything ties explains
#: any decision and predicts none.
DEGENERATE = 2.0


def convex(problem: Problem, *, max_seconds: float | None = None) -> Found:
    r"""Return the global optimum of a scaled set, or of the linear policy.

    Parameters
    ----------
    problem : Problem
        With the region ``Scaled(Z)``, or ``Affine(Simplex(1))`` for the linear policy.
    max_seconds : float, default=None
        Limit on the wall time. Where it ends the program, the least-squares fit is returned.

    Returns
    -------
    Found
        With its lower bound. The status is "converged" where the optimum ties nearly everywhere,
        and the best fit by first minimisers was kept instead.

    Examples
    --------
    >>> import numpy as np
    >>> import feaslearn.paper as paper
    >>> from feaslearn import L1Ball
    >>> costs = np.array([[0.3, -0.9], [0.8, 0.1], [-0.2, 0.7], [-0.6, 0.5]])
    >>> decisions = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> data = paper.Data(np.zeros((4, 0)), decisions, costs)
    >>> found = paper.convex(paper.Problem.of(paper.Scaled(L1Ball(2)), data))
    >>> found.status, found.theta.round(6)
    ('optimal', array([1., 1., 1.]))
    """
    region, loss = problem.region, problem.loss
    policy = isinstance(region, Affine) and region.Z.dimension == 1 and region.Z.absorbs_offset
    if not isinstance(region, Scaled) and not policy:
        raise UnsupportedError(
            f"convex: {region!r} is not convex in its parameters (Scaled and Affine(Simplex(1)) "
            "are)"
        )
    squared = loss.is_squared_l2 and not isinstance(loss, Suboptimality)
    with Clock(max_seconds) as clock:
        points, tied = np.zeros_like(problem.samples.costs), np.zeros(problem.n_samples, dtype=bool)
        if not policy:
            points, tied = region.Z.argmin_and_ties(problem.samples.costs)
        theta = _least_squares(problem, points)
        value = bound = problem.value(theta)
        status: Status = "optimal"
        details = {"tied": float(tied.sum())}
        if not squared or tied.any():
            try:
                best, bound = _by_program(problem, points, tied, clock)
            except OutOfTime:
                return Found(problem, theta, value, clock.status, None, 1, clock.seconds)
            if squared and problem.returned_loss(best) > DEGENERATE * problem.returned_loss(theta):
                status = "converged"
            else:
                theta, value = best, problem.value(best)
    bound = min(bound, value)
    return Found(problem, theta, value, status, bound, 1, clock.seconds, [], details)


def _theta(problem: Problem, alpha: float, b: Array) -> Array:
    A = np.zeros((*b.shape, problem.region.Z.dimension))
    if isinstance(problem.region, Scaled):
        A[0] = alpha * np.eye(b.shape[1])
    return problem.region.theta_of(Maps(A, b))


def _least_squares(problem: Problem, points: Array) -> Array:
    """Return the best fit of ``alpha z* + b(s)`` with alpha not negative."""
    # What features leave of x, regressed on what they leave of z*, is the coefficient of z*.
    features, _, x, weights = problem.samples
    of_x, of_z = least_squares(features, x, weights), least_squares(features, points, weights)
    left_x, left_z = x - features @ of_x, points - features @ of_z
    size = float(weights @ (left_z**2).sum(axis=1))
    alpha = 0.0
    if size > SUM_ROUNDING * float(weights @ (points**2).sum(axis=1)):
        alpha = max(0.0, float(weights @ (left_x * left_z).sum(axis=1)) / size)
    return _theta(problem, alpha, of_x - alpha * of_z)


def _by_program(problem: Problem, points: Array, tied: Mask, clock: Clock) -> tuple[Array, float]:
    """Return the optimum of equation (13), or of its suboptimality form, and its value."""
    cp, loss = load_cvxpy(), problem.loss
    features, costs, decisions, weights = problem.samples
    # Decisions of size one, so that tolerances mean the same in any unit.
    spread, size = float(np.std(decisions)), float(np.abs(decisions).max())
    unit = spread if spread > ROUNDING * size else size or 1.0
    x, N = decisions / unit, problem.n_samples
    alpha = cp.Variable(nonneg=True)
    b = cp.Variable((problem.n_features, problem.n_decisions))
    zeta, rows = alpha * points, list[Any]()
    if isinstance(loss, Suboptimality):
        if isinstance(problem.region, Scaled):
            zeta, form = cp.Variable(points.shape), problem.region.Z.conic_form()
            rows += in_cone(form, zeta @ form.H.T - alpha * np.tile(form.h, (N, 1)))
        costs = loss.unit_costs(costs)
        least = np.einsum("ij,ij->i", costs, points)
        J = cp.Variable((N, 1), nonneg=True)
        rows.append(J[:, 0] >= cp.sum(cp.multiply(costs, x - features @ b), axis=1) - alpha * least)
        gamma = cp.hstack([zeta + features @ b - x, J])
    else:
        if tied.any():
            zeta = cp.Variable(points.shape)
            rows.append(zeta[np.flatnonzero(~tied)] == alpha * points[~tied])
        for i in np.flatnonzero(tied):
            face = problem.region.Z.face(costs[i])
            form, nu = face.primitive.conic_form(), cp.Variable((1, face.primitive.dimension))
            rows += in_cone(form, nu @ form.H.T - alpha * form.h[None])
            rows.append(zeta[i] == (nu @ face.matrix.T)[0] + alpha * face.offset)
        gamma = zeta + features @ b - x
    if loss.is_squared_l2:
        objective = cp.sum_squares(cp.multiply(np.sqrt(weights)[:, None], gamma))
    else:
        norms = cp.norm(gamma, {"l1": 1, "l2": 2, "linf": "inf"}[loss.norm], axis=1)
        objective = cp.sum(cp.multiply(weights, norms))
    linear = problem.region.Z.conic_form().polyhedral and loss.norm != "l2"
    program = cp.Problem(cp.Minimize(objective), rows)
    solve(program, "scaled set", LINEAR if linear else CONIC, clock)
    theta = _theta(problem, unit * float(alpha.value), unit * b.value)
    return theta, float(objective.value) * unit ** (2 if loss.is_squared_l2 else 1)
