"""Rows of a region as tools take them: linear rows, bounds, and cones over variables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.region.form import RegionForm, beside, sparse
from feaslearn.solvers.conic_form import Cone


@dataclass(frozen=True, eq=False)
class SolverForm:
    r"""Linear rows, bounds of decisions and latent variables, and second-order cones.

    .. math:: X x + \sum_k w_k (Z_k z - r_k) = 0 \text{ or } \ge 0, \qquad
        l \le (x, z) \le u, \qquad z_{i_0} \ge \|(z_{i_1}, z_{i_2}, \dots)\|
    """

    rows: RegionForm
    equal: Mask
    lower: Array
    upper: Array
    norms: tuple[Indices, ...] = ()


def solver_form(
    form: RegionForm, tool: str, *, curved: bool = False, bound_decisions: bool = False
) -> SolverForm:
    """Return the rows of a region as a solver's interface takes it, or refuse its cones.

    With ``bound_decisions``, rows of one decision become its bounds; the decisions of somebody
    else's model keep the bounds that they have.
    """
    if form.curved and not curved:
        raise UnsupportedError(
            f"{tool} takes linear rows alone, and this region is curved: to_cvxpy and to_pyomo "
            "take its cones"
        )
    linear, norms = _cones_on_variables(form)
    return _bounded(linear, norms, bound_decisions)


def _cones_on_variables(form: RegionForm) -> tuple[RegionForm, tuple[Indices, ...]]:
    """Give each row of a second-order cone a latent variable that equals it."""
    m, p = form.X.shape[0], form.p
    second_order = np.array([cone.kind == "second-order" for cone in form.cones], dtype=bool)
    sizes = [cone.size for cone in form.cones]
    curved = np.flatnonzero(np.repeat(second_order, sizes))
    lifted = sp.csr_array(
        (-np.ones(len(curved)), (curved, np.arange(len(curved)))), shape=(m, len(curved))
    )
    empty = sp.csr_array(lifted.shape)
    Z = [beside([Z, empty if k else lifted]) for k, Z in enumerate(form.Z)]
    cones = [
        Cone("zero", cone.size) if is_second_order else cone
        for cone, is_second_order in zip(form.cones, second_order, strict=True)
    ]
    starts = p + np.cumsum([0, *np.array(sizes, dtype=int)[second_order]])
    norms = tuple(np.arange(a, b) for a, b in pairwise(starts))
    return replace(form, Z=tuple(Z), cones=tuple(cones)), norms


def _bounded(linear: RegionForm, norms: tuple[Indices, ...], decisions: bool) -> SolverForm:
    """Take constant rows of one variable out and make them its bounds."""
    kinds = [cone.kind == "zero" for cone in linear.cones]
    equal = np.repeat(np.array(kinds, dtype=bool), [cone.size for cone in linear.cones])
    matrix = beside([linear.X, linear.Z[0]])
    matrix.eliminate_zeros()
    counts = np.diff(matrix.indptr)
    lone = np.flatnonzero((counts == 1) & ~equal & ~linear.moving)
    columns = matrix.indices[matrix.indptr[lone]]
    if not decisions:
        lone, columns = lone[columns >= linear.n], columns[columns >= linear.n]
    factors = matrix.data[matrix.indptr[lone]]
    limits = linear.r[0, lone] / factors
    lower, upper = np.full(matrix.shape[1], -np.inf), np.full(matrix.shape[1], np.inf)
    np.maximum.at(lower, columns[factors > 0.0], limits[factors > 0.0] + 0.0)
    np.minimum.at(upper, columns[factors < 0.0], limits[factors < 0.0] + 0.0)
    # The region is not empty: bounds that cross do so by rounding.
    crossed = lower > upper
    lower[crossed] = upper[crossed] = (lower[crossed] + upper[crossed]) / 2.0
    kept = np.setdiff1d(np.arange(len(equal)), lone)
    for entries in norms:
        lower[linear.n + entries[0]] = 0.0
    rows = replace(
        linear,
        X=sparse(linear.X[kept]),
        Z=tuple(sparse(Z[kept]) for Z in linear.Z),
        r=linear.r[:, kept],
        cones=tuple(Cone("zero" if same else "nonnegative", 1) for same in equal[kept]),
        labels=tuple(linear.labels[i] for i in kept),
    )
    return SolverForm(rows, equal[kept], lower, upper, norms)
