r"""The training program of Minkowski sums, for both losses and every norm.

.. math::
    \min \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
    x_i - \gamma_i = b(s_i) + \sum_t E_t \zeta_{it}, \quad
    \zeta_{it} \in \alpha_t(s_i) F_{it}, \quad \alpha_t(s_i) \ge 0

With :math:`F = \{z : Hz - h \in K\}` bounded, :math:`\zeta \in \alpha F` is the cone row
:math:`H\zeta - \alpha h \in K`, which leaves only zero where the scale is zero. For predictability
:math:`F_{it}` are the minimisers of the term; for suboptimality the whole term, and the residual
has one entry more, :math:`\max(c'(x - b) - \sum_t \alpha_t \min_{Z_t} (E_t'c)'z, 0)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.formulations.program import (
    CONIC,
    LINEAR,
    QUADRATIC,
    load_cvxpy,
    semidefinite,
    solve,
)
from feaslearn.hypotheses.term import Term
from feaslearn.hypotheses.term_minimizers import TermMinimizers, without_rounding
from feaslearn.losses import Loss, Suboptimality
from feaslearn.runs import Clock
from feaslearn.solvers.conic_form import ConeKind
from feaslearn.tolerances import spread_or_size


class ProgramRows(NamedTuple):
    """Samples: functions of the scales (N, M), features (N, k), costs, decisions, weights."""

    psi: Array
    phi: Array
    costs: Array
    decisions: Array
    weights: Array


class ProgramAnswer(NamedTuple):
    """Coefficients of the scales (G, M), of the offset (k, n), and the weighted loss."""

    a: Array
    b: Array
    value: float


class MinkowskiProgram:
    r"""A Minkowski sum trained by one convex program in CVXPY.

    .. math::
        \min \{ \sum_i w_i \|\gamma_i\| : x_i - \gamma_i = b(s_i) + \sum_t E_t \zeta_{it},\
        \zeta_{it} \in \alpha_t(s_i) F_{it},\ \alpha_t(s_i) \ge 0 \}
    """

    def __init__(
        self,
        loss: Loss,
        terms: Sequence[Term],
        rows: ProgramRows,
        shared: bool = False,
        nonnegative: bool = False,
    ) -> None:
        self._loss, self._rows = loss, rows
        # Decisions of size one, so that tolerances mean the same in any unit.
        self._unit = spread_or_size(rows.decisions, float(np.nanstd(rows.decisions)))
        self._costs = rows.costs
        whole = isinstance(loss, Suboptimality)
        if isinstance(loss, Suboptimality):
            self._costs = loss.unit_costs(rows.costs)
        self._minima, tied = TermMinimizers(terms, rows.decisions.shape[1]).at(self._costs)
        pairs = np.ones_like(tied) if whole else tied
        self._faces = ScaledFaces(terms, self._costs, pairs, whole)
        self._points = np.where(pairs[:, :, None], self._faces.anchors, self._minima)
        self._groups = np.zeros(len(terms), int) if shared else np.arange(len(terms))
        self._shape = (int(self._groups.max(initial=-1)) + 1, rows.psi.shape[1])
        self._a = _variable(self._shape[0] * self._shape[1])
        self._b = _variable(rows.phi.shape[1] * rows.decisions.shape[1])
        self._latent = _variable(self._faces.size)
        self._polyhedral = True
        self._constraints = [*self._scale_rows(nonnegative), *self._face_rows()]
        self._residual = self._excess_cost() if whole else self._distance()

    def solve(
        self,
        ridge: Array | None = None,
        prices: Array | None = None,
        clock: Clock | None = None,
    ) -> ProgramAnswer:
        """Return the optimum, with ``sum ridge * a^2 + 2 sum prices * a`` added to the loss."""
        cp = load_cvxpy()
        squared = self._loss.norm == "l2" and self._loss.squared
        value = objective = self._measured(squared)
        power = self._unit ** (2 if squared else 1)
        if ridge is not None and ridge.size:
            roots = np.sqrt(ridge.ravel() / power) * self._unit
            objective = objective + cp.sum_squares(cp.multiply(roots, self._a))
        if prices is not None and prices.size:
            objective = objective + (2.0 * self._unit / power) * (prices.ravel() @ self._a)
        quadratic = squared or ridge is not None
        linear = QUADRATIC if quadratic else LINEAR
        exact = self._polyhedral and (squared or self._loss.norm != "l2")
        problem = cp.Problem(cp.Minimize(objective), self._constraints)
        solve(problem, "Minkowski", linear if exact else CONIC, clock)
        n = self._rows.decisions.shape[1]
        return ProgramAnswer(
            self._unit * _value(self._a).reshape(self._shape),
            self._unit * _value(self._b).reshape(-1, n),
            power * float(value.value),
        )

    def _measured(self, squared: bool) -> Any:
        cp, weights = load_cvxpy(), self._rows.weights
        if squared:
            return cp.sum_squares(cp.multiply(np.sqrt(weights)[:, None], self._residual))
        order = {"l1": 1, "l2": 2, "linf": "inf"}[self._loss.norm]
        return weights @ cp.norm(self._residual, order, axis=1)

    def _scales(self, rows: Indices, terms: Indices, factors: Array) -> Any:
        """Return ``factor * alpha_t(s_i)`` for lists of rows and terms."""
        m = self._shape[1]
        columns = self._groups[terms][:, None] * m + np.arange(m)
        indices = np.repeat(np.arange(len(rows)), m)
        values = (factors[:, None] * self._rows.psi[rows]).ravel()
        shape = (len(rows), self._a.size)
        return sp.csr_array((values, (indices, columns.ravel())), shape=shape) @ self._a

    def _scale_rows(self, nonnegative: bool) -> list[Any]:
        if not self._a.size:
            return []
        if nonnegative:
            return [self._a >= 0]
        rows = np.unique(self._rows.psi, axis=0)
        return [sp.kron(sp.eye_array(self._shape[0]), rows, format="csr") @ self._a >= 0]

    def _face_rows(self) -> list[Any]:
        cp, faces = load_cvxpy(), self._faces
        constraints: list[Any] = []
        if not faces.size:
            return constraints
        slack = faces.H @ self._latent - self._scales(faces.rows, faces.terms, faces.h)
        for kind, size, indices in faces.cones():
            if kind == "zero":
                constraints.append(slack[indices] == 0)
            elif kind == "nonnegative":
                constraints.append(slack[indices] >= 0)
            else:
                # One cone for each column; in a second-order one the first entry bounds the others.
                columns = cp.reshape(slack[indices], (size, len(indices) // size), order="F")
                self._polyhedral = False
                if kind == "second-order":
                    constraints.append(cp.SOC(columns[0], columns[1:], axis=0))
                else:
                    each = range(columns.shape[1])
                    constraints.extend(semidefinite(columns[:, j], size) for j in each)
        return constraints

    def _predicted(self) -> Any:
        """Return the decisions, sample by sample, one after the other."""
        count, terms, n = self._points.shape
        offset = sp.kron(sp.csr_array(self._rows.phi), sp.eye_array(n), format="csr") @ self._b
        predicted = offset + self._faces.image @ self._latent if self._faces.size else offset
        if not terms:
            return predicted
        rows, which = np.divmod(np.arange(count * terms), terms)
        for_each = self._points.reshape(count * terms, n)
        i, j = np.nonzero(for_each)
        spread = sp.csr_array(
            (for_each[i, j], (rows[i] * n + j, i)), shape=(count * n, count * terms)
        )
        return predicted + spread @ self._scales(rows, which, np.ones(count * terms))

    def _distance(self) -> Any:
        """Return the errors of the decisions; those that were not observed have none."""
        x = self._rows.decisions / self._unit
        seen = (~np.isnan(x)).ravel().astype(float)
        error = sp.diags_array(seen) @ (np.nan_to_num(x).ravel() - self._predicted())
        return load_cvxpy().reshape(error, x.shape, order="C")

    def _excess_cost(self) -> Any:
        """Return the errors, and how much more than necessary the decisions cost."""
        # Decisions that were not observed are free: they count in both.
        cp, x = load_cvxpy(), self._rows.decisions / self._unit
        count, n = x.shape
        hidden = np.flatnonzero(np.isnan(x))
        decision = np.nan_to_num(x).ravel()
        if len(hidden):
            free = (np.ones(len(hidden)), (hidden, np.arange(len(hidden))))
            spread = sp.csr_array(free, shape=(count * n, len(hidden)))
            decision = decision + spread @ cp.Variable(len(hidden))
        entries = np.repeat(np.arange(count), n), np.arange(count * n)
        price = sp.csr_array((self._costs.ravel(), entries), shape=(count, count * n))
        offset = sp.kron(sp.csr_array(self._rows.phi), sp.eye_array(n), format="csr") @ self._b
        excess = price @ (decision - offset)
        terms = self._minima.shape[1]
        if terms:
            rows, which = np.divmod(np.arange(count * terms), terms)
            least = np.einsum("itj,ij->it", self._minima, self._costs).ravel()
            ones = (np.ones(count * terms), (rows, np.arange(count * terms)))
            add = sp.csr_array(ones, shape=(count, count * terms))
            excess = excess - add @ self._scales(rows, which, least)
        paid = cp.Variable(count, nonneg=True)
        self._constraints.append(paid >= excess)
        errors = cp.reshape(decision - self._predicted(), (count, n), order="C")
        return cp.hstack([errors, cp.reshape(paid, (count, 1), order="C")])


def _variable(size: int) -> Any:
    """Return a variable; CVXPY has none without entries."""
    return load_cvxpy().Variable(size) if size else np.zeros(0)


def _value(variable: Any) -> Array:
    return np.zeros(0) if not variable.size else np.asarray(variable.value, dtype=float)


# Points of scaled sets, ``zeta in alpha F``, as rows of one sparse conic program.


class ScaledFaces:
    r"""The rows :math:`H\nu - \alpha_t(s_i) h \in K` for pairs of a sample i and a term t."""

    def __init__(self, terms: Sequence[Term], costs: Array, pairs: Mask, whole: bool) -> None:
        count, n = costs.shape
        self.anchors = np.zeros((count, len(terms), n))
        self._kinds: list[tuple[ConeKind, Indices]] = []
        embeddings = [term.embedding(n) for term in terms]
        forms = [term.primitive.conic_form() for term in terms] if whole else []
        places = np.argwhere(pairs)
        H, images, h, height = [], [], [np.zeros(0)], 0
        for i, t in places:
            matrix = embeddings[t]
            if whole:
                form = forms[t]
            else:
                face = terms[t].primitive.face(without_rounding(costs[i][None], matrix[None])[0, 0])
                self.anchors[i, t] = matrix @ face.offset
                matrix, form = matrix @ face.matrix, face.primitive.conic_form()
            H.append(form.H)
            images.append(matrix)
            h.append(form.h)
            for cone, block in form.blocks():
                if cone.size:
                    self._kinds.append((cone.kind, height + np.arange(block.start, block.stop)))
            height += len(form.h)
        empty = sp.csr_array((0, 0))
        self.H = sp.block_diag([empty, *H], format="csr")
        self.size = self.H.shape[1]
        samples = sp.csr_array(
            (np.ones(len(places)), (places[:, 0], np.arange(len(places)))), (count, len(places))
        )
        blocks = sp.block_diag([empty, *images], format="csr")
        self.image = sp.csr_array(sp.kron(samples, sp.eye_array(n)) @ blocks)
        self.h = np.concatenate(h)
        self.rows, self.terms = np.repeat(places, [len(each) for each in h[1:]], axis=0).T

    def cones(self) -> Iterator[tuple[ConeKind, int, Indices]]:
        """Yield kind, size and rows: linear rows all together, curved cones by their size."""
        together: dict[tuple[ConeKind, int], list[Indices]] = {}
        for kind, indices in self._kinds:
            size = 1 if kind in ("nonnegative", "zero") else len(indices)
            together.setdefault((kind, size), []).append(indices)
        for (kind, size), parts in together.items():
            yield kind, size, np.concatenate(parts)
