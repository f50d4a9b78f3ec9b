"""The facets of exact rows from plain arrays: search, columns that act alike, limits not seen."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data import Block
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import (
    DECISION_TOL,
    DEPENDENT_TOL,
    FEASIBILITY_TOL,
    GAIN_TOL,
    ROUNDING,
    SAME_TOL,
    SOLVED_DEPENDENT_TOL,
    TINY,
)
from feaslearn.trainers.facets.rows import (
    COARSEST,
    SPREAD,
    STEP,
    Learned,
    Rows,
    Task,
    Units,
    known_ends,
    standard_rows,
)
from feaslearn.trainers.facets.search import other_sides, prune, rare, search
from feaslearn.trainers.facets.state import GAIN, State
from feaslearn.trainers.out_of_fold import sample_keys

#: Evidence in nats that two columns act alike, beyond the number of pairs that are asked.
SURPRISE = 5.0
#: Rows that are learned from at first where there are more, and those asked for cheaper points.
MOST_ROWS, MOST_ASKED = 2000, 20_000
#: Rows without an equality or atoms are exact if no larger share of them is left unexplained.
MOST_UNEXPLAINED = 0.5
#: Rows of numbers on a grid are rounded, not exact, if a larger share of them is left unexplained.
MOST_ODD = 0.05
#: What facets are, the surest first.
KINDS = ("determined", "merged", "open", "other", "rare")


def learn_facets(task: Task, exact: bool = False) -> Learned | None:
    """Learn constraints from optimal decisions; None if those are neither exact nor rounded."""
    first, place = _in_order(task)
    found = _learn_many(task.rows(first), exact)
    return None if found is None else found._replace(unexplained=found.unexplained[place])


def _in_order(task: Task) -> tuple[Indices, Indices]:
    """Return one of rows that are the same, and the place of each row among those.

    They come in an order that depends neither on that of rows and columns nor on units, so that
    what is drawn at random does not either.
    """
    first, place = task.distinct()
    ones = np.ones(len(first))
    rows = Block(task.features[first], task.costs[first], task.decisions[first], ones)
    order = np.argsort(sample_keys([rows]), kind="stable")
    return first[order], np.argsort(order)[place]


def _learn_many(task: Task, exact: bool) -> Learned | None:
    """Learn from some of very many rows, and from those that object to what was learned."""
    if len(task.decisions) <= MOST_ROWS:
        return _learn(task, exact)
    chosen = _first_rows(task.decisions, task.random)
    while True:
        found = _learn(task.rows(chosen), exact)
        if found is None:
            return None
        violation, gain = _objections(found, task)
        worst = np.argsort(-np.maximum(violation, gain), kind="stable")[: MOST_ROWS // 4]
        more = np.setdiff1d(worst[np.maximum(violation, gain)[worst] > 1.0], chosen)
        if not len(more) or len(chosen) > 2 * MOST_ROWS or task.late():
            return _made_feasible(found, task, violation, gain > 1.0)
        chosen = np.union1d(chosen, more)


def _first_rows(decisions: Array, random: np.random.Generator) -> Indices:
    """Return some rows, and those that reach the extremes of each decision."""
    order = np.argsort(decisions, axis=0, kind="stable")
    some = random.choice(len(decisions), MOST_ROWS, replace=False)
    return np.unique(np.concatenate([some, order[:3].ravel(), order[-3:].ravel()]))


def _objections(found: Learned, task: Task) -> tuple[Array, Array]:
    """Return by how much rows violate a region, and what cheaper points save, in tolerances.

    With very many rows, cheaper points are looked for at some of them.
    """
    decisions, random = task.decisions, task.random
    spread = np.maximum(decisions.std(axis=0), ROUNDING * max(float(decisions.std()), TINY))
    tol = 10.0 * max(DECISION_TOL, found.error)
    violation = found.rows.largest_violation(task.features, decisions)
    gain, count = np.zeros(len(decisions)), len(decisions)
    some = np.arange(count)
    if count > MOST_ASKED:
        some = np.sort(random.choice(count, MOST_ASKED, replace=False))
    solved = task.rows(some).solve(found.rows)
    saved = ((decisions[some] - solved.decisions) * task.costs[some]).sum(axis=1)
    size = np.linalg.norm(task.costs[some] * spread, axis=1)
    gain[some] = np.nan_to_num(saved / np.maximum(tol * size, TINY), nan=np.inf)
    return violation / (tol * float(spread.max())), gain


def _made_feasible(found: Learned, task: Task, violation: Array, unexplained: Mask) -> Learned:
    """Return a region that no row violates: facets are moved out as far as it takes."""
    features, decisions = task.features, task.decisions
    region = found.rows
    beyond = (decisions @ region.a.T - features @ region.f.T).max(axis=0, initial=0.0)
    f = region.f.copy()
    f[:, 0] += np.where(violation.max(initial=0.0) > 1.0, beyond, 0.0)
    lower, upper = region.lower.copy(), region.upper.copy()
    lower[:, 0] -= np.maximum(features @ region.lower.T - decisions, 0.0).max(axis=0)
    upper[:, 0] += np.maximum(decisions - features @ region.upper.T, 0.0).max(axis=0)
    region = region._replace(f=f, lower=lower, upper=upper)
    return found._replace(rows=region, unexplained=unexplained)


def _learn(task: Task, exact: bool) -> Learned | None:
    """Learn from rows that are few enough to look at all of them."""
    rows, units = standard_rows(
        task.features, task.costs, task.decisions, task.known, task.bounds, task.balance
    )
    if rows.x_error.max(initial=0.0) > COARSEST:
        return None
    state, most = State(rows, task), task.max_facets
    if most != 0 and len(rows.scale):
        search(state, only_determined=True)
        exact = exact or rows.exact
        if not exact:
            search(state)
            if not state.m and state.unexplained.any():
                return None
        _complete(state)
        most_left = MOST_ODD if rows.may_be_rounded else MOST_UNEXPLAINED
        if (rows.may_be_rounded or not exact) and state.unexplained.mean() > most_left:
            return None
    if most is not None and state.m > most:
        heaviest = np.argsort(-state.on.sum(axis=0), kind="stable")[:most]
        state.keep(np.sort(heaviest))
    return _Finish(state, units, task).learned()


def _complete(state: State) -> None:
    """Search with and without merged columns, for rare facets last."""
    merged = _merged_columns(state.rows, _told_apart(state)) if state.open.any() else None
    if merged is not None:
        state.use_coordinates(merged)
        search(state)
        state.use_coordinates(None)
    vain = search(state)
    if other_sides(state):
        vain = search(state)
    if merged is not None:
        state.use_coordinates(merged)
        rare(state)
        state.use_coordinates(None)
        vain = []
    rare(state, vain)
    prune(state)


class _Finish:
    """Columns that never moved come back, and sides that no row needs are opened.

    A column that never moved is at a limit: its other side is open if every row stays optimal so.
    Its coefficient in a sum of all decisions is taken to be that of the others; in a facet it is
    halfway between zero and the one under which the column stays by the largest margin.
    """

    def __init__(self, state: State, units: Units, task: Task) -> None:
        self.state, self.units, self.may_open = state, units, task.bounds is None
        self.nonnegative = bool((task.decisions >= 0.0).all())
        rows, n = state.rows, len(state.rows.scale)
        still = np.flatnonzero(~units.moving)
        self.order = np.append(np.flatnonzero(units.moving), still)
        size = float(np.median(rows.scale)) if n else 1.0
        self.scale = np.append(rows.scale, np.full(len(still), size))
        known = task.known
        self.known = None if known is None else units.scaled(known, self.order, self.scale)
        length = max(float(np.linalg.norm(rows.scale)), TINY)
        along = rows.scale / length
        summed = np.linalg.norm(rows.E.T @ (rows.E @ along) - along) < SOLVED_DEPENDENT_TOL
        share = (rows.E @ along) * size / length * summed
        self.E = np.hstack([rows.E, np.outer(share, np.ones(len(still)))])
        self.a = np.hstack([state.a, np.zeros((state.m, len(still)))])
        flat = np.zeros((len(still), rows.F.shape[1]))
        self.lower, self.upper = np.vstack([rows.lower, flat]), np.vstack([rows.upper, flat])
        no = np.zeros(len(still), bool)
        self.seen_lo, self.seen_up = np.append(rows.seen_lo, no), np.append(rows.seen_up, no)
        raw = task.costs[:, self.order] * self.scale
        lengths = np.linalg.norm(raw[:, :n], axis=1, keepdims=True)
        self.c = np.ascontiguousarray(raw / np.where(lengths > 0.0, lengths, 1.0))
        self.x = np.hstack([rows.x, np.zeros((len(rows.x), len(still)))])
        self.n = n
        width = np.ptp(rows.x, axis=0) * rows.scale
        usual = float(np.median(width)) if n else 0.0
        width = np.maximum(width, usual)  # a side never reached may be as far as others are
        self.width = np.append(width, np.full(len(still), usual)) / self.scale
        one = float(rows.one @ rows.one)
        self.low, self.high = self.lower @ rows.one / one, self.upper @ rows.one / one
        self.least = self._common(self.low, self.seen_lo)
        self.most = self._common(self.high, self.seen_up)

    def region(self, to_lo: Mask, to_up: Mask) -> FacetRows:
        """Return the region in standard units with some sides opened by their width."""
        rows = self.state.rows
        lower = self.lower - np.outer(self.width * to_lo, rows.one)
        upper = self.upper + np.outer(self.width * to_up, rows.one)
        parts = (self.E, rows.e, lower, upper, self.a, self.state.f)
        return FacetRows(*map(np.ascontiguousarray, parts))

    def learned(self) -> Learned:
        """Open what can be open, and return the region in the units of the data."""
        state, units = self.state, self.units
        rows = state.rows
        none = np.zeros(len(self.order), bool)
        # Where bounds were given, a column that never moved is where it is.
        sides = self._opened() if self.may_open else (none, none)
        region = self._replaced(*sides) if self.may_open else self.region(*sides)
        found = units.revert(region, rows.P, self.order, self.scale)
        back = np.argsort(self.order)
        error = float(rows.x_error.max(initial=0.0)) * STEP
        order = np.argsort([KINDS.index(kind) for kind in state.kind], kind="stable")
        found = found.with_facets(found.a[order], found.f[order])
        return Learned(
            found,
            tuple(state.kind[j] for j in order),
            self.seen_lo[back],
            self.seen_up[back],
            state.unexplained,
            "rounded" if error else "exact",
            error,
        )

    def _opened(self) -> tuple[Mask, Mask]:
        """Say which sides of the box are open: those that no training row needs."""
        F, none = self.state.rows.F, np.zeros(len(self.order), bool)
        base = self.region(none, none).solve(F, self.c, self.known)
        right = (base.status == OPTIMAL) & ~self.state.unexplained
        rows = self.state.rows
        # A column may reach several times what was left for it, short of where the others end.
        to_lo = ~self.seen_lo | (self.least < self.low - DECISION_TOL)
        to_up = ~self.seen_up | (self.most > self.high + DECISION_TOL)
        gain_tol = np.maximum(GAIN, 3.0 * SPREAD * np.sqrt(rows.c**2 @ rows.x_error**2))
        weight = self.scale**2 / max(float((self.scale**2).sum()), TINY)
        before = (np.nan_to_num(base.decisions - self.x) ** 2) @ weight

        def opened(to_lo: Mask, to_up: Mask, at: Indices) -> tuple[Mask, Array]:
            """Return which of some rows do not stay optimal, and their cheapest points."""
            known = None if self.known is None else self.known.rows(at)
            found = self.region(to_lo, to_up).solve(F[at], self.c[at], known)
            gain = ((self.x[at] - found.decisions) * self.c[at]).sum(axis=1)
            error = (found.decisions - self.x[at]) ** 2 @ weight
            worse = (gain > gain_tol[at]) & (error > before[at] + SAME_TOL)
            worse |= (found.status != OPTIMAL) & (base.status[at] == OPTIMAL)
            return worse, found.decisions

        free = self.known is None or not len(self.known.E) + len(self.known.G)
        if right.any() and free:  # duals of known rows are not returned
            self._place_still(base.prices[right], right)
            reduced = (self.c + base.prices @ np.vstack([self.E, self.a]))[right]
            tol, places, one = gain_tol[right], np.flatnonzero(right), np.eye(len(none), dtype=bool)
            # Where a row has several duals, one that asks for a side proves nothing.
            for j in np.flatnonzero(to_lo):
                to_lo[j] = not opened(one[j], none, places[reduced[:, j] > tol])[0].any()
            for j in np.flatnonzero(to_up):
                to_up[j] = not opened(none, one[j], places[reduced[:, j] < -tol])[0].any()
        lower, upper = (F @ side.T for side in (self.lower, self.upper))
        while (to_lo | to_up).any():
            worse, decisions = opened(to_lo, to_up, np.arange(len(F)))
            if not worse.any():
                return to_lo, to_up
            hit_lo = ((decisions < lower - FEASIBILITY_TOL)[worse]).any(axis=0) & to_lo
            hit_up = ((decisions > upper + FEASIBILITY_TOL)[worse]).any(axis=0) & to_up
            if not (hit_lo | hit_up).any():
                break
            to_lo, to_up = to_lo & ~hit_lo, to_up & ~hit_up
        return none, none

    def _replaced(self, to_lo: Mask, to_up: Mask) -> FacetRows:
        """Open sides; replace those not seen by known bounds; what was never negative stays so.

        Where most columns that were seen to end do so at one value, an opened one does, too. A
        column that never moved stays where it is on a side that rows speak against.
        """
        region, moving = self.region(to_lo, to_up), np.arange(len(self.order)) < self.n
        one, lower, upper = self.state.rows.one, region.lower.copy(), region.upper.copy()
        zero = -self.units.mean[self.order] / self.scale
        ends = (-np.inf, np.inf) if self.known is None else known_ends(self.known)
        known = np.broadcast_to(np.vstack(ends), (2, len(self.order)))
        low, high, least, most = self.low, self.high, self.least, self.most
        self.seen_lo, self.seen_up = self.seen_lo & ~to_lo, self.seen_up & ~to_up
        for j in np.flatnonzero(~self.seen_lo):
            if to_lo[j] and low[j] - self.width[j] <= least[j] < low[j]:
                lower[j] = least[j] * one
            if self.nonnegative and lower[j] @ one / (one @ one) < min(low[j], zero[j]):
                lower[j] = min(low[j], zero[j]) * one
            if np.isfinite(known[0, j]) and (moving | to_lo)[j]:
                lower[j] = min(low[j], known[0, j]) * one
        for j in np.flatnonzero(~self.seen_up):
            if to_up[j] and high[j] < most[j] <= high[j] + self.width[j]:
                upper[j] = most[j] * one
            if np.isfinite(known[1, j]) and (moving | to_up)[j]:
                upper[j] = max(high[j], known[1, j]) * one
        return region._replace(lower=lower, upper=upper)

    def _common(self, ends: Array, seen: Mask) -> Array:
        """Return, for each column, the value at which most of those that were seen to end do so."""
        mean = self.units.mean[self.order]
        raw = (mean + ends * self.scale)[seen]
        middle = float(np.median(raw)) if len(raw) > 1 else np.nan
        near = np.abs(raw - middle) <= DECISION_TOL * np.abs(raw).max(initial=0.0)
        value = middle if near.sum() > len(raw) / 2 else np.nan
        return np.asarray((value - mean) / self.scale)

    def _place_still(self, prices: Array, right: Mask) -> None:
        """Choose the coefficients of columns that never moved in the facets."""
        q, m = len(self.E), len(self.a)
        if not m or not len(prices):
            return
        duals = prices[:, q:]
        largest = np.abs(self.a[:, : self.n] / self.scale[: self.n]).max(axis=1, initial=0.0)
        for s in range(self.n, len(self.order)):
            base = self.c[right, s] + prices[:, :q] @ self.E[:, s]
            limit = np.append(largest * self.scale[s], np.inf)
            cost, best = np.append(np.zeros(m), -1.0), 0.0
            for side in (1.0, -1.0):
                rows = np.column_stack([-side * duals, np.ones(len(duals))])
                program = CheckedProgram(cost, -limit, limit, A=rows, b=side * base)
                found = program.solve("margin").point
                if found[-1] >= best:
                    best, self.a[:, s] = float(found[-1]), found[:m] / 2.0


def _merged_columns(rows: Rows, unequal: Mask) -> Array | None:
    """Return columns that no price tells apart as groups (n, groups); None if there are none.

    Two columns with the same coefficient in every constraint are filled in the order of their
    prices. Rows in which that order is kept although facets bind are evidence: minus the log of
    the chance that a spread of prices like that among free columns would not have broken it.
    """
    n, q = rows.x.shape[1], len(rows.E)
    below, above = rows.x < rows.x.max(axis=0), rows.x > rows.x.min(axis=0)
    below, above = below & ~rows.at_up, above & ~rows.at_lo
    free = below & above
    bound = free.sum(axis=1) > q
    if q == 0 or bound.sum() < SURPRISE:
        return None
    raw = rows.E / rows.scale
    first = raw[np.abs(raw).max(axis=1).argmax()]
    there = np.abs(first) > DEPENDENT_TOL * np.abs(first).max()
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
        if (
            unequal[g, h]
            or not (there[g] and there[h])
            or crossed > GAIN_TOL * np.abs(raw).max() ** 2
        ):
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


def _told_apart(state: State) -> Mask:
    """Return pairs of columns with different coefficients in some determined facet."""
    rows, n = state.rows, state.n
    found = np.zeros((n, n), bool)
    if len(rows.E):
        first = rows.E[np.abs(rows.E).max(axis=1).argmax()]
        for a, kind in zip(state.a, state.kind, strict=True):
            if kind == "determined":
                ratio = a / np.where(np.abs(first) > DEPENDENT_TOL, first, np.inf)
                found |= np.abs(ratio[:, None] - ratio) > SOLVED_DEPENDENT_TOL * np.abs(ratio).max()
    return found
