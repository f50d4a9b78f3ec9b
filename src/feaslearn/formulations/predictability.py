r"""The program of the predictability loss, equation by equation.

.. math::
    \min \|\gamma\| \quad \text{s.t.} \quad
    & x + \gamma = A z + b, \quad H z - h \in K, \\
    & \lambda \in K^*, \quad A'c = H'\lambda, \quad c'(x + \gamma - b) \le \lambda'h

The last row is strong duality: it holds only where ``x + gamma`` is optimal in the region.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.formulations.complementarity import Kind, OptimalMultipliers, complementary
from feaslearn.formulations.program import (
    LeastNorm,
    Pair,
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

#: Rounding changes a sum by less than this share of the sum of its terms' sizes.
ROUNDING = 1e-14


class PredictabilityProgram:
    r"""The distance of x to the optimal face of its region, as the paper writes it.

    .. math::
        \min \{ \|\gamma\| : x + \gamma = Az + b,\ Hz - h \in K,\ \lambda \in K^*,\
        A'c = H'\lambda,\ c'(x + \gamma - b) \le \lambda'h \}

    No point satisfies its last row strictly. Linear rows do not mind. With curved cones an error of
    1e-12 in that row is one of 1e-6 in gamma, so there the same program is solved in two
    steps: first the multipliers (they do not depend on gamma and z), then gamma and z with the
    last row written cone by cone, as complementary slackness, which is the same set.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set Z.
    n : int
        Number of decisions.
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of gamma.
    squared : bool, default=True
        Whether the value is the square of the l2 norm. The other norms never are.
    two_steps : bool, default=None
        Whether multipliers come first. Default: where Z has second-order or semidefinite cones.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex
    >>> from feaslearn.formulations import PredictabilityProgram
    >>> program = PredictabilityProgram(Simplex(2), 2)
    >>> round(program.solve(np.eye(2), [0, 0], [0.2, 0.8], [0, 1]).value, 6)
    2.0
    """

    def __init__(
        self,
        primitive: PrimitiveSet,
        n: int,
        norm: str = "l2",
        squared: bool = True,
        two_steps: bool | None = None,
    ) -> None:
        cp = load_cvxpy()
        self.norm = checked_norm(norm)
        self.squared = squared
        self._form = convex_form(primitive)
        self._shape = (n, self._form.H.shape[1])
        self._A = cp.Parameter(self._shape)
        self._b, self._c, self._x, self._observed = (cp.Parameter(n) for _ in range(4))
        # Products of two parameters are parameters of their own, or nothing compiles once.
        self._q = cp.Parameter(self._shape[1])
        self._cost = cp.Parameter()
        self._gamma, self._z = cp.Variable(n), cp.Variable(self._shape[1])
        curved = not self._form.polyhedral if two_steps is None else two_steps
        self._multipliers = OptimalMultipliers(self._form) if curved else None
        rows = len(self._form.h)
        self._E, self._F = (cp.Parameter((rows, self._shape[1])) for _ in range(2))
        self._e, self._f = cp.Parameter(rows), cp.Parameter(rows)
        self._lam = cp.Variable(rows)
        self._programs: dict[tuple[Kind, ...] | None, LeastNorm] = {}

    def _one_step(self) -> list[Any]:
        H, h, _ = self._form
        x, gamma, z, lam = self._x, self._gamma, self._z, self._lam
        return [
            x + gamma == self._A @ z + self._b,
            *in_cone(self._form, H @ z - h),
            *in_cone(self._form, lam, dual=True),
            self._q == H.T @ lam,  # q = A'c
            self._cost + self._c @ gamma <= lam @ h,  # cost = c'(x - b)
        ]

    def _second_step(self, kinds: tuple[Kind, ...]) -> list[Any]:
        known = self._E, self._e, self._F, self._f
        return [
            self._x + self._gamma == self._A @ self._z + self._b,
            *complementary(self._form, kinds, self._z, *known),
        ]

    def _compiled(self, kinds: tuple[Kind, ...] | None) -> LeastNorm:
        """Return the program in one step, or the second of two for multipliers of some kinds."""
        if kinds not in self._programs:
            constraints = self._one_step() if kinds is None else self._second_step(kinds)
            residual = load_cvxpy().multiply(self._observed, self._gamma)
            self._programs[kinds] = LeastNorm(
                residual, self.norm, constraints, "predictability", self._form.polyhedral
            )
        return self._programs[kinds]

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
            The decision; entries that are NaN were not observed and do not count in the norm.

        Returns
        -------
        PairSolution
            The optimum.
        """
        pair = checked_pair(A, b, c, x, self._shape)
        # The minimisers do not depend on the unit of money, but the tolerances of solvers do.
        unit = np.abs(pair.c).max() or 1.0
        lam = self._solve(pair._replace(c=pair.c / unit))
        gamma = np.array(self._gamma.value)
        value = measure(pair.observed * gamma, self.norm, self.squared)
        decision = np.where(pair.observed > 0.0, pair.x, pair.x + gamma)
        gamma = pair.observed * gamma
        return PairSolution(value, gamma, np.array(self._z.value), unit * lam, decision)

    def _solve(self, pair: Pair) -> Array:
        """Set the parameters, solve in one step or two and return the multipliers."""
        q = pair.A.T @ pair.c
        # A cost at right angles to the region is no cost; rounding alone must not make it one.
        q[np.abs(q) <= ROUNDING * (np.abs(pair.A).T @ np.abs(pair.c))] = 0.0
        self._A.value, self._b.value, self._x.value = pair.A, pair.b, pair.x
        self._observed.value = pair.observed
        if self._multipliers is None:
            self._c.value, self._q.value = pair.c, q
            self._cost.value = pair.c @ (pair.x - pair.b)
            self._compiled(None).solve()
            return np.array(self._lam.value)
        lam, slack = self._multipliers.solve(q)
        self._E.value, self._e.value, self._F.value, self._f.value = slack[1:]
        self._compiled(slack.kinds).solve()
        return lam
