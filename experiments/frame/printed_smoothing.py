"""Algorithm 2 as the paper has it: two weights of slacks, and an offset that is solved for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from feaslearn.losses import Objective, Predictability
from numpy.typing import NDArray

from feaslearn.solvers.conic import interior_point
from feaslearn.solvers.conic_form import Cone
from feaslearn.trainers import Trained, Trainer
from feaslearn.trainers.standardize import Standardization
from feaslearn.trainers.starts import LinearStart

Array = NDArray[np.float64]

#: The weights of slacks are not raised above this, as in the library's own Algorithm 2.
LARGEST = 2.0**20
#: Share of the expected decrease that Armijo's rule asks for, and its most halvings.
ARMIJO, HALVINGS = 1e-4, 20
#: Below this share of its start, the smoothed loss is rounding of the solver.
ZERO = 1e-11
#: The first step moves the columns by this share of their size.
FIRST_STEP = 0.1


class Data(NamedTuple):
    """Features (N, k), costs (N, n) and decisions (N, n)."""

    features: Array
    costs: Array
    decisions: Array


class Inner(NamedTuple):
    """The optimum of the smoothed program for fixed columns."""

    value: float
    gradient: Array
    offsets: Array
    slacks: Array


@dataclass(eq=False, repr=False)
class PrintedSmoothing(Trainer):
    r"""The paper's Algorithm 2 for simplices: descent in A, everything else solved for.

    The offset b joins z and λ in the inner program, which couples the samples. ε₁ weighs the slack
    of the equality and ε₂ that of the dual row; each is doubled when the sum of squares of its own
    slack changes by less than :math:`0.01 / 10^{\log_2 \epsilon + 1}`. The last iterate is
    returned.

    Parameters
    ----------
    max_iter : int
        Steps.
    corrected : bool
        Whether every term has the weight 1/N, and costs have length one; as printed, the terms of
        the slacks have no 1/N, and costs are raw.
    """

    max_iter: int = 500
    corrected: bool = True

    def mismatches(self, objective: Objective) -> list[str]:
        """Serve everything that the experiments ask for."""
        del objective
        return []

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Begin around the linear policy, as the library does, and descend."""
        began = time.monotonic()
        standardization = Standardization.of(objective)
        start = LinearStart().parameters(standardization.apply(objective), random, 0)
        hypothesis = objective.maps()
        shape = objective.n_decisions, objective.n_features
        maps = hypothesis.maps(standardization.revert(objective, start), *shape)
        features, costs, decisions, _ = objective.load()
        if self.corrected:
            costs = costs / np.linalg.norm(costs, axis=1, keepdims=True)
        near = isinstance(objective.loss, Predictability)
        data = Data(features, costs, decisions)
        A, b, steps = descend(data, maps.A, near, self.corrected, self.max_iter)
        theta = hypothesis.theta_of(type(maps)(A, b))
        seconds = time.monotonic() - began
        result = self.result_of(objective, theta, "converged", n_iter=steps, seconds=seconds)
        return Trained(theta, result)


def descend(
    data: Data, A: Array, near: bool, weighted: bool, max_iter: int
) -> tuple[Array, Array, int]:
    """Return the last columns, their offsets and the number of steps, from columns (k, n, p)."""
    epsilon = np.ones(2)
    inner = solve_inner(data, A, near, weighted, epsilon)
    size = FIRST_STEP * np.linalg.norm(A) / max(np.linalg.norm(inner.gradient), 1e-300)
    steps, zero = 0, ZERO * inner.value
    while steps < max_iter and epsilon.min() < LARGEST and inner.value > zero:
        steps += 1
        taken = _armijo(data, A, inner, near, weighted, epsilon, size)
        moved, found, size = (A, inner, size) if taken is None else taken
        settled = np.abs(found.slacks - inner.slacks) < 0.01 / 10.0 ** (np.log2(epsilon) + 1.0)
        A, inner = moved, found
        if settled.any():
            epsilon = np.where(settled, np.minimum(2.0 * epsilon, LARGEST), epsilon)
            inner = solve_inner(data, A, near, weighted, epsilon)
    return A, inner.offsets, steps


def _armijo(
    data: Data,
    A: Array,
    inner: Inner,
    near: bool,
    weighted: bool,
    epsilon: Array,
    size: float,
) -> tuple[Array, Inner, float] | None:
    """Return the columns after one step, their optimum and the next size; None for no step."""
    slope = float((inner.gradient**2).sum())
    for _ in range(HALVINGS):
        moved = A - size * inner.gradient
        found = solve_inner(data, moved, near, weighted, epsilon)
        if found.value <= inner.value - ARMIJO * size * slope:
            return moved, found, 2.0 * size
        size /= 2.0
    return None


def solve_inner(data: Data, A: Array, near: bool, weighted: bool, epsilon: Array) -> Inner:
    r"""Solve the smoothed program for fixed columns; b, z and λ are optimal together.

    Without λ, γ and the multipliers that follow from them, with :math:`b_i = \sum_k \phi_{ik} b_k`
    and :math:`q_i = A_i'c_i`: for predictability

    .. math:: \min \sum_i \tfrac1N |x_i - u_i|^2 + \epsilon_1 |u_i - A_i z_i - b_i|^2
              + \epsilon_2 |(c_i'(u_i - b_i) - q_i)_+|^2

    and for suboptimality

    .. math:: \min \sum_i \tfrac1N |x_i - A_i z_i - b_i|^2 + \tfrac1N (c_i'(x_i - b_i) - t_i)_+^2
              + \epsilon_2 |(t_i - q_i)_+|^2.
    """
    features, costs, decisions = data
    (count, n), p = decisions.shape, A.shape[2]
    columns = np.einsum("ik,knp->inp", features, A)
    q = np.einsum("inp,in->ip", columns, costs).ravel()
    weight = 1.0 / count
    first, second = epsilon * (weight if weighted else 1.0)
    image = sp.block_diag(list(columns), format="csc")
    offset = sp.kron(sp.csc_array(features), sp.eye_array(n), format="csc")
    price = sp.block_diag([cost[None] for cost in costs], format="csc")
    each = sp.kron(sp.eye_array(count), np.ones((p, 1)), format="csc")
    total = sp.kron(sp.eye_array(count), np.ones((1, p)), format="csc")
    rest, dear = sp.eye_array(count * n), sp.eye_array(count * p)
    x = decisions.ravel()
    # Rows are A v + s = right: first s = 0, then s >= 0; v ends with z, w and b.
    if near:
        # v = (u, r, z, w, b) with r = u - A z - b and w >= c'(u - b) - q.
        zero = [[rest, -rest, -image, None, -offset], [None, None, total, None, None]]
        cheap = each @ price
        above = [cheap, None, None, -dear, -(cheap @ offset)]
        squares = np.repeat([weight, first, 0.0, second], [count * n] * 2 + [count * p] * 2)
        linear = np.concatenate([-2.0 * weight * x, np.zeros(count * (n + 2 * p))])
        zero_right = np.concatenate([np.zeros(count * n), np.ones(count)])
        above_right = [q]
        places = (2, 3)
    else:
        # v = (r, o, t, z, w, b) with r = x - A z - b, o >= c'(x - b) - t and w >= t - q.
        one = sp.eye_array(count)
        zero = [[rest, None, None, image, None, offset], [None, None, None, total, None, None]]
        above = [
            [None, -one, -one, None, None, -(price @ offset)],
            [None, -one, None, None, None, None],
            [None, None, each, None, -dear, None],
        ]
        squares = np.repeat(
            [weight, weight, 0.0, 0.0, second], [count * n, count, count, count * p, count * p]
        )
        linear = np.zeros(len(squares))
        zero_right = np.concatenate([x, np.ones(count)])
        above_right = [-(price @ x), np.zeros(count), q]
        places = (3, 4)
    width = len(zero[0])
    above = above if isinstance(above[0], list) else [above]
    signs = [[-dear if at == place else None for at in range(width)] for place in places]
    sizes = [block.shape[1] for block in _blocks([*zero, *above, *signs])]
    rows = sp.block_array([*zero, *above, *signs], format="csc")
    right = np.concatenate([zero_right, *above_right, np.zeros(2 * count * p)])
    quadratic = sp.diags_array(np.pad(2.0 * squares, (0, sizes[-1])), format="csc")
    linear = np.pad(linear, (0, sizes[-1]))
    cones = [Cone("zero", len(zero_right)), Cone("nonnegative", len(right) - len(zero_right))]
    answer = interior_point(quadratic, linear, rows, right, cones, 1e-10)
    parts = np.split(np.array(answer.x), np.cumsum(sizes)[:-1])
    z, w = (parts[place].reshape(count, p) for place in places)
    r = parts[1 if near else 0].reshape(count, n)
    value = float(answer.obj_val) + (weight * float(x @ x) if near else 0.0)
    in_image = -2.0 * (first if near else weight) * r
    gradient = np.einsum("ik,in,ip->knp", features, in_image, z)
    gradient -= 2.0 * second * np.einsum("ik,in,ip->knp", features, costs, w)
    slacks = np.array([float((r**2).sum()) if near else 0.0, float((w**2).sum())])
    return Inner(value, gradient, parts[-1].reshape(features.shape[1], n), slacks)


def _blocks(rows: list[list[Any]]) -> list[Any]:
    """Return one block of each column."""
    columns = zip(*rows, strict=True)
    return [next(block for block in column if block is not None) for column in columns]
