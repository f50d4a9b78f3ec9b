"""Smoothed programs of Algorithm 2, for both losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.formulations.program import CONIC, Attempts, in_cone, load_cvxpy, solve
from feaslearn.sets.primitive_set import PrimitiveSet


class SmoothedSolution(NamedTuple):
    r"""The optimum of a smoothed program for all samples.

    ``value`` is the weighted sum of the smoothed losses and ``values`` holds that of each sample;
    ``z`` are the latent points, and ``slack_primal`` (N, n) and ``slack_dual`` (N, p) the two
    slacks; suboptimality has no primal one. ``in_image`` (N, n) and ``in_latent_cost`` (N, p) are
    the derivatives of the loss of each sample in :math:`A z + b` and in :math:`q = A'c`, z held
    fixed, and ``in_offset`` (N, n) the derivative in b.
    """

    value: float
    values: Array
    z: Array
    slack_primal: Array
    slack_dual: Array
    in_image: Array
    in_latent_cost: Array
    in_offset: Array

    def gradient(self, features: Array, costs: Array, weights: Array) -> tuple[Array, Array]:
        r"""Return the gradient in all :math:`A_k` (k, n, p) and :math:`b_k` (k, n).

        .. math:: \nabla A_k = \sum_i w_i \phi_{ik} (d_i z_i' + c_i e_i'), \qquad
                  \nabla b_k = \sum_i w_i \phi_{ik} f_i

        with d, e and f the three derivatives that the solution holds.
        """
        weighted = weights[:, None] * features
        in_A = np.einsum("ik,in,ip->knp", weighted, self.in_image, self.z)
        in_A += np.einsum("ik,in,ip->knp", weighted, costs, self.in_latent_cost)
        return in_A, weighted.T @ self.in_offset


class SmoothedProgram(ABC):
    """A smoothed program for N samples and fixed maps, compiled once."""

    def __init__(
        self, primitive: PrimitiveSet, n: int, n_samples: int, attempts: Attempts = CONIC
    ) -> None:
        cp = load_cvxpy()
        self._form = primitive.conic_form()
        self._attempts = attempts
        p, rows = self._form.H.shape[1], len(self._form.h)
        self._A = [cp.Parameter((n_samples, n)) for _ in range(p)]
        # Products of two parameters are parameters themselves, so that the problem compiles once.
        self._target = cp.Parameter((n_samples, n))
        self._q = cp.Parameter((n_samples, p))
        self._level = cp.Parameter(n_samples)
        self._z = cp.Variable((n_samples, p))
        self._lam = cp.Variable((n_samples, rows))
        self._slack_dual = cp.Variable((n_samples, p))
        self._root_dual = cp.Parameter((n_samples, p), nonneg=True)
        self._problem = self._stated(n_samples, n)

    @abstractmethod
    def _stated(self, n_samples: int, n: int) -> Any:
        """Return the CVXPY problem."""

    def _image(self) -> Any:
        """Return ``A_i z_i`` for all samples, one row each."""
        cp = load_cvxpy()
        wide = np.ones((1, self._target.shape[1]))
        columns = (self._z[:, [k]] @ wide for k in range(len(self._A)))
        return sum(cp.multiply(A, column) for A, column in zip(self._A, columns, strict=True))

    def _conic_rows(self) -> list[Any]:
        """Return z in Z, lam in K*, and ``q - H'lam + slack = 0``."""
        H, h, _ = self._form
        slack = self._z @ H.T - np.ones((self._z.shape[0], 1)) @ h[None, :]
        return [
            *in_cone(self._form, slack),
            *in_cone(self._form, self._lam, dual=True),
            self._q - self._lam @ H + self._slack_dual == 0,
        ]

    def _solve(self, A: Array, x: Array, c: Array) -> None:
        """Fill in the parameters that both programs share, and solve."""
        # A has shape (N, n, p), and x and c shape (N, n); x is the decision without its offset, and
        # zero where it was not observed.
        for k, parameter in enumerate(self._A):
            parameter.value = A[:, :, k]
        self._target.value = x
        self._q.value = np.einsum("inp,in->ip", A, c)
        self._level.value = np.einsum("in,in->i", c, x)
        solve(self._problem, "smoothed", self._attempts)


def units(A: Array, x: Array, c: Array) -> tuple[float, float]:
    """Return the sizes of decisions and costs, which solvers should see as about one."""
    length = max(float(np.abs(A).max(initial=0.0)), float(np.abs(x).max(initial=0.0)))
    price = float(np.abs(c).max(initial=0.0))
    return length or 1.0, price or 1.0


class SmoothedPredictability(SmoothedProgram):
    r"""The program that Algorithm 2 solves for fixed A and b, predictability loss.

    .. math::
        \min \sum_i w_i \bigl[ \|\gamma_i\|^2 + \epsilon_1 \|\gamma_{s1,i}\|^2
        + \epsilon_2 \|\gamma_{s2,i}\|^2 \bigr] \quad \text{s.t.} \quad
        & x_i + \gamma_i = A_i z_i + b_i + \gamma_{s1,i}, \quad H z_i - h \in K, \\
        & \lambda_i \in K^*, \quad c_i'(x_i + \gamma_i - b_i) \le \lambda_i'h, \quad
        A_i'c_i - H'\lambda_i + \gamma_{s2,i} = 0

    The weights are the paper's 1/N, which it has on the first term alone; without it the others
    dominate. The offset b is a parameter as A is, so that samples separate; its gradient comes with
    that of A.
    """

    def _stated(self, n_samples: int, n: int) -> Any:
        cp = load_cvxpy()
        self._gamma, self._slack = (cp.Variable((n_samples, n)) for _ in range(2))
        self._root, self._root_primal = (
            cp.Parameter((n_samples, n), nonneg=True) for _ in range(2)
        )
        self._c = cp.Parameter((n_samples, n))
        rows = [
            self._target + self._gamma == self._image() + self._slack,  # target = x - b
            # level = c'(x - b)
            self._level + cp.sum(cp.multiply(self._c, self._gamma), axis=1)
            <= self._lam @ self._form.h,
            *self._conic_rows(),
        ]
        size = cp.sum_squares(cp.multiply(self._root, self._gamma))
        size += cp.sum_squares(cp.multiply(self._root_primal, self._slack))
        size += cp.sum_squares(cp.multiply(self._root_dual, self._slack_dual))
        return cp.Problem(cp.Minimize(size), rows)

    def solve(
        self,
        A: Array,
        b: Array,
        c: Array,
        x: Array,
        weights: Array,
        epsilon_1: float,
        epsilon_2: float,
    ) -> SmoothedSolution:
        """Solve the program at new maps."""
        seen = ~np.isnan(x)
        offset_free = np.where(seen, x - b, 0.0)
        length, price = units(A, offset_free, c)
        root = np.sqrt(weights)[:, None]
        self._root.value, self._c.value = root * seen, c / price
        self._root_primal.value = np.sqrt(epsilon_1) * root * np.ones(x.shape)
        self._root_dual.value = price * np.sqrt(epsilon_2) * root * np.ones(self._q.shape)
        self._solve(A / length, offset_free / length, c / price)
        gamma = length * np.where(seen, self._gamma.value, 0.0)
        slack, slack_dual = length * self._slack.value, length * price * self._slack_dual.value
        values = (gamma**2).sum(axis=1) + epsilon_1 * (slack**2).sum(axis=1)
        values += epsilon_2 * (slack_dual**2).sum(axis=1)
        return SmoothedSolution(
            value=float(weights @ values),
            values=values,
            z=np.array(self._z.value),
            slack_primal=slack,
            slack_dual=slack_dual,
            in_image=-2.0 * epsilon_1 * slack,
            in_latent_cost=-2.0 * epsilon_2 * slack_dual,
            # A move of b is a move of x the other way.
            in_offset=2.0 * gamma,
        )


class SmoothedSuboptimality(SmoothedProgram):
    r"""The program that Algorithm 2 solves for fixed A and b, suboptimality loss.

    .. math::
        \min \sum_i w_i \bigl[ \|\gamma_i\|^2 + \gamma_{o,i}^2
        + \epsilon \|\gamma_{s,i}\|^2 \bigr] \quad \text{s.t.} \quad
        & x_i + \gamma_i = A_i z_i + b_i, \quad H z_i - h \in K, \quad \gamma_{o,i} \ge 0, \\
        & \lambda_i \in K^*, \quad c_i'(x_i - b_i) - \lambda_i'h \le \gamma_{o,i}, \quad
        A_i'c_i - H'\lambda_i + \gamma_{s,i} = 0

    Costs are taken as they are given.
    """

    def _stated(self, n_samples: int, n: int) -> Any:
        cp = load_cvxpy()
        self._gamma, self._free = (cp.Variable((n_samples, n)) for _ in range(2))
        self._gamma_o = cp.Variable(n_samples, nonneg=True)
        self._root = cp.Parameter((n_samples, n), nonneg=True)
        self._root_o = cp.Parameter(n_samples, nonneg=True)
        self._hidden, self._hidden_c = (cp.Parameter((n_samples, n)) for _ in range(2))
        hidden = cp.multiply(self._hidden, self._free)  # unobserved entries are variables
        rows = [
            self._target + hidden + self._gamma == self._image(),  # target = x - b
            # level = c'(x - b) of the observed entries, hidden_c = c on the others
            self._level
            + cp.sum(cp.multiply(self._hidden_c, self._free), axis=1)
            - self._lam @ self._form.h
            <= self._gamma_o,
            *self._conic_rows(),
        ]
        size = cp.sum_squares(cp.multiply(self._root, self._gamma))
        size += cp.sum_squares(cp.multiply(self._root_o, self._gamma_o))
        size += cp.sum_squares(cp.multiply(self._root_dual, self._slack_dual))
        return cp.Problem(cp.Minimize(size), rows)

    def solve(
        self, A: Array, b: Array, c: Array, x: Array, weights: Array, epsilon: float
    ) -> SmoothedSolution:
        """Solve the program at new maps."""
        hidden = np.isnan(x)
        offset_free = np.where(hidden, 0.0, x - b)
        length, price = units(A, offset_free, c)
        root = np.sqrt(weights)
        self._root.value = root[:, None] * np.ones(x.shape)
        self._root_o.value = price * root
        self._root_dual.value = price * np.sqrt(epsilon) * root[:, None] * np.ones(self._q.shape)
        self._hidden.value, self._hidden_c.value = hidden.astype(float), hidden * c / price
        self._solve(A / length, offset_free / length, c / price)
        gamma, excess = length * self._gamma.value, length * price * self._gamma_o.value
        slack_dual = length * price * self._slack_dual.value
        values = (gamma**2).sum(axis=1) + excess**2 + epsilon * (slack_dual**2).sum(axis=1)
        return SmoothedSolution(
            value=float(weights @ values),
            values=values,
            z=np.array(self._z.value),
            slack_primal=np.zeros(x.shape),
            slack_dual=slack_dual,
            in_image=2.0 * gamma,
            in_latent_cost=-2.0 * epsilon * slack_dual,
            in_offset=2.0 * gamma - 2.0 * excess[:, None] * c,
        )
