r"""The program of the suboptimality loss, equation by equation.

.. math::
    \min \|(\gamma_f, \gamma_o)\| \quad \text{s.t.} \quad
    & x + \gamma = A z + b, \quad \|\gamma\| \le \gamma_f, \quad H z - h \in K, \\
    & \lambda \in K^*, \quad A'c = H'\lambda, \quad c'(x - b) - \lambda'h \le \gamma_o,
    \quad \gamma_o \ge 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.formulations.program import (
    LeastNorm,
    PairSolution,
    checked_norm,
    checked_pair,
    convex_form,
    in_cone,
    load_cvxpy,
    measure,
)
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]


class SuboptimalityProgram:
    r"""Infeasibility and excess cost of x in its region, as the paper writes them.

    .. math::
        \min \{ \|(\gamma_f, \gamma_o)\| : x + \gamma = Az + b,\ \|\gamma\| \le \gamma_f,\
        Hz - h \in K,\ \lambda \in K^*,\ A'c = H'\lambda,\ c'(x - b) - \lambda'h \le \gamma_o \}

    The norm of gamma and the norm of the pair are the same one, so the pair's norm is that of all
    entries of gamma and gamma_o together and the row of gamma_f is not needed.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.
    n : int
        Number of decisions.
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of gamma and of the pair.
    squared : bool, default=True
        Whether the value is the square of the l2 norm. The other norms never are.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.formulations import SuboptimalityProgram
    >>> program = SuboptimalityProgram(Simplex(2), 2)
    >>> round(program.solve(np.eye(2), [0, 0], [0, 2], [0, 1]).value, 6)
    4.0
    """

    def __init__(
        self, primitive: PrimitiveSet, n: int, norm: str = "l2", squared: bool = True
    ) -> None:
        cp = load_cvxpy()
        self.norm = checked_norm(norm)
        self.squared = squared
        self._form = convex_form(primitive)
        self._shape = (n, self._form.H.shape[1])
        self._A = cp.Parameter(self._shape)
        self._b, self._x, self._hidden = (cp.Parameter(n) for _ in range(3))
        # Products of two parameters are parameters of their own, or nothing compiles once.
        self._hidden_c = cp.Parameter(n)
        self._q = cp.Parameter(self._shape[1])
        self._cost = cp.Parameter()
        self._gamma, self._z = cp.Variable(n), cp.Variable(self._shape[1])
        self._lam = cp.Variable(len(self._form.h))
        self._gamma_o = cp.Variable(nonneg=True)
        self._free = cp.Variable(n)
        self._program = self._stated()

    def _stated(self) -> LeastNorm:
        cp = load_cvxpy()
        H, h, _ = self._form
        gamma, z, lam = self._gamma, self._z, self._lam
        x = self._x + cp.multiply(self._hidden, self._free)  # unobserved entries are variables
        constraints = [
            x + gamma == self._A @ z + self._b,
            *in_cone(self._form, H @ z - h),
            *in_cone(self._form, lam, dual=True),
            self._q == H.T @ lam,  # q = A'c
            # cost = c'(x - b) with the observed entries of x, hidden_c = c on the others
            self._cost + self._hidden_c @ self._free - lam @ h <= self._gamma_o,
        ]
        residual = cp.hstack([gamma, self._gamma_o])
        return LeastNorm(residual, self.norm, constraints, "suboptimality", self._form.polyhedral)

    def solve(self, A: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> PairSolution:
        """Solve the program of one pair.

        Parameters
        ----------
        A : array-like of shape (n, p)
            The map at this signal.
        b : array-like of shape (n,)
            The offset at this signal.
        c : array-like of shape (n,)
            The cost.
        x : array-like of shape (n,)
            The decision; entries that are NaN were not observed and take the values that make
            the loss least.

        Returns
        -------
        PairSolution
            The optimum.
        """
        pair = checked_pair(A, b, c, x, self._shape)
        hidden = 1.0 - pair.observed
        self._A.value, self._b.value, self._x.value = pair.A, pair.b, pair.x
        self._hidden.value, self._hidden_c.value = hidden, hidden * pair.c
        self._q.value = pair.A.T @ pair.c
        self._cost.value = pair.c @ (pair.x - pair.b)
        self._program.solve()
        gamma, excess = np.array(self._gamma.value), float(self._gamma_o.value)
        value = measure(np.append(gamma, excess), self.norm, self.squared)
        decision = np.where(hidden > 0.0, self._free.value, pair.x)
        z, lam = np.array(self._z.value), np.array(self._lam.value)
        return PairSolution(value, gamma, z, lam, decision, excess)
