r"""Proposition "Tractable convex reformulation" (Section 3.3), equation (8): a scaled set.

With :math:`A(s) = \alpha I`, :math:`\alpha \ge 0`, and :math:`\zeta_i = \alpha z_i`, training is convex:

.. math::
    \min_{\alpha \ge 0, b, \gamma, \zeta, \lambda} \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
    & x_i + \gamma_i = \zeta_i + b(s_i), \quad H \zeta_i - \alpha h \in K, \\
    & \alpha c_i - H'\lambda_i = 0, \quad \lambda_i \in K^*, \quad
      c_i'(x_i + \gamma_i - b(s_i)) - \lambda_i'h \le 0

*What is solved here.* The rows of :math:`\lambda` say that :math:`\zeta_i` is optimal in
:math:`\alpha Z`. Which points are optimal does not depend on the scale, so they are
:math:`\zeta_i \in \alpha F_i` for the face :math:`F_i = \arg\min_{z \in Z} c_i'z`, which is known
before training. Where the minimiser :math:`z_i^*` is unique, :math:`\zeta_i = \alpha z_i^*`: squared
predictability is least squares of x on :math:`\alpha z^* + b(s)` with one coefficient that is not
negative, in closed form. Ties, other norms and suboptimality are one program in CVXPY.
Suboptimality ("in a similar way", the paper says) has :math:`\zeta_i \in \alpha Z` and the excess cost
:math:`J_i \ge c_i'(x_i - b(s_i)) - \alpha \min_{z \in Z} c_i'z`.

Z must be compact: otherwise :math:`\alpha = 0` leaves its recession cone, and not a point. The linear
policy :math:`\hat x(s) = b(s)` is the case without a set.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.paper.losses import Suboptimality
from feaslearn.paper.losses.programs import CONIC, LINEAR, QUADRATIC, in_cone, load_cvxpy, solve
from feaslearn.paper.problem import Clock, Found, OutOfTime, Problem, Status
from feaslearn.paper.regions import Affine, Maps, Scaled
from feaslearn.paper.regions.image import face_of
from feaslearn.paper.starts import least_squares
from feaslearn.tolerances import SUM_ROUNDING, spread_or_size

#: An optimum with ties whose returned decisions lose this many times what they lose when each tied
#: sample counts with its first minimiser is not kept: a region in which everything ties explains any
#: decision and predicts none.
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
    if not isinstance(region, Scaled) and not _is_policy(problem):
        raise UnsupportedError(
            f"convex: {region!r} is not convex in its parameters (Scaled and Affine(Simplex(1)) "
            "are)"
        )
    squared = loss.is_squared_l2 and not isinstance(loss, Suboptimality)
    with Clock(max_seconds) as clock:
        points, tied = _minimizers(problem)
        theta, details = _least_squares(problem, points), {"tied": float(tied.sum())}
        status: Status = "optimal"
        bound: float | None = None
        if not squared or tied.any():
            try:
                best, bound = _by_program(problem, points, tied, clock)
            except OutOfTime:
                return _found(problem, theta, clock.status, None, clock, details)
            if squared and problem.returned_loss(best) > DEGENERATE * problem.returned_loss(theta):
                status = "converged"
            else:
                theta = best
    return _found(problem, theta, status, np.inf if bound is None else bound, clock, details)


def _found(
    problem: Problem,
    theta: Array,
    status: Status,
    bound: float | None,
    clock: Clock,
    details: dict[str, float],
) -> Found:
    """Measure parameters by the loss itself; a bound is never above it."""
    value = problem.value(theta)
    bound = None if bound is None else min(bound, value)
    return Found(problem, theta, value, status, bound, 1, clock.seconds, [], details)


def _is_policy(problem: Problem) -> bool:
    """Return whether the class is the linear policy: the image of one point."""
    Z = problem.region.Z
    return isinstance(problem.region, Affine) and Z.dimension == 1 and Z.absorbs_offset


def _minimizers(problem: Problem) -> tuple[Array, Mask]:
    """Return the first minimiser of each sample in Z, and where there are several."""
    costs = problem.samples.costs
    if isinstance(problem.region, Scaled):
        return problem.region.Z.argmin_and_ties(costs)
    return np.zeros_like(costs), np.zeros(len(costs), dtype=bool)


def _theta(problem: Problem, alpha: float, b: Array) -> Array:
    A = np.zeros((*b.shape, problem.region.Z.dimension))
    if isinstance(problem.region, Scaled):
        A[0] = alpha * np.eye(b.shape[1])
    return problem.region.theta_of(Maps(A, b))


def _least_squares(problem: Problem, points: Array) -> Array:
    """Return the best fit of ``alpha z* + b(s)`` with alpha not negative, first minimisers taken."""
    # What features leave of x, regressed on what they leave of z*, is the coefficient of z*.
    features, _, x, weights = problem.samples
    z = np.where(np.isnan(x), np.nan, points)
    of_x, of_z = least_squares(features, x, weights), least_squares(features, z, weights)
    left_x, left_z = np.nan_to_num(x - features @ of_x), np.nan_to_num(z - features @ of_z)
    size = float(weights @ (left_z**2).sum(axis=1))
    alpha = 0.0
    if size > SUM_ROUNDING * float(weights @ (points**2).sum(axis=1)):
        alpha = max(0.0, float(weights @ (left_x * left_z).sum(axis=1)) / size)
    return _theta(problem, alpha, of_x - alpha * of_z)


def _by_program(problem: Problem, points: Array, tied: Mask, clock: Clock) -> tuple[Array, float]:
    """Return the optimum of equation (8), or of its suboptimality form, and its value."""
    cp, loss = load_cvxpy(), problem.loss
    features, costs, decisions, weights = problem.samples
    (N, n), k = decisions.shape, features.shape[1]
    scaled, priced = isinstance(problem.region, Scaled), isinstance(loss, Suboptimality)
    # Decisions of size one, so that tolerances mean the same in any unit.
    unit = spread_or_size(decisions, float(np.nanstd(decisions)))
    hidden = np.isnan(decisions)
    x: Any = np.nan_to_num(decisions) / unit
    alpha = cp.Variable(nonneg=True) if scaled else cp.Constant(0.0)
    b = cp.Variable((k, n))
    zeta, rows = alpha * points, list[Any]()
    if priced and scaled:
        zeta, form = cp.Variable((N, n)), problem.region.Z.conic_form()
        rows += in_cone(form, zeta @ form.H.T - alpha * np.tile(form.h, (N, 1)))
    elif tied.any():
        zeta, rows = _on_faces(problem, alpha, points, tied)
    if not priced:
        residual = cp.multiply(~hidden, zeta + features @ b - x)
    else:
        if hidden.any():
            # Decisions that were not observed are free: they count in both losses.
            x = x + cp.multiply(hidden, cp.Variable((N, n)))
        costs = loss.unit_costs(costs)
        least = np.einsum("ij,ij->i", costs, points)
        J = cp.Variable(N, nonneg=True)
        rows.append(J >= cp.sum(cp.multiply(costs, x - features @ b), axis=1) - alpha * least)
        residual = cp.hstack([zeta + features @ b - x, cp.reshape(J, (N, 1), order="C")])
    if loss.is_squared_l2:
        objective = cp.sum_squares(cp.multiply(np.sqrt(weights)[:, None], residual))
    else:
        order = {"l1": 1, "l2": 2, "linf": "inf"}[loss.norm]
        objective = weights @ cp.norm(residual, order, axis=1)
    linear = (not scaled or problem.region.Z.conic_form().polyhedral) and (
        loss.norm != "l2" or loss.squared
    )
    attempts = (QUADRATIC if loss.is_squared_l2 else LINEAR) if linear else CONIC
    program = cp.Problem(cp.Minimize(objective), rows)
    solve(program, "scaled set", attempts, clock)
    theta = _theta(problem, unit * float(alpha.value), unit * b.value)
    return theta, float(objective.value) * unit ** (2 if loss.is_squared_l2 else 1)


def _on_faces(problem: Problem, alpha: Any, points: Array, tied: Mask) -> tuple[Any, list[Any]]:
    """Return ``zeta`` with tied samples anywhere on their faces, and the rows that say so."""
    cp, rows = load_cvxpy(), []
    zeta = cp.Variable(points.shape)
    rows.append(zeta[np.flatnonzero(~tied)] == alpha * points[~tied])
    for i in np.flatnonzero(tied):
        face = face_of(problem.region.Z, problem.samples.costs[i])
        form, nu = face.Z.conic_form(), cp.Variable(face.Z.dimension)
        rows += in_cone(form, form.H @ nu - alpha * form.h)
        rows.append(zeta[i] == face.matrix @ nu + alpha * face.offset)
    return zeta, rows
