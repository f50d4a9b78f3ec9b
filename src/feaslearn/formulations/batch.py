"""Losses row by row through the paper's programs: their second implementation."""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.exceptions import UnsupportedError
from feaslearn.formulations.complementarity import Kind, OptimalMultipliers, complementary
from feaslearn.formulations.program import (
    LeastNorm,
    PairSolution,
    convex_form,
    in_cone,
    load_cvxpy,
    measure,
)
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.losses import Loss, Predictability, Suboptimality
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import SUM_ROUNDING


def losses_by_program(loss: Loss, hypothesis: MapHypothesis, theta: Array, block: Block) -> Array:
    """Return the loss of every row of a block, each by a convex program."""
    # Slow (milliseconds a row) and obviously right: what the fast losses are held against.
    n, costs = block.decisions.shape[1], block.costs
    if isinstance(loss, Suboptimality):
        costs = loss.unit_costs(costs)
    values, program, compiled = np.empty(len(costs)), None, None
    for i, phi in enumerate(block.features):
        image = hypothesis.image(theta, phi, n)
        if program is None or image.primitive is not compiled:
            program, compiled = _program(loss, image.primitive, n), image.primitive
        values[i] = program.solve(image.matrix, image.offset, costs[i], block.decisions[i]).value
    return values


def _program(
    loss: Loss, primitive: PrimitiveSet, n: int
) -> PredictabilityProgram | SuboptimalityProgram:
    """State the program of a loss over a set."""
    if isinstance(loss, Predictability):
        return PredictabilityProgram(primitive, n, loss.norm, loss.squared)
    if isinstance(loss, Suboptimality):
        return SuboptimalityProgram(primitive, n, loss.norm, loss.squared)
    raise UnsupportedError(
        f"{type(loss).__name__} has no program here; Predictability and Suboptimality have"
    )


class SuboptimalityProgram:
    r"""Infeasibility and excess cost of x in its region, as the paper writes them.

    .. math::
        \min \{ \|(\gamma_f, \gamma_o)\| : x + \gamma = Az + b,\ \|\gamma\| \le \gamma_f,\
        Hz - h \in K,\ \lambda \in K^*,\ A'c = H'\lambda,\ c'(x - b) - \lambda'h \le \gamma_o \}

    The norm of gamma and the norm of the pair are the same one, so the pair's norm is that of all
    entries of gamma and gamma_o together and the row of gamma_f is not needed.
    """

    def __init__(
        self, primitive: PrimitiveSet, n: int, norm: str = "l2", squared: bool = True
    ) -> None:
        cp = load_cvxpy()
        self.norm, self.squared = norm, squared
        self._form = convex_form(primitive)
        self._shape = (n, self._form.H.shape[1])
        self._A = cp.Parameter(self._shape)
        self._b, self._x, self._hidden = (cp.Parameter(n) for _ in range(3))
        # Products of two parameters are parameters themselves, so that the problem compiles once.
        self._hidden_c = cp.Parameter(n)
        self._q = cp.Parameter(self._shape[1])
        self._cost = cp.Parameter()
        self._gamma, self._z = cp.Variable(n), cp.Variable(self._shape[1])
        self._lam = cp.Variable(len(self._form.h))
        self._gamma_o = cp.Variable(nonneg=True)
        self._free = cp.Variable(n)
        self._program = self._stated()

    def _stated(self) -> LeastNorm:
        """State the program."""
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

    def solve(self, A: Array, b: Array, c: Array, x: Array) -> PairSolution:
        """Solve the program of one pair."""
        hidden, x = np.isnan(x), np.nan_to_num(x)
        self._A.value, self._b.value, self._x.value = A, b, x
        self._hidden.value, self._hidden_c.value = hidden.astype(float), hidden * c
        self._q.value, self._cost.value = A.T @ c, c @ (x - b)
        self._program.solve()
        gamma, excess = np.array(self._gamma.value), float(self._gamma_o.value)
        value = measure(np.append(gamma, excess), self.norm, self.squared)
        decision = np.where(hidden, self._free.value, x)
        z, lam = np.array(self._z.value), np.array(self._lam.value)
        return PairSolution(value, gamma, z, lam, decision, excess)


class PredictabilityProgram:
    r"""The distance of x to the optimal face of its region, as the paper writes it.

    .. math::
        \min \{ \|\gamma\| : x + \gamma = Az + b,\ Hz - h \in K,\ \lambda \in K^*,\
        A'c = H'\lambda,\ c'(x + \gamma - b) \le \lambda'h \}

    The last row is strong duality: it holds only where ``x + gamma`` is optimal in the region, and
    no point satisfies it strictly. Linear rows do not mind. With curved cones an error of
    1e-12 in that row is one of 1e-6 in gamma, so there the same program is solved in two
    steps: first the multipliers (they do not depend on gamma and z), then gamma and z with the
    last row written cone by cone, as complementary slackness, which is the same set.
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
        self.norm, self.squared = norm, squared
        self._form = convex_form(primitive)
        self._shape = (n, self._form.H.shape[1])
        self._A = cp.Parameter(self._shape)
        self._b, self._c, self._x, self._observed = (cp.Parameter(n) for _ in range(4))
        # Products of two parameters are parameters themselves, so that the problem compiles once.
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
        """Return the rows of the program."""
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
        """Return the rows of the second step."""
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

    def solve(self, A: Array, b: Array, c: Array, x: Array) -> PairSolution:
        """Solve the program of one pair."""
        # The minimisers do not depend on the unit of money, but the tolerances of solvers do.
        unit = np.abs(c).max() or 1.0
        observed = (~np.isnan(x)).astype(float)
        x, c = np.nan_to_num(x), c / unit
        q = A.T @ c
        # A cost at right angles to the region is no cost; rounding alone must not make it one.
        q[np.abs(q) <= SUM_ROUNDING * (np.abs(A).T @ np.abs(c))] = 0.0
        self._A.value, self._b.value, self._x.value = A, b, x
        self._observed.value = observed
        if self._multipliers is None:
            self._c.value, self._q.value, self._cost.value = c, q, c @ (x - b)
            self._compiled(None).solve()
            lam = np.array(self._lam.value)
        else:
            lam, slack = self._multipliers.solve(q)
            self._E.value, self._e.value, self._F.value, self._f.value = slack[1:]
            self._compiled(slack.kinds).solve()
        gamma = np.array(self._gamma.value)
        value = measure(observed * gamma, self.norm, self.squared)
        decision = np.where(observed > 0.0, x, x + gamma)
        return PairSolution(value, observed * gamma, np.array(self._z.value), unit * lam, decision)
