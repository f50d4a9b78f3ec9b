"""Rows of (features, cost, decision) in standard units: errors, equalities, bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.known import KnownLimits
from feaslearn.solvers.small_lp import FacetSolutions
from feaslearn.tolerances import (
    DECISION_TOL,
    DEPENDENT_TOL,
    LSTSQ_TOL,
    ROUNDING,
    SAME_TOL,
    TINY,
    VISIBLE_TOL,
)

#: Errors beyond so many standard deviations are not rounding.
SPREAD = 3.5
#: Standard deviations beyond which coefficients are unequal: errors differ from row to row.
UNEQUAL = 10.0
#: The step of a grid in standard deviations of its rounding.
STEP = float(np.sqrt(12.0))
#: Rounding by a larger part of the standard deviation of a decision is noise.
COARSEST = 1e-4
#: A grid whose step is a larger part of the standard deviation is no rounding but integrality.
COARSE = 0.05
#: Values of a column on a grid of its own: how many it has at least, parts of the least distance
#: that are tried as a step, steps in its range at most, and how far off values may be, in steps.
LEVELS, MOST_PARTS, FINEST_GRID, OFF_GRID = 12, 5, 1e6, 1e-3
#: Steps of the grids that values are written on, within a decade.
STEPS = (1.0, 0.5, 0.25, 0.2)


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, and what is given of their region.

    ``features`` (N, k), the first of them one, ``costs`` and ``decisions`` (N, n), ``weights`` how
    many rows each stands for; ``bounds`` two arrays (n, k) of coefficients of the features and
    ``balance`` rows (q, n) of equalities, which are found where they are None.
    """

    features: Array
    costs: Array
    decisions: Array
    random: np.random.Generator
    late: Callable[[], bool] = lambda: False
    weights: Array | None = None
    known: KnownLimits | None = None
    bounds: tuple[Array, Array] | None = None
    balance: Array | None = None
    max_facets: int | None = None

    def rows(self, which: Indices) -> Task:
        """Return the task of some rows."""
        known = None if self.known is None else self.known.rows(which)
        return replace(
            self,
            features=self.features[which],
            costs=self.costs[which],
            decisions=self.decisions[which],
            weights=None if self.weights is None else self.weights[which],
            known=known,
        )

    def distinct(self) -> tuple[Indices, Indices]:
        """Return the first of rows that are the same, and the place of each row among those."""
        known = [] if self.known is None else [self.known.columns()]
        table = np.hstack([self.features, self.costs, self.decisions, *known])
        _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, place.ravel()

    def solve(self, region: FacetRows) -> FacetSolutions:
        """Return the cheapest points of a region."""
        return region.solve(self.features, self.costs, self.known)


class Learned(NamedTuple):
    """A region in the units of the data, what each facet is, and which limits were seen.

    ``kind`` says of each facet "determined" (rows that confirm each other leave just one),
    "merged" (just one with equal coefficients for columns that no price tells apart), "open" (the
    rows leave a family), "other" (the other side of a facet), "rare" (no more rows than
    parameters) or "noisy". ``unexplained`` marks the rows that are still not optimal. ``data`` says
    whether decisions are "exact", "rounded" or "noisy", ``error`` by how much, in standard
    deviations of the decisions, ``told`` whether the data show that.
    """

    rows: FacetRows
    kind: tuple[str, ...]
    seen_lower: Mask
    seen_upper: Mask
    unexplained: Mask
    data: str = "exact"
    error: float = 0.0
    told: bool = True


@dataclass(eq=False)
class Rows:
    """Samples in standard units.

    ``x`` (N, n) decisions that move; ``F`` (N, r) linearly independent features, ``F = phi @ P``;
    ``c`` (N, n) costs of length one; ``scale`` (n,) the unit of each decision; ``x_error`` (n,) and
    ``F_cov`` (r, r) the errors they were written with, ``grid`` (n,) those of the grid they are on,
    even if they are exact all the same; equalities ``E x = e F``; bounds ``lower F``
    and ``upper F``, which of them several rows share, and the rows at those; known constraints with
    the normals ``K`` (p, n) of their equalities, ``G`` (m, n) of their rows ``G x <= g``, and the
    rows on which these bind.
    """

    x: Array
    F: Array
    P: Array
    c: Array
    scale: Array
    x_error: Array
    grid: Array
    F_cov: Array
    E: Array
    e: Array
    lower: Array
    upper: Array
    seen_lo: Mask
    seen_up: Mask
    at_lo: Mask
    at_up: Mask
    known: KnownLimits | None
    K: Array
    G: Array
    on_G: Mask
    zero: Array

    @property
    def one(self) -> Array:
        """The coefficients of the constant."""
        return np.asarray(self.P[0])

    def solve(self, region: FacetRows, which: Indices) -> FacetSolutions:
        """Return the cheapest points of some rows in a region."""
        known = None if self.known is None else self.known.rows(which)
        return region.solve(self.F[which], self.c[which], known)

    @property
    def exact(self) -> bool:
        """Whether the rows show that there is no noise: an equality, or atoms at extremes.

        Continuous noise leaves no equality at rounding and no value that many rows share; but noise
        in proportion to the value leaves zeros what they are.
        """
        return bool(len(self.E)) or any(not at_zero for at_zero in self._atoms())

    @property
    def may_be_rounded(self) -> bool:
        """Whether decisions are on a grid too fine for integers, with no sign of rounding."""
        usual = float(np.median(self.grid)) if len(self.grid) else 0.0
        return not len(self.E) and COARSEST < usual <= COARSE

    @property
    def sides(self) -> tuple[Array, Array]:
        """The coefficients (n, r) of lower and upper bounds."""
        return self.lower, self.upper

    @property
    def rounded(self) -> bool:
        """Whether decisions are on a grid that is their only error, as equalities or atoms say."""
        return bool(self.x_error.any()) and self.exact

    @property
    def shares_zero(self) -> bool:
        """Whether many rows share zero as the extreme of a column, which additive noise forbids."""
        return any(self._atoms())

    def _atoms(self) -> Iterator[bool]:
        """Yield for each extreme that more rows share than values inside whether it is zero."""
        for j, v in enumerate(self.x.T):
            at = (self.at_lo[:, j], self.at_up[:, j])
            inner = np.unique(v[~(at[0] | at[1])], return_counts=True)[1]
            least = max(3, 0.005 * len(v), 2 * int(inner.max(initial=1)))
            for side in at:
                if side.sum() > least:
                    yield bool(np.abs(v[side] - self.zero[j]).max() <= DECISION_TOL)


def grid_step(values: Array) -> float:
    """Return the step of the grid on which all values of a table lie, 0 if there is none.

    Examples
    --------
    >>> grid_step(np.array([0.25, 1.75, 3.0]))
    0.25
    >>> grid_step(np.array([0.1234567890123, 2.0]))
    0.0
    """
    size = np.abs(values).max(initial=0.0)
    if size == 0.0:
        return 0.0
    for decade in range(int(np.ceil(np.log10(size))), -7, -1):
        for part in STEPS:
            step = part * 10.0**decade
            parts = values / step
            if step > SAME_TOL * size and np.abs(parts - np.round(parts)).max() < VISIBLE_TOL:
                return step
    return 0.0


def column_steps(x: Array) -> Array:
    """Return the step (n,) of the grid that each column lies on, 0 where the table has none.

    It is the spacing of the values of each column; columns of few levels take the step that the
    others have in parts of their range. Where a column has too few rows to show its spacing, it is
    the step of the whole table.
    """
    levels = [np.unique(column) for column in x.T]
    few = np.array([len(each) < LEVELS for each in levels])
    found = np.array([0.0 if less else _spacing(v) for v, less in zip(levels, few, strict=True)])
    if not found.any() or (found[~few] == 0.0).any():
        return np.full(x.shape[1], grid_step(x))
    width = np.ptp(x, axis=0)
    usual = float(np.median(found[~few] / width[~few]))
    return np.asarray(np.where(few, usual * width, found))


def _spacing(levels: Array) -> float:
    """Return the step of the grid that sorted values lie on, 0 if there is none."""
    apart = np.diff(levels)
    width = float(levels[-1] - levels[0])
    apart = apart[apart > ROUNDING * max(width, float(np.abs(levels).max()))]
    if not len(apart):
        return 0.0
    least = float(apart.min())
    for part in range(1, MOST_PARTS + 1):
        places = (levels - levels[0]) * part / least
        off = np.abs(places - np.round(places)).max()
        if places[-1] < FINEST_GRID and off < max(OFF_GRID, ROUNDING * places[-1]):
            return least / part
    return 0.0


def _equalities(
    x: Array, F: Array, scale: Array, x_error: Array, F_error: Array, K: Array
) -> tuple[Array, Array]:
    """Return E (q, n) and e (q, r): directions of x across K that are affine in F at rounding.

    ``F_error`` (r, k) says how errors of the features given enter F. Rounding has a limit that no
    row exceeds: a direction that moves in a few rows only is none of an equality.
    """
    N, n = x.shape
    B = np.linalg.lstsq(F, x, rcond=LSTSQ_TOL)[0]
    residual = x - F @ B
    across = null_space(K) if len(K) else np.eye(n)
    if F.shape[1] + n + 3 <= N:
        V = np.linalg.svd(residual @ across, full_matrices=False)[2] @ across.T
    elif F.shape[1] + 4 <= N:  # any direction would do for so few rows: only the sum is asked
        V = (across @ (across.T @ scale))[None]
        V = V / max(float(np.linalg.norm(V)), TINY) if np.linalg.norm(V) > 0.0 else V[:0]
    else:
        V = np.zeros((0, n))
    level = np.sqrt(((residual @ V.T) ** 2).mean(axis=0))
    largest = np.sqrt((residual**2).sum(axis=1).mean())
    BV = B @ V.T
    by_feature = BV.T @ F_error
    written = np.sqrt(V**2 @ x_error**2 + (by_feature**2).sum(axis=1))
    most = np.sqrt(3.0) * (np.abs(V) @ x_error + np.abs(by_feature).sum(axis=1))
    reached = np.abs(residual @ V.T).max(axis=0, initial=0.0)
    found = (level < 1.5 * written) & (reached < 1.5 * most)
    found |= level < 10.0 * DECISION_TOL * largest
    if x_error.any() and found.any() and not len(K):
        cov = residual.T @ residual / (N - F.shape[1])
        V = np.linalg.qr(equal_coefficients(cov, V[found].T, scale, float(N), UNEQUAL))[0].T
        return V, V @ B.T
    return V[found], BV[:, found].T


def equal_coefficients(cov: Array, V: Array, scale: Array, count: float, sure: float) -> Array:
    """Return flat directions with equal coefficients where they stay as flat as by chance.

    ``sure`` is by how many standard deviations they must be less flat to be unequal.
    """
    n, q = V.shape
    flattest = float(np.trace(V.T @ cov @ V)) / q
    M = np.diag(scale)
    for merged in range(1, n):
        mass = (M**2).sum(axis=0)
        unit = M / np.sqrt(mass)
        at = (unit.T @ V) / np.sqrt(mass)[:, None]
        apart = ((at[:, None] - at[None]) ** 2).sum(axis=2) * np.multiply.outer(mass, mass)
        apart /= np.add.outer(mass, mass)
        apart[np.diag_indices(len(apart))] = np.inf
        g, h = np.unravel_index(int(apart.argmin()), apart.shape)
        trial = np.delete(M, h, axis=1)
        trial[:, g - (g > h)] = M[:, g] + M[:, h]
        unit = trial / np.linalg.norm(trial, axis=0)
        if unit.shape[1] < q:
            break
        values, U = np.linalg.eigh(unit.T @ cov @ unit)
        free = q * merged
        chance = (free + sure * np.sqrt(2.0 * free)) * flattest
        if count * (float(values[:q].sum()) - q * flattest) > chance:
            break
        M, V = trial, unit @ U[:, :q]
    return V


def _is_exact(
    x: Array, F: Array, E: Array, e: Array, x_error: Array, F_error: Array, few_levels: bool
) -> bool:
    """Say whether numbers on a grid are exact all the same: integers, or limits that are round.

    Where there are equalities, rounding leaves a residual of its size in them; otherwise it leaves
    hardly a value inside of its column twice, unless ``few_levels`` prove nothing.
    """
    if not x_error.any() or bool((x_error > COARSE).all()):
        return True
    if len(E):
        level = np.sqrt(((x @ E.T - F @ e.T) ** 2).mean(axis=0))
        written = np.sqrt(E**2 @ x_error**2 + ((e @ F_error) ** 2).sum(axis=1))
        return bool((level < 0.1 * written).all())
    distinct = max(len(np.unique(column)) for column in x.T)
    return few_levels and distinct < len(x) / 4


def _given_equalities(x: Array, F: Array, rows: Array, K: Array) -> tuple[Array, Array]:
    """Return given combinations of decisions across K, with right-hand sides fitted to the data."""
    rows = rows - rows @ K.T @ K
    s, V = np.linalg.svd(rows, full_matrices=False)[1:]
    E = V[s > DEPENDENT_TOL * max(1.0, float(np.abs(rows).max(initial=0.0)))]
    return E, np.linalg.lstsq(F, x @ E.T, rcond=LSTSQ_TOL)[0].T


@dataclass(eq=False)
class Units:
    """From standard units to those of the data: places, sizes, and the columns that move."""

    mean: Array
    std: Array
    moving: Mask
    phi_mean: Array
    phi_std: Array
    flat: Mask

    def features(self, phi: Array) -> Array:
        """Return features in standard units; one that never moves is zero, the first is one."""
        out = np.asarray((phi - self.phi_mean) / self.phi_std)
        out[:, self.flat] = 0.0
        out[:, 0] = 1.0
        return out

    def limits(self, side: Array, order: Indices) -> Array:
        """Return bounds (n, k) in the features given as coefficients of standard features."""
        found = side[order] * np.where(self.flat, 0.0, self.phi_std)
        constant = side[order, 0] + side[order, 1:] @ self.phi_mean[1:]
        found[:, 0] = constant - self.mean[order]
        return np.asarray(found / self.std[order, None])

    def right_sides(self, coefficients: Array) -> Array:
        """Return rows of coefficients of standard features as rows of those given."""
        raw = np.where(self.flat, 0.0, coefficients / self.phi_std)
        raw[:, 0] = coefficients[:, 0] - raw[:, 1:] @ self.phi_mean[1:]
        return np.asarray(raw)

    def revert(self, region: FacetRows, P: Array, order: Indices, scale: Array) -> FacetRows:
        """Return a region on some columns in the units of the data; others stay where they are.

        Right-hand sides are coefficients of ``phi @ P``; normals get length one.
        """
        n, one = len(self.mean), np.eye(len(P))[:1]
        mean = self.mean[order] / scale

        def right(normals: Array, coefficients: Array) -> Array:
            return self.right_sides(coefficients @ P.T + (normals @ mean)[:, None] * one)

        parts = []
        for normals, sides in ((region.E, region.e), (region.a, region.f)):
            raw = np.zeros((len(normals), n))
            raw[:, order] = normals / scale
            size = np.linalg.norm(raw, axis=1, keepdims=True)
            parts += [raw / size, right(normals, sides) / size]
        E, e, a, f = parts
        bounds = []
        for side in (region.lower, region.upper):
            limit = self.mean[:, None] * one
            limit[order] = right(np.eye(len(order)), side) * scale[:, None]
            bounds.append(limit)
        return FacetRows(*map(np.ascontiguousarray, (E, e, *bounds, a, f)))

    def scaled(self, known: KnownLimits, order: Indices, scale: Array) -> KnownLimits:
        """Return known constraints on some columns in standard units, in rows of length one."""
        mean = self.mean[order]
        rest = np.setdiff1d(np.arange(len(self.mean)), order)
        parts = []
        for rows, right in ((known.G, known.g), (known.E, known.e)):
            own = rows[:, order] * scale
            size = np.linalg.norm(own, axis=1)
            there = size > ROUNDING * max(float(size.max(initial=0.0)), TINY)
            side = right - rows[:, order] @ mean - rows[:, rest] @ self.mean[rest]
            parts.append((own[there] / size[there, None], side[:, there] / size[there]))
        (G, g), (E, e) = parts
        lower, upper = ((side[:, order] - mean) / scale for side in (known.lower, known.upper))
        return KnownLimits(G, E, g, lower, upper, e)


def standard_rows(
    phi: Array,
    c: Array,
    x: Array,
    known: KnownLimits | None = None,
    bounds: tuple[Array, Array] | None = None,
    balance: Array | None = None,
    exact: bool = True,
) -> tuple[Rows, Units]:
    """Return rows in standard units, with the errors they were written with, and the way back.

    ``bounds`` are two arrays (n, k) of coefficients of the features, ``balance`` rows (q, n); what
    is not given is read from the rows. Numbers on a grid may be ``exact`` all the same.
    """
    phi_mean, phi_std = phi.mean(axis=0), phi.std(axis=0)
    flat = phi_std <= ROUNDING * np.maximum(1.0, np.abs(phi_mean))
    phi_std = np.where(flat, 1.0, phi_std)
    mean, std = x.mean(axis=0), x.std(axis=0)
    moving = std > SAME_TOL * max(float(std.max(initial=0.0)), TINY)
    mean = np.where(moving, mean, x[0])
    units = Units(mean, np.where(moving, std, 1.0), moving, phi_mean, phi_std, flat)
    order, scale = np.flatnonzero(moving), units.std[moving]
    x_, phi_ = ((x - mean) / units.std)[:, moving], units.features(phi)
    _, s, V = np.linalg.svd(phi_, full_matrices=False)
    P = V[s > DEPENDENT_TOL * s[0]].T
    F = phi_ @ P
    own = None if known is None else units.scaled(known, order, scale)
    K = _orthonormal(own.E) if own is not None else np.zeros((0, len(scale)))
    x_error = column_steps(x[:, moving]) / STEP / scale
    phi_error = np.where(flat, 0.0, grid_step(phi[:, ~flat]) / phi_std) / STEP
    F_error = P.T * phi_error
    none = np.zeros_like(x_error), np.zeros_like(F_error)
    E, e = _equalities(x_, F, scale, x_error, F_error, K)
    grid = x_error
    if _is_exact(x_, F, E, e, x_error, F_error, exact):
        # Equalities hold far better than the grid asks: the numbers are what they are.
        x_error, F_error = none
        E, e = _equalities(x_, F, scale, x_error, F_error, K)
    F_cov = F_error @ F_error.T
    if balance is not None:
        E, e = _given_equalities(x_, F, (balance * units.std)[:, moving], K)
    costs = (c * units.std)[:, moving]
    size = np.linalg.norm(costs, axis=1, keepdims=True)
    costs = np.where(size > 0.0, costs / np.maximum(size, TINY), 0.0)
    tol = np.maximum(DECISION_TOL, 1.01 * STEP * x_error)
    if bounds is None:
        lower, upper = np.outer(x_.min(axis=0), P[0]), np.outer(x_.max(axis=0), P[0])
        seen_lo, seen_up = _shared(x_ - x_.min(axis=0), tol), _shared(x_.max(axis=0) - x_, tol)
    else:
        lower, upper = (units.limits(side, order) @ P for side in bounds)
        seen_lo = seen_up = np.ones(len(scale), bool)
    at_lo, at_up = (x_ < F @ lower.T + tol) & seen_lo, (x_ > F @ upper.T - tol) & seen_up
    G, on_G = np.zeros((0, len(scale))), np.zeros((len(x), 0), bool)
    if own is not None:
        at_lo, at_up = at_lo | (x_ < own.lower + tol), at_up | (x_ > own.upper - tol)
        G, on_G = -own.G, x_ @ own.G.T < own.g + tol.max(initial=DECISION_TOL)
    rows = Rows(
        x=np.ascontiguousarray(x_),
        F=F,
        P=P,
        c=np.ascontiguousarray(costs),
        scale=scale,
        x_error=x_error,
        grid=grid,
        F_cov=F_cov,
        E=E,
        e=e,
        lower=lower,
        upper=upper,
        seen_lo=seen_lo,
        seen_up=seen_up,
        at_lo=at_lo,
        at_up=at_up,
        known=own,
        K=K,
        G=G,
        on_G=on_G,
        zero=-mean[moving] / scale,
    )
    return rows, units


def known_ends(known: KnownLimits) -> tuple[Array, Array]:
    """Return ends (n,) of a box that are nowhere before known bounds, infinite where one is not.

    A bound that moves may keep moving: its end is as far beyond it as it was seen to move.
    """
    ends = []
    for side in (-known.lower, known.upper):
        there = np.isfinite(side).all(axis=0)
        finite = np.where(there, side, 0.0)
        ends.append(np.where(there, finite.max(axis=0) + np.ptp(finite, axis=0), np.inf))
    return -ends[0], ends[1]


def _shared(distance: Array, tol: Array) -> Mask:
    """Say of which extremes several rows are within tol, more than lie as close by chance."""
    there = (distance < tol).sum(axis=0)
    chance = (distance < 11.0 * tol).sum(axis=0) / 10.0 - there / 10.0
    return np.asarray((there > 1) & (there > chance + 3.0 * np.sqrt(chance)))


def _orthonormal(rows: Array) -> Array:
    """Return an orthonormal basis of the span of rows."""
    s, V = np.linalg.svd(rows, full_matrices=False)[1:]
    return np.asarray(V[s > DEPENDENT_TOL * max(float(s.max(initial=0.0)), TINY)])
