r"""The smoothed suboptimality of Algorithm 2, for fixed maps.

.. math::
    \min \frac1N \sum_i \bigl[ \|\gamma_i\|^2 + \gamma_{o,i}^2
    + \epsilon \|\gamma_{s,i}\|^2 \bigr] \quad \text{s.t.} \quad
    & x_i + \gamma_i = A_i z_i + b_i, \quad H z_i - h \in K, \quad \gamma_{o,i} \ge 0, \\
    & \lambda_i \in K^*, \quad c_i'(x_i - b_i) - \lambda_i'h \le \gamma_{o,i}, \quad
    A_i'c_i - H'\lambda_i + \gamma_{s,i} = 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.formulations.program import load_cvxpy
from feaslearn.formulations.smoothed_program import SmoothedProgram, SmoothedSolution, units

Array = NDArray[np.float64]


class SmoothedSuboptimality(SmoothedProgram):
    r"""The program that Algorithm 2 solves for fixed A and b, suboptimality loss.

    .. math:: \min \sum_i w_i \bigl[ \|\gamma_i\|^2 + \gamma_{o,i}^2
              + \epsilon \|\gamma_{s,i}\|^2 \bigr]

    under the rows at the top of this file. Costs are taken as they are given.

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
    >>> from feaslearn.formulations import SmoothedSuboptimality
    >>> program = SmoothedSuboptimality(Simplex(2), 2, n_samples=1)
    >>> A, b, c, x = np.eye(2)[None], np.zeros((1, 2)), [[0.0, 2.0]], [[0.0, 1.0]]
    >>> round(program.solve(A, b, np.array(c), np.array(x), np.ones(1), 1.0).value, 6)
    2.0
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
            Decisions; NaN where not observed, which are completed so that the loss is least.
        weights : ndarray of shape (N,)
            Weights of the samples, 1/N each in the paper.
        epsilon : float
            Weight of the dual slack.

        Returns
        -------
        SmoothedSolution
            The optimum, and its derivatives.
        """
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
