"""Decisions where a region is empty: rows are relaxed in the order of their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.known import KnownLimits
from feaslearn.region.form import RegionForm, Row, combined
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.solvers.conic_form import Cone, ConicForm, kept_cones
from feaslearn.solvers.highs import Bounds, WarmProgram, raise_failures
from feaslearn.solvers.mip import solve_integer
from feaslearn.tolerances import FEASIBILITY_TOL, divisors, powers_of_two

#: What a unit of distance to the region costs, in units of the largest price.
DISTANCE_COST = 1e3


class Relaxed(NamedTuple):
    """Decisions, where they are further than rounding from the region, and where hard rows clash.

    ``contradictory`` says where no decision satisfies the rows that are never relaxed; decisions
    there violate them least.
    """

    decisions: Array
    away: Mask
    contradictory: Mask


def relax(form: RegionForm, weights: Array, costs: Array) -> Relaxed:
    """Return the decisions within the hard rows that relax the others least, of these the cheapest.

    Linear regions count violations in sum, by the cost of relaxing each row; curved ones take the
    Euclidean distance.
    """
    if form.fixed_matrix and not form.curved and not form.integer.any():
        return _relax_linear(form, weights, costs)
    each = [
        _relax_curved(form.at(w))
        if form.curved
        else _relax_linear(form.at(w), np.ones((1, 1)), c[None])
        for w, c in zip(weights, costs, strict=True)
    ]
    return Relaxed(*(np.concatenate(part) for part in zip(*each, strict=True)))


def _relax_linear(form: RegionForm, weights: Array, costs: Array) -> Relaxed:
    """Relax by linear programs over decisions, latent variables and violations."""
    price = np.array([row.relax for row in form.labels])
    program = _Elastic(form, np.isfinite(price), price)
    found, distance, failed = program.solve(combined(weights, form.r), costs)
    if failed.any():
        # No decision satisfies the hard rows: those of the decisions are violated least.
        hard = ~np.isfinite(price) & (np.diff(form.X.indptr) > 0)
        least = _Elastic(form, np.ones(len(price), dtype=bool), np.where(hard, 1.0, 0.0))
        found[failed] = least.solve(combined(weights[failed], form.r), 0.0 * costs[failed])[0]
    return Relaxed(found, failed | (distance > FEASIBILITY_TOL), failed)


class _Elastic:
    """``min c'x + prices'v`` where v relaxes some rows: ``X x + Z z + v >= r``, or ``= r``."""

    # Rows of one entry that are not relaxed are bounds; the others stand before those that are.

    def __init__(self, form: RegionForm, soft: Mask, price: Array) -> None:
        self.form = form
        matrix = sp.csr_array(sp.hstack([form.X, form.Z[0]]))
        matrix.eliminate_zeros()
        single = np.flatnonzero((np.diff(matrix.indptr) == 1) & ~soft)
        self.single = single
        self.entries = matrix.indices[matrix.indptr[single]]
        self.factors = matrix.data[matrix.indptr[single]]
        others = np.setdiff1d(np.flatnonzero(~soft), single)
        self.rows = rows = np.concatenate([others, np.flatnonzero(soft)])
        self.equality = form.equality[rows]
        relaxed = np.arange(len(others), len(rows))
        both = relaxed[self.equality[relaxed]]
        columns = np.concatenate([relaxed, both])
        signs = np.repeat([1.0, -1.0], [len(relaxed), len(both)])
        shape = (len(rows), len(columns))
        slack = sp.csr_array((signs, (columns, np.arange(len(columns)))), shape=shape)
        # Links read ``A z + v = x - b``; rows that are never relaxed are of size one.
        links = np.array([form.labels[i].kind == "link" for i in rows], dtype=bool)
        largest = abs(matrix[rows]).max(axis=1).toarray().ravel()
        self.sizes = np.where(soft[rows], 1.0, 1.0 / powers_of_two(largest))
        self.sizes[links & soft[rows]] = -1.0
        scaled = sp.diags_array(self.sizes) @ matrix[rows]
        self.matrix = sp.csc_array(sp.hstack([scaled, slack]))
        self.prices = price[rows][columns]
        self.integer = np.concatenate(
            [np.zeros(form.n, dtype=bool), form.integer, np.zeros(len(columns), dtype=bool)]
        )

    def solve(self, right: Array, costs: Array) -> tuple[Array, Array, Mask]:
        """Return decisions, distances in units of each sample, and where there is no point."""
        n, p, count = self.form.n, self.form.p, len(right)
        finite = np.where(np.isfinite(right), np.abs(right), 0.0).max(axis=1, initial=0.0)
        units = powers_of_two(finite)[:, None]
        if self.integer.any():
            units = np.ones((count, 1))
        right = right / units
        lower, upper = self._bounds(right[:, self.single])
        violations = np.zeros((count, len(self.prices)))
        limits = right[:, self.rows] * self.sizes
        bounds = Bounds(
            limits,
            np.where(self.equality, limits, np.inf),
            np.hstack([lower, violations]),
            np.hstack([upper, violations + np.inf]),
        )
        costs = costs / divisors(np.abs(costs).max(axis=1, keepdims=True))
        prices = np.broadcast_to(DISTANCE_COST * self.prices, violations.shape)
        prices = np.hstack([costs, np.zeros((count, p)), prices])
        points = np.full(prices.shape, np.nan)
        failed: Mask = np.any(lower > upper, axis=1)
        fine = np.flatnonzero(~failed)
        part = Bounds(*(side[fine] for side in bounds))
        points[fine], failed[fine] = self._points(prices[fine], part)
        distance = points[:, n + p :] @ (self.prices > 0.0)
        return units * points[:, :n], np.where(failed, np.inf, distance), failed

    def _bounds(self, limits: Array) -> tuple[Array, Array]:
        """Return the bounds of decisions and latent variables that rows of one entry make."""
        lower = np.full((len(limits), self.form.n + self.form.p), -np.inf)
        upper = -lower
        lower[:, self.integer[: lower.shape[1]]], upper[:, self.integer[: lower.shape[1]]] = (
            0.0,
            1.0,
        )
        equality = self.form.equality[self.single]
        for i, (j, factor) in enumerate(zip(self.entries, self.factors, strict=True)):
            if equality[i] or factor > 0.0:
                lower[:, j] = np.maximum(lower[:, j], limits[:, i] / factor)
            if equality[i] or factor < 0.0:
                upper[:, j] = np.minimum(upper[:, j], limits[:, i] / factor)
        return lower, upper

    def _points(self, prices: Array, bounds: Bounds) -> tuple[Array, Mask]:
        """Return optimal points, and where there is none."""
        if not self.integer.any():
            answers, statuses = WarmProgram(self.matrix).attempt(prices, bounds)
            failed = statuses == "Infeasible"
            raise_failures(np.where(failed, "Optimal", statuses))
            return answers.points, np.asarray(failed)
        points, failed = np.full(prices.shape, np.nan), np.zeros(len(prices), dtype=bool)
        for i, cost in enumerate(prices):
            one = Bounds(*(side[i] for side in bounds))
            try:
                points[i] = solve_integer(self.matrix, cost, one, self.integer)
            except InfeasibleProblemError:
                failed[i] = True
        return points, failed


def _relax_curved(form: RegionForm) -> Relaxed:
    """Return the decision within the hard rows that is nearest to a curved region at one signal."""
    matrix = sp.csr_array(sp.hstack([form.X, form.Z[0]])).toarray()
    right = form.r[0]
    soft = np.isfinite([row.relax for row in form.labels])
    hard = ~soft & np.isfinite(right)
    # What a soft inequality has to spare does not count as a distance.
    spare = np.eye(len(soft))[:, soft & ~form.equality]
    rows = ConicForm(
        block_diag(matrix[hard], np.eye(spare.shape[1])),
        np.append(right[hard], np.zeros(spare.shape[1])),
        (*kept_cones(form.cones, hard), Cone("nonnegative", spare.shape[1])),
    )
    measured = np.hstack([matrix, -spare])[soft]
    yes, no = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
    try:
        near = nearest_by_solver(rows, measured, right[soft], "l2").latent
        return Relaxed(near[None, : form.n], yes, no)
    except InfeasibleProblemError:
        decisive = hard & (np.diff(form.X.indptr) > 0)
        linear = replace(
            form,
            X=form.X[np.flatnonzero(decisive)],
            Z=(form.Z[0][np.flatnonzero(decisive)],),
            r=form.r[:, decisive],
            cones=kept_cones(form.cones, decisive),
            labels=tuple(Row("known") for _ in np.flatnonzero(decisive)),
        )
        least = _Elastic(
            linear, np.ones(len(linear.labels), dtype=bool), np.ones(len(linear.labels))
        )
        return Relaxed(least.solve(linear.r, np.zeros((1, form.n)))[0], yes, yes)


def least_infeasible(known: KnownLimits) -> Array:
    """Return the decision that violates the known constraints of one sample least, in sum."""
    n, known = known.shape.n, rows_of_size_one(known)
    free = RegionForm.of_rows(np.zeros((0, n)), np.zeros((1, 0))).where(known.shape)
    everywhere = np.ones(len(free.labels), dtype=bool)
    right = combined(free.weights(np.ones((1, 1)), known.columns()), free.r)
    elastic = _Elastic(free, everywhere, everywhere.astype(float))
    return np.asarray(elastic.solve(right, np.zeros((1, n)))[0][0])


def rows_of_size_one(known: KnownLimits) -> KnownLimits:
    """Return the same constraints with rows of size one, which the solver's tolerances expect."""
    sizes = [np.abs(matrix).max(axis=1, initial=0.0) for matrix in known[:2]]
    g, e = (1.0 / powers_of_two(size) for size in sizes)
    matrices = g[:, None] * known.G, e[:, None] * known.E
    return KnownLimits(*matrices, known.g * g, known.lower, known.upper, known.e * e)
