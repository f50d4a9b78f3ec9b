r"""Algorithm 2 as printed (Section 3.2): two weights of slacks, and an offset that is solved for.

Descent is in A alone. The offset b joins z and :math:`\lambda` in the inner program, which couples
the samples. :math:`\epsilon_1` weighs the slack of the equality and :math:`\epsilon_2` that of the
dual row; each is doubled when the sum of squares of its own slack changes by less than
:math:`0.01 / 10^{\log_2 \epsilon + 1}`. The last iterate is returned. For simplices.

Without :math:`\lambda`, :math:`\gamma` and the multipliers that follow from them, with
:math:`b_i = \sum_k \phi_{ik} b_k` and :math:`q_i = A_i'c_i`, the inner program (12) of
predictability is

.. math:: \min \sum_i \tfrac1N |x_i - u_i|^2 + \epsilon_1 |u_i - A_i z_i - b_i|^2
          + \epsilon_2 |(c_i'(u_i - b_i) - q_i)_+|^2

and that of suboptimality, (26b),

.. math:: \min \sum_i \tfrac1N |x_i - A_i z_i - b_i|^2 + \tfrac1N (c_i'(x_i - b_i) - t_i)_+^2
          + \epsilon_2 |(t_i - q_i)_+|^2.

The terms of the slacks have no 1/N, unless ``weighted`` corrects that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.paper.descent import FIRST_STEP, SUFFICIENT, Standardization, Start, begin_at
from feaslearn.paper.losses.loss import Predictability
from feaslearn.paper.problem import Clock, Found, Problem
from feaslearn.paper.regions.maps import Maps
from feaslearn.sets.simplex import Simplex
from feaslearn.solvers.conic import interior_point
from feaslearn.solvers.conic_form import Cone
from feaslearn.tolerances import TIGHT_TOL, TINY

#: The weights of slacks are not raised above this.
LARGEST = 2.0**20
#: Halvings of a step.
HALVINGS = 20
#: Below this share of its start, the smoothed loss is rounding of the solver.
ZERO = 0.1 * TIGHT_TOL


def settled(epsilon: Any) -> Any:
    """Return the change of a slack below which its weight is doubled."""
    return 0.01 / 10.0 ** (np.log2(epsilon) + 1.0)


class Inner(NamedTuple):
    """The optimum of the smoothed program for fixed columns."""

    value: float
    gradient: Array
    offsets: Array
    slacks: Array


def printed_smoothing(
    problem: Problem,
    costs: Array,
    weighted: bool,
    start: Start | ArrayLike | None,
    max_iter: int,
    clock: Clock,
    seed: int | np.random.Generator,
) -> Found:
    """Descend from one start until both weights are the largest; return the last iterate."""
    if not isinstance(problem.region.Z, Simplex):
        raise DataError(f"algorithm2(printed=True) is for simplices, not {problem.region.Z!r}")
    into = Standardization.of(problem)
    begun = begin_at(problem, into, start, np.random.default_rng(seed), 0)
    A = problem.maps(into.revert(problem, begun)).A
    inner_of = InnerProgram(problem, costs, weighted)
    epsilon = np.ones(2)
    inner = inner_of.solve(A, epsilon)
    size = FIRST_STEP * float(np.linalg.norm(A)) / max(float(np.linalg.norm(inner.gradient)), TINY)
    zero, history = ZERO * inner.value, []
    for _ in range(max_iter):
        if epsilon.min() >= LARGEST or inner.value <= zero or clock.late():
            break
        moved, found, size = _armijo(inner_of, A, inner, epsilon, size)
        stable = np.abs(found.slacks - inner.slacks) < settled(epsilon)
        A, inner = moved, found
        if stable.any():
            epsilon = np.where(stable, np.minimum(2.0 * epsilon, LARGEST), epsilon)
            inner = inner_of.solve(A, epsilon)
        first, second = map(float, epsilon)
        history.append({"smoothed_loss": inner.value, "epsilon": first, "epsilon_dual": second})
    theta = problem.region.theta_of(Maps(A, inner.offsets))
    status = clock.status if clock.late() else "converged"
    value, steps = problem.value(theta), len(history)
    return Found(
        problem, theta, value, status, n_iter=steps, seconds=clock.seconds, history=history
    )


def _armijo(
    inner_of: InnerProgram, A: Array, inner: Inner, epsilon: Array, size: float
) -> tuple[Array, Inner, float]:
    """Return the columns after one step, their optimum and the next size."""
    slope = float((inner.gradient**2).sum())
    step = size
    for _ in range(HALVINGS):
        moved = A - step * inner.gradient
        found = inner_of.solve(moved, epsilon)
        if found.value <= inner.value - SUFFICIENT * step * slope:
            return moved, found, 2.0 * step
        step /= 2.0
    return A, inner, size


class InnerProgram:
    r"""The smoothed program for fixed columns, in which b, z and :math:`\lambda` are optimal.

    Parameters
    ----------
    problem : Problem
        The training problem.
    costs : ndarray of shape (N, n)
        Costs as they count.
    weighted : bool
        Whether the terms of the slacks have the weight 1/N.
    """

    def __init__(self, problem: Problem, costs: Array, weighted: bool) -> None:
        self._near = isinstance(problem.loss, Predictability)
        self._features, _, self._decisions, _ = problem.samples
        self._costs, (self._count, n) = costs, costs.shape
        self._slack_weight = 1.0 / self._count if weighted else 1.0
        self._offset = sp.kron(sp.csc_array(self._features), sp.eye_array(n), format="csc")
        self._price = sp.block_diag([cost[None] for cost in costs], format="csc")

    def solve(self, A: Array, epsilon: Array) -> Inner:
        """Return the optimum for columns (k, n, p) and the weights of both slacks."""
        features, costs, x = self._features, self._costs, self._decisions.ravel()
        count, (k, n, p) = self._count, A.shape
        weight, (first, second) = 1.0 / count, epsilon * self._slack_weight
        columns = np.einsum("ik,knp->inp", features, A)
        q = np.einsum("inp,in->ip", columns, costs).ravel()
        image, offset, price = sp.block_diag(list(columns), format="csc"), self._offset, self._price
        each = sp.kron(sp.eye_array(count), np.ones((p, 1)), format="csc")
        total, one = each.T, sp.eye_array(count)
        rest, dear = sp.eye_array(count * n), sp.eye_array(count * p)
        # Rows are M v + s = right: first s = 0, then s >= 0; v ends with z, w and b.
        rows: list[list[Any]]
        if self._near:
            # v = (u, r, z, w, b) with r = u - A z - b and w >= c'(u - b) - q.
            sizes, squares = [count * n, count * n], [weight, first]
            rows = [
                [rest, -rest, -image, None, -offset],
                [None, None, total, None, None],
                [each @ price, None, None, -dear, -(each @ price @ offset)],
            ]
            rights = [np.zeros(count * n), np.ones(count), q]
        else:
            # v = (r, o, t, z, w, b) with r = x - A z - b, o >= c'(x - b) - t and w >= t - q.
            sizes, squares = [count * n, count, count], [weight, weight, 0.0]
            rows = [
                [rest, None, None, image, None, offset],
                [None, None, None, total, None, None],
                [None, -one, -one, None, None, -(price @ offset)],
                [None, -one, None, None, None, None],
                [None, None, each, None, -dear, None],
            ]
            rights = [x, np.ones(count), -(price @ x), np.zeros(count), q]
        place = len(sizes)
        for at in (place, place + 1):
            rows.append([-dear if j == at else None for j in range(place + 3)])
            rights.append(np.zeros(count * p))
        sizes, squares = [*sizes, count * p, count * p, k * n], [*squares, 0.0, second, 0.0]
        linear = np.zeros(sum(sizes))
        if self._near:
            linear[: count * n] = -2.0 * weight * x
        right, equal = np.concatenate(rights), len(rights[0]) + count
        answer = interior_point(
            sp.diags_array(np.repeat(2.0 * np.array(squares), sizes), format="csc"),
            linear,
            sp.block_array(rows, format="csc"),
            right,
            [Cone("zero", equal), Cone("nonnegative", len(right) - equal)],
            TIGHT_TOL,
        )
        parts = np.split(np.array(answer.x), np.cumsum(sizes)[:-1])
        z, w = (part.reshape(count, p) for part in parts[place : place + 2])
        r = parts[1 if self._near else 0].reshape(count, n)
        value = float(answer.obj_val) + (weight * float(x @ x) if self._near else 0.0)
        in_image = -2.0 * (first if self._near else weight) * r
        gradient = np.einsum("ik,in,ip->knp", features, in_image, z)
        gradient -= 2.0 * second * np.einsum("ik,in,ip->knp", features, costs, w)
        slacks = np.array([float((r**2).sum()) if self._near else 0.0, float((w**2).sum())])
        return Inner(value, gradient, parts[-1].reshape(k, n), slacks)
