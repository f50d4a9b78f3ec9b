"""Decisions where a region is empty: rows are relaxed in the order of their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.known import KnownLimits
from feaslearn.region.form import RegionForm, combined
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.solvers.conic_form import Cone, ConicForm, kept_cones
from feaslearn.solvers.highs import Bounds, WarmProgram
from feaslearn.tolerances import FEASIBILITY_TOL, divisors, powers_of_two

#: What a unit of distance to the region costs, in units of the largest price.
DISTANCE_COST = 1e3


def relax(form: RegionForm, weights: Array, costs: Array) -> tuple[Array, Mask]:
    """Return the decisions within the hard rows that relax the others least, of these the cheapest.

    The mask says where they are further than rounding from the region; where no decision satisfies
    the hard rows, these are violated least.
    Linear regions count violations in sum, by the cost of relaxing each row; curved ones take the
    Euclidean distance.
    """
    if form.fixed_matrix and not form.curved:
        return _relax_linear(form, combined(weights, form.r), costs)
    each = [
        _relax_curved(form.at(w))
        if form.curved
        else _relax_linear(form.at(w), form.at(w).r, c[None])
        for w, c in zip(weights, costs, strict=True)
    ]
    decisions, away = zip(*each, strict=True)
    return np.concatenate(decisions), np.concatenate(away)


def _relax_linear(form: RegionForm, right: Array, costs: Array) -> tuple[Array, Mask]:
    """Relax by linear programs over decisions, latent variables and violations."""
    found, distance = _elastic(form, np.array([row.relax for row in form.labels]), right, costs)
    failed = np.isnan(found[:, 0])
    if failed.any():
        found[failed] = _least_infeasible(form, right[failed])
    return found, failed | (distance > FEASIBILITY_TOL)


def _least_infeasible(form: RegionForm, right: Array) -> Array:
    """Return the decisions that violate the hard rows of decisions least, in sum."""
    hard = np.isinf([row.relax for row in form.labels]) & (np.diff(form.X.indptr) > 0)
    rows = np.flatnonzero(hard)
    few = replace(
        form,
        X=form.X[rows],
        Z=tuple(Z[rows] for Z in form.Z),
        r=form.r[:, rows],
        cones=kept_cones(form.cones, hard),
        labels=tuple(form.labels[i] for i in rows),
    )
    return _elastic(few, np.ones(len(rows)), right[:, rows], np.zeros((len(right), form.n)))[0]


class RowBounds(NamedTuple):
    """Bounds of points (N, p) by rows of one entry; those rows, their columns and limits."""

    lower: Array
    upper: Array
    single: Indices
    columns: Indices
    limits: Array


def bounds_of(W: Array, w: Array, equality: Mask) -> RowBounds:
    """Return the bounds of points y by those of the rows ``W y >= w`` (or = w) with one entry."""
    single = np.flatnonzero((W != 0.0).sum(axis=1) == 1)
    columns = np.nonzero(W[single])[1]
    factors = W[single, columns]
    limits = (w[:, single] / factors).T
    lower = np.full((W.shape[1], len(w)), -np.inf)
    upper = -lower
    at_least, at_most = (equality[single] | (sign * factors > 0.0) for sign in (1.0, -1.0))
    np.maximum.at(lower, columns[at_least], limits[at_least])
    np.minimum.at(upper, columns[at_most], limits[at_most])
    return RowBounds(lower.T, upper.T, single, columns, limits)


def _elastic(form: RegionForm, price: Array, right: Array, costs: Array) -> tuple[Array, Array]:
    """Return decisions and distances of ``min c'x + prices'v`` where v relaxes priced rows.

    Rows ``X x + Z z + v >= right`` (or = right) of infinite price are not relaxed; decisions are
    NaN where no point satisfies those. Distances are in units of each sample.
    """
    n, p = form.n, form.p
    matrix: Any = sp.hstack([form.X, form.Z[0]], format="csr")
    soft = np.isfinite(price)
    finite = np.where(np.isfinite(right), np.abs(right), 0.0).max(axis=1, initial=0.0)
    units = powers_of_two(finite)[:, None]
    right = right / units
    hard, equality = np.flatnonzero(~soft), form.equality
    lower, upper, single, *_ = bounds_of(matrix[hard].toarray(), right[:, hard], equality[hard])
    rows = np.concatenate([np.delete(hard, single), np.flatnonzero(soft)])
    soft, equality, price = soft[rows], equality[rows], price[rows]
    columns = np.concatenate([np.flatnonzero(soft), np.flatnonzero(soft & equality)])
    signs = np.repeat([1.0, -1.0], [soft.sum(), (soft & equality).sum()])
    shape = (len(rows), len(columns))
    slack = sp.csr_array((signs, (columns, np.arange(len(columns)))), shape=shape)
    # Links read ``A z + v = x - b``; rows that are never relaxed are of size one.
    links = np.array([form.labels[i].kind == "link" for i in rows], dtype=bool)
    largest = abs(matrix[rows]).max(axis=1).toarray().ravel()
    sizes = np.where(soft, np.where(links, -1.0, 1.0), 1.0 / powers_of_two(largest))
    matrix = sp.hstack([sp.diags_array(sizes) @ matrix[rows], slack], format="csc")
    prices = np.tile(DISTANCE_COST * price[columns], (len(right), 1))
    sizes_of = divisors(np.abs(costs).max(axis=1, keepdims=True))
    limits = right[:, rows] * sizes
    bounds = Bounds(
        limits,
        np.where(equality, limits, np.inf),
        np.hstack([lower, np.zeros_like(prices)]),
        np.hstack([upper, np.full_like(prices, np.inf)]),
    )
    prices = np.hstack([costs / sizes_of, np.zeros((len(right), p)), prices])
    points = WarmProgram(matrix).solve(prices, bounds, infeasible=True).points
    return units * points[:, :n], points[:, n + p :] @ (price[columns] > 0.0)


def _relax_curved(form: RegionForm) -> tuple[Array, Mask]:
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
    try:
        near = nearest_by_solver(rows, np.hstack([matrix, -spare])[soft], right[soft])
        return near[None, : form.n], np.ones(1, dtype=bool)
    except InfeasibleProblemError:
        return _least_infeasible(form, form.r), np.ones(1, dtype=bool)


def least_infeasible(known: KnownLimits) -> Array:
    """Return the decision that violates the known constraints of one sample least, in sum."""
    n, known = known.shape.n, rows_of_size_one(known)
    free = RegionForm.of_rows(np.zeros((0, n)), np.zeros((1, 0))).where(known.shape)
    right = combined(free.weights(np.ones((1, 1)), known.columns()), free.r)
    return np.asarray(_least_infeasible(free, right)[0])


def rows_of_size_one(known: KnownLimits) -> KnownLimits:
    """Return the same constraints with rows of size one, which the solver's tolerances expect."""
    sizes = [np.abs(matrix).max(axis=1, initial=0.0) for matrix in known[:2]]
    g, e = (1.0 / powers_of_two(size) for size in sizes)
    matrices = g[:, None] * known.G, e[:, None] * known.E
    return KnownLimits(*matrices, known.g * g, known.lower, known.upper, known.e * e)
