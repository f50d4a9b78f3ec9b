"""The facets of exact rows from plain arrays: search, columns that act alike, limits not seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import log_ndtr

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.small_lp import OPTIMAL
from feaslearn.trainers.facets.rows import Rows, Units, standard_rows
from feaslearn.trainers.facets.search import Search

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Evidence in nats that two columns act alike, beyond the number of pairs that are asked.
SURPRISE = 5.0
#: A side is asked for by the prices where more than this share of the rows would go there.
OBJECTING = 0.02


class Learned(NamedTuple):
    """A region in the units of the data, what each facet is, and which limits were seen.

    ``kind`` says of each facet "determined" (rows that confirm each other leave just one),
    "merged" (just one with equal coefficients for columns that no price tells apart), "open" (the
    rows leave a family), "other" (the other side of a facet) or "rare" (no more rows than
    parameters). ``unexplained`` marks the rows that are still not optimal.
    """

    rows: FacetRows
    kind: tuple[str, ...]
    seen_lower: Mask
    seen_upper: Mask
    unexplained: Mask


def learn_facets(
    features: Array,
    costs: Array,
    decisions: Array,
    random: np.random.Generator,
    late: Callable[[], bool] = lambda: False,
) -> Learned:
    """Learn the constraints of a linear program from its optimal decisions.

    Parameters
    ----------
    features : ndarray of shape (N, k)
        Features, the first of them one.
    costs, decisions : ndarray of shape (N, n)
        Costs and the decisions that minimise them.
    random : Generator
        Where searches begin.
    late : callable, optional
        Says that the time is up.

    Returns
    -------
    Learned
        The region.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> phi = np.column_stack([np.ones(100), data.signals[:, 3:]])
    >>> found = learn_facets(phi, data.cost_matrix, data.decisions, np.random.default_rng(0))
    >>> int(found.unexplained.sum())
    0
    """
    rows, units = standard_rows(features, costs, decisions)
    search = Search(rows, random, late)
    search.search(only_determined=True)
    merged = _merged_columns(rows, _told_apart(search)) if search.open.any() else None
    if merged is not None:
        search.use_coordinates(merged)
        search.search()
        search.use_coordinates(None)
    search.search()
    search.unite()
    search.upgrade()
    search.turn()
    search.search()
    for coordinates in (None,) if merged is None else (merged, None):
        search.use_coordinates(coordinates)
        search.rare()
    search.prune()
    return _Finish(search, units, costs, bool((decisions >= 0.0).all())).learned()


class _Finish:
    """Columns that never moved come back, and sides that no row needs are opened.

    A column that never moved is at a limit: its other side is open if every row stays optimal so.
    Its coefficient in a sum of all decisions is taken to be that of the others; in a facet it is
    halfway between zero and the one under which the column stays by the largest margin.
    """

    def __init__(self, search: Search, units: Units, costs: Array, nonnegative: bool) -> None:
        self.search, self.units, self.nonnegative = search, units, nonnegative
        rows, n = search.rows, len(search.rows.scale)
        still = np.flatnonzero(~units.moving)
        self.order = np.append(np.flatnonzero(units.moving), still)
        size = float(np.median(rows.scale)) if n else 1.0
        self.scale = np.append(rows.scale, np.full(len(still), size))
        length = max(float(np.linalg.norm(rows.scale)), 1e-300)
        along = rows.scale / length
        summed = np.linalg.norm(rows.E.T @ (rows.E @ along) - along) < 1e-5
        share = (rows.E @ along) * size / length * summed
        self.E = np.hstack([rows.E, np.outer(share, np.ones(len(still)))])
        self.a = np.hstack([search.a, np.zeros((search.m, len(still)))])
        zeros = np.zeros(len(still))
        self.lo, self.up = np.append(search.lo, zeros), np.append(search.up, zeros)
        self.seen_lo = np.append(rows.seen_lo, zeros > 0.0)
        self.seen_up = np.append(rows.seen_up, zeros > 0.0)
        raw = costs[:, self.order] * self.scale
        lengths = np.linalg.norm(raw[:, :n], axis=1, keepdims=True)
        self.c = np.ascontiguousarray(raw / np.where(lengths > 0.0, lengths, 1.0))
        self.x = np.hstack([rows.x, np.zeros((len(rows.x), len(still)))])
        self.n = n
        width = (rows.up - rows.lo) * rows.scale
        usual = float(np.median(width)) if n else 0.0
        self.width = np.append(width, np.full(len(still), usual)) / self.scale

    def region(self, lo: Array, up: Array) -> FacetRows:
        """Return the region in standard units."""
        one = self.search.rows.one
        parts = (self.E, self.search.rows.e, np.outer(lo, one), np.outer(up, one))
        return FacetRows(*map(np.ascontiguousarray, (*parts, self.a, self.search.f)))

    def learned(self) -> Learned:
        """Open what can be open, and return the region in the units of the data."""
        search, units = self.search, self.units
        lo, up = self._opened()
        if self.nonnegative:  # what was never below zero is not thought to be
            zero = -units.mean[self.order] / self.scale
            lo = np.maximum(lo, np.minimum(self.lo, zero))
        back, P = np.argsort(self.order), search.rows.P
        mean, one = units.mean[self.order] / self.scale, np.eye(len(P))[:1]

        def right(normals: Array, coefficients: Array) -> Array:
            return units.right_sides(coefficients @ P.T + (normals @ mean)[:, None] * one)

        eye = np.eye(len(self.order))
        rows = FacetRows(
            (self.E / self.scale)[:, back],
            right(self.E, search.rows.e),
            (right(eye, np.outer(lo, search.rows.one)) * self.scale[:, None])[back],
            (right(eye, np.outer(up, search.rows.one)) * self.scale[:, None])[back],
            (self.a / self.scale)[:, back],
            right(self.a, search.f),
        )
        return Learned(
            FacetRows(*map(np.ascontiguousarray, rows)),
            tuple(search.kind),
            self.seen_lo[back],
            self.seen_up[back],
            search.hindered,
        )

    def _opened(self) -> tuple[Array, Array]:
        """Return the box with the sides open that no training row needs."""
        F = self.search.rows.F
        base = self.region(self.lo, self.up).solve(F, self.c)
        right = (base.status == OPTIMAL) & ~self.search.hindered
        self._place_still(base.prices[right], right)
        reduced = (self.c + base.prices @ np.vstack([self.E, self.a]))[right]
        tol = self.search.gain_tol[right][:, None]
        to_lo = ~self.seen_lo & ((reduced > tol).mean(axis=0) <= OBJECTING)
        to_up = ~self.seen_up & ((reduced < -tol).mean(axis=0) <= OBJECTING)
        weight = self.scale**2
        before = (np.nan_to_num(base.decisions - self.x) ** 2) @ weight
        while (to_lo | to_up).any():
            lo, up = self.lo - self.width * to_lo, self.up + self.width * to_up
            found = self.region(lo, up).solve(F, self.c)
            gain = ((self.x - found.decisions) * self.c).sum(axis=1)
            error = (found.decisions - self.x) ** 2 @ weight
            worse = (gain > self.search.gain_tol) & (error > before + 1e-9)
            worse |= (found.status != OPTIMAL) & (base.status == OPTIMAL)
            if not worse.any():
                return lo, up
            hit_lo = (found.decisions[worse] < self.lo - 1e-7).any(axis=0) & to_lo
            hit_up = (found.decisions[worse] > self.up + 1e-7).any(axis=0) & to_up
            if not (hit_lo | hit_up).any():
                break
            to_lo, to_up = to_lo & ~hit_lo, to_up & ~hit_up
        return self.lo, self.up

    def _place_still(self, prices: Array, right: Mask) -> None:
        """Choose the coefficients of columns that never moved in the facets."""
        q, m = len(self.E), len(self.a)
        if not m or not len(prices):
            return
        duals = prices[:, q:]
        largest = np.abs(self.a[:, : self.n] / self.scale[: self.n]).max(axis=1, initial=0.0)
        for s in range(self.n, len(self.order)):
            base = self.c[right, s] + prices[:, :q] @ self.E[:, s]
            limit = largest * self.scale[s]
            bounds = [*zip(-limit, limit, strict=True), (None, None)]
            best = 0.0
            for side in (1.0, -1.0):
                found = linprog(
                    np.append(np.zeros(m), -1.0),
                    A_ub=np.column_stack([-side * duals, np.ones(len(duals))]),
                    b_ub=side * base,
                    bounds=bounds,
                    method="highs",
                )
                if found.status == 0 and found.x is not None and found.x[-1] >= best:
                    best, self.a[:, s] = found.x[-1], found.x[:m] / 2.0


def _merged_columns(rows: Rows, unequal: Mask) -> Array | None:
    """Return columns that no price tells apart as groups (n, groups); None if there are none.

    Two columns with the same coefficient in every constraint are filled in the order of their
    prices. Rows in which that order is kept although facets bind are evidence: minus the log of
    the chance that a spread of prices like that among free columns would not have broken it.
    """
    n, q = rows.x.shape[1], len(rows.E)
    below, above = ~rows.at_up & (rows.x < rows.up), ~rows.at_lo & (rows.x > rows.lo)
    free = below & above
    bound = free.sum(axis=1) > q
    if q == 0 or bound.sum() < SURPRISE:
        return None
    raw = rows.E / rows.scale
    first = raw[np.abs(raw).max(axis=1).argmax()]
    there = np.abs(first) > 1e-9 * np.abs(first).max()
    price = rows.c / np.where(there, first * rows.scale, 1.0)
    count = free[bound].sum(axis=1)
    mean = (price[bound] * free[bound]).sum(axis=1) / count
    spread = np.sqrt((((price[bound] - mean[:, None]) ** 2) * free[bound]).sum(axis=1) / count)
    sigma = float(np.median(spread[count > 1])) if (count > 1).any() else 0.0
    if sigma <= 0.0:
        return None
    proof = np.full((n, n), -np.inf)
    for g, h in zip(*np.tril_indices(n, -1), strict=True):
        crossed = np.abs(raw[:, g] * first[h] - raw[:, h] * first[g]).max()
        if unequal[g, h] or not (there[g] and there[h]) or crossed > 1e-7 * np.abs(raw).max() ** 2:
            continue
        gap = (price[:, h] - price[:, g]) * np.sign(first[g])
        if np.where(gap > 0, below[:, g] & above[:, h], below[:, h] & above[:, g]).any():
            continue
        both = bound & (free[:, g] | free[:, h])
        proof[g, h] = proof[h, g] = -log_ndtr(np.abs(gap[both]) / sigma).sum()
    groups = _grouped(proof, SURPRISE + np.log(max(n * (n - 1) / 2, 1)))
    if len(groups) == n:
        return None
    M = np.zeros((n, len(groups)))
    for k, members in enumerate(groups):
        M[members, k] = (first * rows.scale)[members]
    return M


def _grouped(proof: Array, need: float) -> list[list[int]]:
    """Join pairs, the surest first, where nothing speaks against any pair of a group."""
    n = len(proof)
    group, members = list(range(n)), {i: [i] for i in range(n)}
    for place in np.argsort(-proof, axis=None):
        a, b = divmod(int(place), n)
        if proof[a, b] < need:
            break
        a, b = group[a], group[b]
        if a != b and not np.isneginf(proof[np.ix_(members[a], members[b])]).any():
            members[a] += members.pop(b)
            for i in members[a]:
                group[i] = a
    return list(members.values())


def _told_apart(search: Search) -> Mask:
    """Return pairs of columns with different coefficients in some determined facet."""
    rows, n = search.rows, search.n
    found = np.zeros((n, n), bool)
    if len(rows.E):
        first = rows.E[np.abs(rows.E).max(axis=1).argmax()]
        for a, kind in zip(search.a, search.kind, strict=True):
            if kind == "determined":
                ratio = a / np.where(np.abs(first) > 1e-9, first, np.inf)
                found |= np.abs(ratio[:, None] - ratio) > 1e-5 * np.abs(ratio).max()
    return found
