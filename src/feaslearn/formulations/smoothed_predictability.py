r"""The smoothed predictability of Algorithm 2, for fixed maps.

.. math::
    \min \frac1N \sum_i \bigl[ \|\gamma_i\|^2 + \epsilon_1 \|\gamma_{s1,i}\|^2
    + \epsilon_2 \|\gamma_{s2,i}\|^2 \bigr] \quad \text{s.t.} \quad
    & x_i + \gamma_i = A_i z_i + b_i + \gamma_{s1,i}, \quad H z_i - h \in K, \\
    & \lambda_i \in K^*, \quad c_i'(x_i + \gamma_i - b_i) \le \lambda_i'h, \quad
    A_i'c_i - H'\lambda_i + \gamma_{s2,i} = 0

The paper has no 1/N on the second and third term; without it they drown the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.formulations.program import load_cvxpy
from feaslearn.formulations.smoothed_program import SmoothedProgram, SmoothedSolution, units

Array = NDArray[np.float64]


class SmoothedPredictability(SmoothedProgram):
    r"""The program that Algorithm 2 solves for fixed A and b, predictability loss.

    .. math::
        \min \sum_i w_i \bigl[ \|\gamma_i\|^2 + \epsilon_1 \|\gamma_{s1,i}\|^2
        + \epsilon_2 \|\gamma_{s2,i}\|^2 \bigr]

    under the rows at the top of this file. The offset b is a parameter as A is, so that samples
    separate; its gradient comes with that of A.

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

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.formulations import SmoothedPredictability
    >>> program = SmoothedPredictability(Simplex(2), 2, n_samples=1)
    >>> A, b, c, x = np.eye(2)[None], np.zeros((1, 2)), [[0.2, 0.8]], [[1.0, 0.0]]
    >>> abs(program.solve(A, b, np.array(c), np.array(x), np.ones(1), 1.0, 1.0).value) < 1e-6
    True
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
        """Solve the program at new maps.

        Parameters
        ----------
        A : ndarray of shape (N, n, p)
            The map of each sample.
        b : ndarray of shape (N, n)
            Its offset.
        c : ndarray of shape (N, n)
            Costs.
        x : ndarray of shape (N, n)
            Decisions; NaN where not observed, which then does not count.
        weights : ndarray of shape (N,)
            Weights of the samples, 1/N each in the paper.
        epsilon_1, epsilon_2 : float
            Weights of the primal and of the dual slack.

        Returns
        -------
        SmoothedSolution
            The optimum, and its derivatives.
        """
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
