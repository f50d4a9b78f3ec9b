r"""Section 3.3, the second case: a constant ternary map, as one mixed-integer linear program.

With :math:`A \in \{-1, 0, 1\}^{n \times p}` constant, equations (10a) and (10b) have only products
of a binary and a bounded number, and the number of binaries does not grow with the samples:

.. math::
    \min \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
    & x_i + \gamma_i = (P_i^+ - P_i^-) e + b(s_i), \quad z_i \in Z, \\
    & P_{i,lj}^\pm = A_{lj}^\pm z_{ij}, \quad A^+ + A^- \le 1, \quad A^\pm \in \{0, 1\}, \\
    & (A^+ - A^-)'c_i = H'\lambda_i, \quad \lambda_i \in K^*, \quad
      c_i'(P_i^+ - P_i^-) e \le \lambda_i'h

A product of a binary and a bounded number is exactly its four McCormick rows. Suboptimality has an
excess cost :math:`J_i \ge c_i'(x_i - b(s_i)) - \lambda_i'h`, :math:`J_i \ge 0`, instead of the last
row. Squares, which HiGHS does not take, are held from below by tangents
:math:`t \ge 2 a r - a^2`, added where an answer is off: every round has a lower bound. The paper
states this class and gives no program for it.
"""

from __future__ import annotations

import logging
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

from feaslearn.arrays import Array, Indices
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.paper.descent import least_squares
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.milp import bounded, check_search
from feaslearn.paper.mip import MixedIntegerProgram
from feaslearn.paper.problem import Clock, Found, OutOfTime, Problem, Status
from feaslearn.paper.regions import Ternary
from feaslearn.sets import Box, Hypersimplex, L1Ball, Simplex
from feaslearn.tolerances import ROUNDING, SAME_TOL, ZERO_LOSS

logger = logging.getLogger("feaslearn")

#: Tangents of a square that the program begins with, in units of the decisions' spread.
TANGENTS = (-1.0, -0.25, 0.0, 0.25, 1.0)
#: Entries of maps that the local search may try.
MOST_TRIED = 2_000

Columns = Indices


def ternary(
    problem: Problem,
    *,
    max_seconds: float | None = 60.0,
    tol: float = 1e-4,
    max_iter: int | None = None,
    n_starts: int = 10,
    seed: int = 0,
) -> Found:
    """Find the best ternary map of a polyhedral set, and prove how good it is.

    Parameters
    ----------
    problem : Problem
        A `Ternary` region, and a loss with the squared l2, the l1 or the linf norm.
    max_seconds : float, default=60.0
        Limit on the wall time; None for none. The best map so far is returned.
    tol : float, default=1e-4
        Relative gap between loss and lower bound at which the search ends.
    max_iter : int, default=None
        Limit on the rounds of tangents.
    n_starts : int, default=10
        Random maps from which a local search begins before the program.
    seed : int, default=0
        Seed of these maps.

    Returns
    -------
    Found
        With a lower bound; its status is "stalled" where the program ends with a larger gap.

    Examples
    --------
    >>> import numpy as np
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Box
    >>> costs = np.array([[1.0, 3.0], [2.0, 1.0], [1.0, 2.0]])
    >>> flow = np.array([[1.0], [-1.0], [1.0]])
    >>> data = paper.Data(np.zeros((3, 1)), flow * [1.0, -1.0], costs)
    >>> found = paper.ternary(paper.Problem.of(paper.Ternary(Box(1)), data))
    >>> found.status, found.objective, np.abs(found.theta[:2])
    ('optimal', 0.0, array([1., 1.]))
    """
    region = problem.region
    if not isinstance(region, Ternary):
        raise UnsupportedError(f"ternary: {region!r} is not Ternary")
    if region.Z.discrete or not region.Z.conic_form().polyhedral:
        raise UnsupportedError(
            f"ternary: {region.Z!r} is binary or curved; a polyhedral set without binary=True, "
            "such as Box or L1Ball, is served"
        )
    check_search(problem, tol)
    # HiGHS hears of Ctrl-C by itself: the clock alone would wait for its end.
    clock = Clock(max_seconds)
    search = TernarySearch(problem, clock, tol)
    status = search.run(np.random.default_rng(seed), max_iter, n_starts)
    rounds = len(search.history)
    return bounded(problem, search.best, status, search.bound, clock, rounds, search.history)


class TernarySearch:
    """Local search over maps, then the mixed-integer program with tangents where needed."""

    def __init__(self, problem: Problem, clock: Clock, tol: float) -> None:
        self._problem, self._clock, self._tol = problem, clock, tol
        self._shape = problem.n_decisions, problem.region.Z.dimension
        self._squared = problem.loss.norm == "l2"
        spread = float(np.var(problem.samples.decisions))
        self._zero = ZERO_LOSS * (spread if self._squared else np.sqrt(spread))
        self.best, self.value = np.zeros(problem.size), np.inf
        self.bound, self.history = 0.0, list[dict[str, float]]()

    def run(self, random: np.random.Generator, max_iter: int | None, n_starts: int) -> Status:
        """Search; zero is always a lower bound."""
        try:
            self._offer(np.zeros(self._shape))
            self._local_search(random, n_starts)
            return "optimal" if self.value <= self._zero else self._prove(max_iter)
        except KeyboardInterrupt:
            return "interrupted"
        except OutOfTime:
            return "time limit"
        except SolverError as error:
            logger.warning("ternary: the best map found is kept without a proof: %s", error)
            return "stalled"

    def _prove(self, max_iter: int | None) -> Status:
        program = TernaryProgram(self._problem, self._clock)
        self._first_tangents(program)
        while not self._clock.late():
            answer = program.model.solve(
                start=self._start(program), seconds=self._clock.left, mip_rel_gap=self._tol / 2
            )
            self.bound, off = max(self.bound, answer.bound), np.inf
            if answer.values is not None:
                A = np.round(answer.values[program.plus] - answer.values[program.minus]) + 0.0
                self._offer(A, answer.values[program.b])
                off = self._cut(program, answer.values)
            self.history.append(
                {"seconds": self._clock.seconds, "loss": self.value, "lower bound": self.bound}
            )
            if answer.outcome == "interrupted":
                return "interrupted"
            if self.value - self.bound <= self._tol * self.value + self._zero:
                return "optimal"
            if answer.outcome == "optimal" and off <= SAME_TOL * max(self.value, self._zero):
                return "stalled"
            if max_iter is not None and len(self.history) >= max_iter:
                return "iteration limit"
        return "time limit"

    def _first_tangents(self, program: TernaryProgram) -> None:
        decisions = self._problem.samples.decisions
        width = float(np.std(decisions)) or 1.0
        for square in program.squares:
            for share in TANGENTS:
                program.add_tangent(square, share * width)
        if self._squared and isinstance(self._problem.loss, Predictability):
            # The squares of the best map are the ones that a bound has to reach.
            gaps = (self._problem.decisions(self.best) - decisions).ravel()
            for square, gap in zip(program.squares, gaps, strict=True):
                program.add_tangent(square, float(gap))

    def _cut(self, program: TernaryProgram, values: Array) -> float:
        """Add a tangent wherever a square is too small in an answer; return by how much in all."""
        off = 0.0
        for residual, size in program.squares:
            missing = values[residual] ** 2 - values[size]
            if missing > 1e-3 * self._tol * self.value:
                program.add_tangent((residual, size), values[residual])
            off += max(missing, 0.0)
        return off

    def _start(self, program: TernaryProgram) -> dict[int, float]:
        n, p = self._shape
        A = self.best[: n * p].reshape(n, p)
        columns = np.append(program.plus.ravel(), program.minus.ravel())
        entries = np.append((A > 0.5).ravel(), (A < -0.5).ravel())
        return dict(zip(columns.tolist(), entries.astype(float).tolist(), strict=True))

    def _offer(self, A: Array, b: Array | None = None) -> float:
        """Take a map if it is better than the best so far, with the best offset found for it."""
        least = np.inf
        for offset in [self._fitted(A)] if b is None else [self._fitted(A), b]:
            theta = np.concatenate([A.ravel(), self._best_offset(A, offset).ravel()])
            value = self._problem.value(theta)
            least = min(least, value)
            if value < self.value:
                self.best, self.value = theta, value
        return least

    def _fitted(self, A: Array) -> Array:
        """Regress what the map leaves over on the features."""
        features, costs, decisions, weights = self._problem.samples
        rest = decisions - self._problem.region.Z.argmin(costs @ A) @ A.T
        return least_squares(features, rest, weights)

    def _best_offset(self, A: Array, b: Array) -> Array:
        """Minimise the squared loss in b, where it is convex; other norms have a program."""
        if not self._squared:
            return b

        def loss(flat: Array) -> tuple[float, Array]:
            value, slope = self._problem.value_and_gradient(np.append(A.ravel(), flat))
            return value, slope[A.size :]

        if loss(b.ravel())[0] <= self._zero:
            return b
        answer = minimize(loss, b.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200})
        return np.asarray(answer.x.reshape(b.shape))

    def _local_search(self, random: np.random.Generator, n_starts: int) -> None:
        """Change one entry of a map at a time while that helps, from several maps."""
        tried = 0
        for _ in range(n_starts):
            A = random.integers(-1, 2, self._shape).astype(float)
            value, improved = self._offer(A), True
            while improved and self.value > self._zero:
                improved = False
                for at in np.ndindex(*self._shape):
                    for entry in [e for e in (-1.0, 0.0, 1.0) if e != A[at]]:
                        if tried >= MOST_TRIED or self._clock.late():
                            return
                        tried += 1
                        changed = A.copy()
                        changed[at] = entry
                        reached = self._offer(changed)
                        if reached < value - ROUNDING:
                            A, value, improved = changed, reached, True
            if self.value <= self._zero:
                return


class TernaryProgram:
    """Every sample's optimality conditions, with one map for all of them (module head)."""

    def __init__(self, problem: Problem, clock: Clock) -> None:
        self.model = MixedIntegerProgram("training")
        self._loss, self._samples = problem.loss, problem.samples
        self._form = problem.region.Z.conic_form()
        self._priced = isinstance(problem.loss, Suboptimality)
        self._costs = problem.loss.unit_costs(problem.samples.costs)
        n, k, p = problem.n_decisions, problem.n_features, problem.region.Z.dimension
        self.plus = self.model.columns(n, p, lower=0.0, upper=1.0, integer=True)
        self.minus = self.model.columns(n, p, lower=0.0, upper=1.0, integer=True)
        self.b = self.model.columns(k, n)
        pairs = [(self.plus.ravel(), 1.0), (self.minus.ravel(), 1.0)]
        self.model.rows(n * p, pairs, upper=1.0)
        limits = problem.region.Z.minimum(np.vstack([np.eye(p), -np.eye(p)]))
        self._low, self._high = limits[:p], -limits[p:]
        self._break_symmetry(problem.region.Z)
        #: Pairs of a residual and the column that stands for its square.
        self.squares: list[tuple[int, int]] = []
        for i in range(problem.n_samples):
            clock.check()
            self._sample(i)

    def _break_symmetry(self, Z: object) -> None:
        """Order columns that can change places; fix the sign of those that can change it."""
        n, p = self.plus.shape
        # Entries of a column are the digits of a number: one number for each column.
        digits = 3.0 ** np.arange(n)[::-1] / 3.0 ** (n - 1)
        values = [[(self.plus[:, j], digits), (self.minus[:, j], -digits)] for j in range(p)]
        low, high = self._low, self._high
        even = bool((low == low[0]).all() and (high == high[0]).all())
        if isinstance(Z, Simplex | Hypersimplex | L1Ball | Box) and even:
            for first, second in pairwise(values):
                self.model.row([*first, *((c, -d) for c, d in second)], lower=0.0)
        if isinstance(Z, L1Ball | Box) and bool((low == -high).all()):
            for value in values:
                self.model.row(value, lower=0.0)

    def _sample(self, i: int) -> None:
        model, (n, p) = self.model, self.plus.shape
        c, phi = self._costs[i], self._samples.features[i]
        z = model.columns(p, lower=self._low, upper=self._high)
        taken = np.minimum(self._low, 0.0), np.maximum(self._high, 0.0)
        P, M = (model.columns(n, p, lower=taken[0], upper=taken[1]) for _ in range(2))
        for product, sign in ((P, self.plus), (M, self.minus)):
            self._products(product, sign, z)
        multipliers = self._multipliers(c, z)
        if not self._priced:
            paid = [(P, np.repeat(c[:, None], p, axis=1)), (M, -np.repeat(c[:, None], p, axis=1))]
            model.row([*paid, (multipliers, -self._form.h)], upper=0.0)
        residuals = self._residuals(i, P, M)
        if self._priced:
            excess = model.columns(1, lower=0.0)
            offset = [(self.b[:, j], c[j] * phi) for j in range(n)]
            terms = [(excess, 1.0), *offset, (multipliers, self._form.h)]
            model.row(terms, lower=float(c @ self._samples.decisions[i]))
            residuals = np.append(residuals, excess)
        self._count(float(self._samples.weights[i]), residuals)

    def _products(self, product: Columns, sign: Columns, z: Columns) -> None:
        """Add the McCormick rows of ``product = sign * z``."""
        low, high = (np.broadcast_to(end, product.shape).ravel() for end in (self._low, self._high))
        z = np.broadcast_to(z, product.shape).ravel()
        product, sign, rows = product.ravel(), sign.ravel(), self.model.rows
        rows(len(z), [(product, 1.0), (sign, -high)], upper=0.0)
        rows(len(z), [(product, 1.0), (sign, -low)], lower=0.0)
        rows(len(z), [(product, 1.0), (z, -1.0), (sign, -low)], upper=-low)
        rows(len(z), [(product, 1.0), (z, -1.0), (sign, -high)], lower=-high)

    def _multipliers(self, c: Array, z: Columns) -> Columns:
        """Add ``z in Z``, and multipliers with ``A'c = H'lambda``."""
        model, (H, h) = self.model, (self._form.H, self._form.h)
        equal = self._form.equality_rows
        for row, right, tight in zip(H, h, equal, strict=True):
            model.row([(z, row)], lower=right, upper=right if tight else np.inf)
        multipliers = model.columns(len(h), lower=np.where(equal, -np.inf, 0.0))
        for j in range(len(z)):
            terms = [(self.plus[:, j], c), (self.minus[:, j], -c), (multipliers, -H[:, j])]
            model.row(terms, lower=0.0, upper=0.0)
        return multipliers

    def _residuals(self, i: int, P: Columns, M: Columns) -> Columns:
        """Return the residuals of the decisions."""
        model, x, phi = self.model, self._samples.decisions[i], self._samples.features[i]
        residuals = model.columns(len(x))
        for j, residual in enumerate(residuals):
            terms = [(P[j], 1.0), (M[j], -1.0), (self.b[:, j], phi), (residual, -1.0)]
            model.row(terms, lower=x[j], upper=x[j])
        return residuals

    def _count(self, weight: float, residuals: Columns) -> None:
        """Make the norm of the residuals count in the objective."""
        if self._loss.norm == "linf":
            sizes = np.repeat(self.model.columns(1, lower=0.0, cost=weight), len(residuals))
        else:
            sizes = self.model.columns(len(residuals), lower=0.0, cost=weight)
        if self._loss.norm == "l2":
            self.squares += zip(residuals.tolist(), sizes.tolist(), strict=True)
            return
        self.model.rows(len(sizes), [(sizes, 1.0), (residuals, 1.0)], lower=0.0)
        self.model.rows(len(sizes), [(sizes, 1.0), (residuals, -1.0)], lower=0.0)

    def add_tangent(self, square: tuple[int, int], at: float) -> None:
        """Hold a square from below by its tangent at ``at``."""
        terms = [(np.array(square), np.array([-2.0 * at, 1.0]))]
        self.model.row(terms, lower=-at * at)
