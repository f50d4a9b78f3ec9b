"""Decisions where a region is empty: rows are relaxed in the order of their labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.linalg import block_diag

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import InfeasibleProblemError
from feaslearn.known import KnownLimits
from feaslearn.region.form import RegionForm, combined
from feaslearn.solvers.conic import nearest_by_solver
from feaslearn.solvers.conic_form import Cone, ConicForm, kept_cones
from feaslearn.solvers.highs import Bounds
from feaslearn.solvers.mip import solve_each
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
        return _relax_linear(form, combined(weights, form.r), costs)
    each = [
        _relax_curved(form.at(w))
        if form.curved
        else _relax_linear(form.at(w), form.at(w).r, c[None])
        for w, c in zip(weights, costs, strict=True)
    ]
    return Relaxed(*(np.concatenate(part) for part in zip(*each, strict=True)))


def _relax_linear(form: RegionForm, right: Array, costs: Array) -> Relaxed:
    """Relax by linear programs over decisions, latent variables and violations."""
    found, distance = _elastic(form, [row.relax for row in form.labels], right, costs)
    failed = np.isnan(found[:, 0])
    if failed.any():
        found[failed] = _least_infeasible(form, right[failed])
    return Relaxed(found, failed | (distance > FEASIBILITY_TOL), failed)


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


def _elastic(form: RegionForm, price: ArrayLike, right: Array, costs: Array) -> tuple[Array, Array]:
    """Return decisions and distances of ``min c'x + prices'v`` where v relaxes priced rows.

    Rows ``X x + Z z + v >= right`` (or = right) of infinite price are not relaxed; decisions are
    NaN where no point satisfies those. Distances are in units of each sample.
    """
    (n, p), price = (form.n, form.p), np.asarray(price)
    matrix = sp.hstack([form.X, form.Z[0]], format="csr")
    soft = np.isfinite(price)
    columns = np.concatenate([np.flatnonzero(soft), np.flatnonzero(soft & form.equality)])
    signs = np.repeat([1.0, -1.0], [soft.sum(), (soft & form.equality).sum()])
    shape = (len(price), len(columns))
    slack = sp.csr_array((signs, (columns, np.arange(len(columns)))), shape=shape)
    # Rows that are never relaxed are of size one.
    sizes = np.where(soft, 1.0, 1.0 / powers_of_two(abs(matrix).max(axis=1).toarray().ravel()))
    matrix = sp.hstack([sp.diags_array(sizes) @ matrix, slack], format="csc")
    integer = np.concatenate([np.zeros(n), form.integer, np.zeros(len(columns))]).astype(bool)
    finite = np.where(np.isfinite(right), np.abs(right), 0.0).max(axis=1, initial=0.0)
    units = np.ones((len(right), 1)) if integer.any() else powers_of_two(finite)[:, None]
    limits = right / units * sizes
    signed = np.arange(len(integer)) < np.where(integer, 0, n + p)
    prices = np.append(np.zeros(n + p), DISTANCE_COST * price[columns])
    prices = np.tile(prices, (len(right), 1))
    prices[:, :n] = costs / divisors(np.abs(costs).max(axis=1, keepdims=True))
    bounds = Bounds(
        limits,
        np.where(form.equality, limits, np.inf),
        np.broadcast_to(np.where(signed, -np.inf, 0.0), prices.shape),
        np.broadcast_to(np.where(integer, 1.0, np.inf), prices.shape),
    )
    points, _ = solve_each(matrix, prices, bounds, integer)
    return units * points[:, :n], points[:, n + p :] @ (price[columns] > 0.0)


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
    yes, no = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
    try:
        near = nearest_by_solver(rows, np.hstack([matrix, -spare])[soft], right[soft], "l2")
        return Relaxed(near.latent[None, : form.n], yes, no)
    except InfeasibleProblemError:
        return Relaxed(_least_infeasible(form, form.r), yes, yes)


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
