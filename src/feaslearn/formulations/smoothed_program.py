"""What the two smoothed programs of Algorithm 2 share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.formulations.program import CONIC, Attempts, load_cvxpy, semidefinite, solve
from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]


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
    """A smoothed program for N samples and fixed maps, compiled once.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.
    n : int
        Number of decisions.
    n_samples : int
        Number of samples.
    attempts : tuple, optional
        Solvers with their options, tried in this order.
    """

    def __init__(
        self, primitive: PrimitiveSet, n: int, n_samples: int, attempts: Attempts = CONIC
    ) -> None:
        cp = load_cvxpy()
        self._form = primitive.conic_form()
        self._attempts = attempts
        p, rows = self._form.H.shape[1], len(self._form.h)
        self._A = [cp.Parameter((n_samples, n)) for _ in range(p)]
        # Products of two parameters are parameters of their own, or nothing compiles once.
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
            *_in_cones(self._form, slack, dual=False),
            *_in_cones(self._form, self._lam, dual=True),
            self._q - self._lam @ H + self._slack_dual == 0,
        ]

    def _solve(self, A: Array, x: Array, c: Array) -> None:
        """Fill in the parameters that both programs share, and solve.

        A has shape (N, n, p), and x and c shape (N, n); x is the decision without its offset, and
        zero where it was not observed.
        """
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


def _in_cones(form: ConicForm, slack: Any, *, dual: bool) -> list[Any]:
    """Return that each row of ``slack`` lies in K, or in K*: free where K says zero."""
    cp = load_cvxpy()
    constraints: list[Any] = []
    for cone, rows in form.blocks():
        if cone.size == 0 or (cone.kind == "zero" and dual):
            continue
        part = slack[:, rows.start : rows.stop]
        if cone.kind == "zero":
            constraints.append(part == 0)
        elif cone.kind == "nonnegative" or cone.size == 1:
            constraints.append(part >= 0)
        elif cone.kind == "semidefinite":
            constraints.extend(semidefinite(part[i], cone.size) for i in range(part.shape[0]))
        else:
            constraints.append(cp.SOC(part[:, 0], part[:, 1:], axis=1))
    return constraints
