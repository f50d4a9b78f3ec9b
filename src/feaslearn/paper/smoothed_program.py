r"""Algorithm 2's inner problem, equations (12), (26a) and (26b), as a convex program at fixed A, b.

The smoothed loss of predictability, (12), and below it that of suboptimality, (26b):

.. math::
    \min \sum_i w_i \bigl[ \|\gamma_i\|^2 + \epsilon \|\gamma_{s1,i}\|^2
    + \epsilon \|\gamma_{s2,i}\|^2 \bigr] \quad \text{s.t.} \quad
    & x_i + \gamma_i = A_i z_i + b_i + \gamma_{s1,i}, \quad H z_i - h \in K, \\
    & \lambda_i \in K^*, \quad c_i'(x_i + \gamma_i - b_i) \le \lambda_i'h, \quad
    A_i'c_i - H'\lambda_i + \gamma_{s2,i} = 0 \\
    \min \sum_i w_i \bigl[ \|\gamma_i\|^2 + \gamma_{o,i}^2
    + \epsilon \|\gamma_{s,i}\|^2 \bigr] \quad \text{s.t.} \quad
    & x_i + \gamma_i = A_i z_i + b_i, \quad H z_i - h \in K, \quad \gamma_{o,i} \ge 0, \\
    & \lambda_i \in K^*, \quad c_i'(x_i - b_i) - \lambda_i'h \le \gamma_{o,i}, \quad
    A_i'c_i - H'\lambda_i + \gamma_{s,i} = 0

The paper has the weights 1/N on the first term alone; without them on the others, the others
dominate. Kernels solve the same problem for sets that they serve; this is their second
implementation, and serves every set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.paper.problem import Samples
from feaslearn.paper.programs import in_cone, load_cvxpy, solve
from feaslearn.paper.regions.maps import Maps
from feaslearn.sets.primitive_set import PrimitiveSet


class SmoothedRows(NamedTuple):
    """The smoothed loss of each sample, the gradient of the weighted sum in the maps, slacks.

    ``slacks`` (N, 2) are the squares of both slacks; suboptimality has no primal one.
    """

    values: Array
    gradient: Maps
    slacks: Array


class SmoothedProgram:
    """The program of N samples of n decisions, compiled once; ``near`` for predictability."""

    def __init__(self, Z: PrimitiveSet, n: int, count: int, near: bool) -> None:
        cp = load_cvxpy()
        H, h, _ = self._form = Z.conic_form()
        p = H.shape[1]
        self._near = near
        self._A = [cp.Parameter((count, n)) for _ in range(p)]
        # Products of two parameters are parameters themselves, so that the problem compiles once.
        self._target, self._c = cp.Parameter((count, n)), cp.Parameter((count, n))
        self._q, self._level = cp.Parameter((count, p)), cp.Parameter(count)
        self._roots = [cp.Parameter((count, 1), nonneg=True) for _ in range(4)]
        z, lam = cp.Variable((count, p)), cp.Variable((count, len(h)))
        gamma, slack = cp.Variable((count, n)), cp.Variable((count, n))
        excess, slack_dual = cp.Variable((count, 1), nonneg=True), cp.Variable((count, p))
        self._found = z, gamma, slack, excess, slack_dual
        wide = np.ones((1, n))
        columns = (cp.multiply(A, z[:, [k]] @ wide) for k, A in enumerate(self._A))
        # level = c'(x - b), and x moves by gamma where its image counts
        moved = self._level
        if near:
            moved = self._level + cp.sum(cp.multiply(self._c, gamma), axis=1)
        rows = [
            self._target + gamma == sum(columns) + slack,  # target = x - b
            moved - excess[:, 0] <= lam @ h,
            *in_cone(self._form, z @ H.T - np.ones((count, 1)) @ h[None, :]),
            *in_cone(self._form, lam, dual=True),
            self._q - lam @ H + slack_dual == 0,
            *([excess == 0] if near else [slack == 0]),
        ]
        fit, apart, priced, dual = self._roots
        size = cp.sum_squares(cp.multiply(fit @ wide, gamma))
        size += cp.sum_squares(cp.multiply(apart @ wide, slack))
        size += cp.sum_squares(cp.multiply(priced, excess))
        size += cp.sum_squares(cp.multiply(dual @ np.ones((1, p)), slack_dual))
        self._program: Any = cp.Problem(cp.Minimize(size), rows)

    def solve(self, maps: Maps, samples: Samples, epsilon: float) -> SmoothedRows:
        """Solve the program at new maps; costs are taken as they are given."""
        features, c, decisions, weights = samples
        A, b = maps.at(features)
        x = decisions - b
        # Sizes of decisions and costs, which solvers should see as about one.
        length = max(float(np.abs(A).max(initial=0.0)), float(np.abs(x).max(initial=0.0))) or 1.0
        price = float(np.abs(c).max(initial=0.0)) or 1.0
        root = np.sqrt(weights)[:, None]
        sizes = (1.0, np.sqrt(epsilon), price, price * np.sqrt(epsilon))
        for parameter, size in zip(self._roots, sizes, strict=True):
            parameter.value = size * root
        for k, parameter in enumerate(self._A):
            parameter.value = A[:, :, k] / length
        self._target.value, self._c.value = x / length, c / price
        self._q.value = np.einsum("inp,in->ip", A, c) / (length * price)
        self._level.value = np.einsum("in,in->i", c, x) / (length * price)
        solve(self._program, "smoothed")
        z, gamma, slack, excess, dual = (np.array(variable.value) for variable in self._found)
        gamma, slack = length * gamma, length * slack
        excess, dual = length * price * excess, length * price * dual
        slacks = np.column_stack([(slack**2).sum(axis=1), (dual**2).sum(axis=1)])
        values = (gamma**2).sum(axis=1) + excess[:, 0] ** 2 + epsilon * slacks.sum(axis=1)
        # Derivatives in Az + b and in q = A'c, z held fixed; a move of b is one of x as well.
        in_image = -2.0 * epsilon * slack if self._near else 2.0 * gamma
        weighted = weights[:, None] * features
        in_A = np.einsum("ik,in,ip->knp", weighted, in_image, z)
        in_A -= 2.0 * epsilon * np.einsum("ik,in,ip->knp", weighted, c, dual)
        in_b = weighted.T @ (2.0 * gamma - 2.0 * excess * c)
        return SmoothedRows(values, Maps(in_A, in_b), slacks)
