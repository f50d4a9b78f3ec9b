"""The training problem of a ternary map, as a mixed-integer linear program."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from feaslearn.arrays import Indices
from feaslearn.data import Block
from feaslearn.losses import Loss, Suboptimality
from feaslearn.runs import Run
from feaslearn.sets import Box, Hypersimplex, L1Ball, PrimitiveSet, Simplex
from feaslearn.solvers.mip import MixedIntegerProgram

#: Tangents of a square that the program begins with, in units of the decisions' spread.
TANGENTS = (0.0, 0.25, 1.0)

Columns = Indices


class TernaryProgram:
    r"""Every sample's optimality conditions, with one map for all of them.

    .. math::
        \min \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
        & x_i + \gamma_i = (P_i^+ - P_i^-) e + b(s_i), \quad z_i \in Z, \\
        & P_{i,lj}^\pm = A_{lj}^\pm z_{ij}, \quad A^+ + A^- \le 1, \quad A^\pm \in \{0, 1\}, \\
        & (A^+ - A^-)'c_i = H'\lambda_i, \quad \lambda_i \in K^*, \quad
          c_i'(P_i^+ - P_i^-) e \le \lambda_i'h

    A product of a binary and a bounded number is exactly its four McCormick rows. Suboptimality has
    an excess cost :math:`J_i \ge c_i'(x_i - b(s_i)) - \lambda_i'h` instead of the last row. Squares
    are held from below by tangents, added where an answer is off.
    """

    def __init__(
        self, primitive: PrimitiveSet, loss: Loss, whole: Block, run: Run | None = None
    ) -> None:
        self.model = MixedIntegerProgram("training")
        self._loss, self._whole = loss, whole
        self._form = primitive.conic_form()
        self._priced = isinstance(loss, Suboptimality)
        self._costs = loss.unit_costs(whole.costs)
        n, k, p = whole.decisions.shape[1], whole.features.shape[1], primitive.dimension
        self.plus = self.model.columns(n, p, lower=0.0, upper=1.0, integer=True)
        self.minus = self.model.columns(n, p, lower=0.0, upper=1.0, integer=True)
        self.b = self.model.columns(k, n)
        for plus, minus in zip(self.plus.ravel(), self.minus.ravel(), strict=True):
            self.model.row([(np.array([plus, minus]), 1.0)], upper=1.0)
        limits = primitive.minimum(np.vstack([np.eye(p), -np.eye(p)]))
        self._low, self._high = limits[:p], -limits[p:]
        self._break_symmetry(primitive)
        #: Pairs of a residual and the column that stands for its square.
        self.squares: list[tuple[int, int]] = []
        for i in range(len(whole.weights)):
            if run is not None:
                run.check_time()
            self._sample(i)

    def _break_symmetry(self, primitive: PrimitiveSet) -> None:
        """Order columns that can change places; fix the sign of those that can change it."""
        n, p = self.plus.shape
        # Entries of a column are the digits of a number: one number for each column.
        digits = 3.0 ** np.arange(n)[::-1] / 3.0 ** (n - 1)
        values = [[(self.plus[:, j], digits), (self.minus[:, j], -digits)] for j in range(p)]
        low, high = self._low, self._high
        even = bool((low == low[0]).all() and (high == high[0]).all())
        if isinstance(primitive, Simplex | Hypersimplex | L1Ball | Box) and even:
            for first, second in pairwise(values):
                self.model.row([*first, *((c, -d) for c, d in second)], lower=0.0)
        if isinstance(primitive, L1Ball | Box) and bool((low == -high).all()):
            for value in values:
                self.model.row(value, lower=0.0)

    def _sample(self, i: int) -> None:
        model, (n, p) = self.model, self.plus.shape
        c, phi = self._costs[i], self._whole.features[i]
        z = model.columns(p, lower=self._low, upper=self._high)
        taken = np.minimum(self._low, 0.0), np.maximum(self._high, 0.0)
        P, M = (model.columns(n, p, lower=taken[0], upper=taken[1]) for _ in range(2))
        for product, sign in ((P, self.plus), (M, self.minus)):
            self._products(product, sign, z)
        multipliers = self._multipliers(i, z)
        if not self._priced:
            paid = [(P, np.repeat(c[:, None], p, axis=1)), (M, -np.repeat(c[:, None], p, axis=1))]
            model.row([*paid, (multipliers, -self._form.h)], upper=0.0)
        residuals, x = self._residuals(i, P, M)
        if self._priced:
            excess = model.columns(1, lower=0.0)
            hidden = np.flatnonzero(np.isnan(self._whole.decisions[i]))
            known = float(np.nan_to_num(self._whole.decisions[i]) @ c)
            offset = [(self.b[:, j], c[j] * phi) for j in range(n)]
            terms = [(excess, 1.0), *offset, (multipliers, self._form.h), (x, -c[hidden])]
            model.row(terms, lower=known)
            residuals = np.append(residuals, excess)
        self._count(i, residuals)

    def _products(self, product: Columns, sign: Columns, z: Columns) -> None:
        n, p = product.shape
        for at in np.ndindex(n, p):
            low, high = float(self._low[at[1]]), float(self._high[at[1]])
            pair = np.array([product[at], sign[at]])
            triple = np.array([product[at], z[at[1]], sign[at]])
            self.model.row([(pair, np.array([1.0, -high]))], upper=0.0)
            self.model.row([(pair, np.array([1.0, -low]))], lower=0.0)
            self.model.row([(triple, np.array([1.0, -1.0, -low]))], upper=-low)
            self.model.row([(triple, np.array([1.0, -1.0, -high]))], lower=-high)

    def _multipliers(self, i: int, z: Columns) -> Columns:
        """Add ``z in Z``, and multipliers with ``A'c = H'lambda``."""
        model, (H, h) = self.model, (self._form.H, self._form.h)
        equal = self._form.equality_rows
        for row, right, tight in zip(H, h, equal, strict=True):
            model.row([(z, row)], lower=right, upper=right if tight else np.inf)
        multipliers = model.columns(len(h), lower=np.where(equal, -np.inf, 0.0))
        c = self._costs[i]
        for j in range(len(z)):
            model.row(
                [(self.plus[:, j], c), (self.minus[:, j], -c), (multipliers, -H[:, j])],
                lower=0.0,
                upper=0.0,
            )
        return multipliers

    def _residuals(self, i: int, P: Columns, M: Columns) -> tuple[Columns, Columns]:
        """Return the residuals that count, and the unobserved decisions (suboptimality only)."""
        model, x, phi = self.model, self._whole.decisions[i], self._whole.features[i]
        counted = np.arange(len(x)) if self._priced else np.flatnonzero(~np.isnan(x))
        hidden = np.flatnonzero(np.isnan(x)) if self._priced else np.zeros(0, dtype=np.intp)
        unknown = model.columns(len(hidden))
        residuals = model.columns(len(counted))
        for j, residual in zip(counted, residuals, strict=True):
            terms = [(P[j], 1.0), (M[j], -1.0), (self.b[:, j], phi), (residual, -1.0)]
            terms += [(unknown[hidden == j], -1.0)]
            right = float(np.nan_to_num(x[j]))
            model.row(terms, lower=right, upper=right)
        return residuals, unknown

    def _count(self, i: int, residuals: Columns) -> None:
        """Make the norm of the residuals count in the objective."""
        model, weight = self.model, float(self._whole.weights[i])
        if self._loss.norm == "linf":
            sizes = np.repeat(model.columns(1, lower=0.0, cost=weight), len(residuals))
        else:
            sizes = model.columns(len(residuals), lower=0.0, cost=weight)
        for residual, size in zip(residuals, sizes, strict=True):
            if self._loss.norm == "l2":
                self.squares.append((int(residual), int(size)))
                continue
            pair = np.array([size, residual])
            model.row([(pair, np.array([1.0, 1.0]))], lower=0.0)
            model.row([(pair, np.array([1.0, -1.0]))], lower=0.0)

    def add_tangents(self, square: tuple[int, int], at: float) -> None:
        """Hold a square from below by its tangent: ``t >= 2 a r - a^2``."""
        residual, size = square
        terms = [(np.array([size, residual]), np.array([1.0, -2.0 * at]))]
        self.model.row(terms, lower=-at * at)
