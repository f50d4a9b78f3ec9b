"""Facets of noisy decisions: regressions on the rows that a facet displaces alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.known import KnownLimits
from feaslearn.solvers.small_lp import FacetSolutions
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import (
    DEPENDENT_TOL,
    FEASIBILITY_TOL,
    FINEST,
    ROUNDING,
    SAME_TOL,
    TINY,
    ZERO_PRICE,
)
from feaslearn.trainers.facets.noise import (
    FLAT,
    LESS_FLAT,
    NEAR,
    UNLIKELY,
    Noise,
    answers_to_prices,
    hidden_equalities,
    noise_profiles,
    noisy_bounds,
)
from feaslearn.trainers.facets.polish import Vertices, dual_rows, newton, steps
from feaslearn.trainers.facets.rows import Learned, Rows, Task, known_ends, standard_rows

#: Noise, in standard deviations, where nothing in the data tells.
FAINT = 0.02
#: Price of a row beyond a facet, in units of a row of the group short of it.
BEYOND = 3.0
#: Squared error of a row whose region is empty, in each column.
EMPTY = 9.0
#: Facets of length one that differ by less are the same.
SAME = 1e-3
#: Rows that are learned from; more of them tell little more.
MOST_ROWS = 10_000
#: Folds of rows that confirm a facet, and standard errors by which they gain.
FOLDS, GAIN = 5, 2.0
#: Evidence that proves a facet, in rows and in nats; errors beyond which it cuts a row off, and
#: over which rows that are not on it are spread at least.
PROVEN, PROVEN_NATS, CUT_OFF, WIDE = 3.0, 10.0, 1.5, 3.0
#: Share of the rows that may stay unexplained where there is no noise.
MOST_OPEN = 0.1
#: Candidates with most evidence whose effect is looked at.
TRIED = 8
#: Facets of a greater cosine on which the same rows lie within a share of their errors are one.
ALIKE, SAME_ERRORS = 0.99, 0.3


def learn_noisy(task: Task, noise: float | None = None) -> Learned:
    """Learn constraints from optimal decisions with noise, in units of the spread of each column.

    Noise that is not given is estimated.
    """
    if task.bounds is not None:
        task = replace(task, known=_within(task))
    first, place = task.distinct()
    w = np.bincount(place, task.weights).astype(float)
    first, w = first[w > 0.0], w[w > 0.0]
    if len(first) > MOST_ROWS:
        kept = np.sort(task.random.choice(len(first), MOST_ROWS, replace=False))
        first, w = first[kept], w[kept]
    some = task.rows(first)
    rows, units = standard_rows(
        some.features, some.costs, some.decisions, some.known, None, task.balance, exact=False
    )
    most = len(rows.x) if task.max_facets is None else task.max_facets
    fit = _without_noise(rows, w, task, most) if noise is None else None
    if fit is None:
        starts = _starts(rows, w, task, noise)
        for start in starts:
            start.learn(most)
        fit = min(starts, key=lambda each: float(each.error.sum()) + len(each.E) * each.price)
    learned = units.revert(fit.region(), rows.P, np.flatnonzero(units.moving), rows.scale)
    seen = np.zeros((2, len(units.moving)), bool)
    seen[:, units.moving] = fit.seen
    error = (task.solve(learned).decisions - task.decisions) / units.std
    level = fit.noise.typical
    far = ~(np.abs(error).max(axis=1, initial=0.0) <= UNLIKELY * level)
    kinds = ("noisy",) * len(fit.a)
    # Decisions beyond an end tell less: values spread behind a facet look the same.
    told = bool(len(fit.E)) or noise is not None
    return Learned(learned, kinds, seen[0], seen[1], far, "noisy", level, told=told)


def _without_noise(rows: Rows, w: Array, task: Task, most: int) -> _Fit | None:
    """Return what is learned from rows that may be exact, None if that explains too few of them.

    Without an equality or atoms nothing tells that there is no noise but that all goes without it.
    """
    if len(rows.E) or rows.x_error.any():
        return None
    fit = _Fit(rows, w, task, FINEST, FLAT, np.ones_like(rows.x))
    if len(fit.E) > len(rows.E):
        return None
    fit.learn(most)
    missed = fit.far**2 > fit.n + UNLIKELY * np.sqrt(2.0 * fit.n)
    return fit if missed.mean() < MOST_OPEN else None


def _starts(rows: Rows, w: Array, task: Task, noise: float | None) -> list[_Fit]:
    """Return the equalities and bounds under which decisions are predicted best.

    The data do not say how noise differs between entries, which decides the direction of least
    variance. Where nothing tells the noise, it may be so large that equalities are hardly flatter
    than others; and so they may be under one profile where there are some under the other. Whether
    such an equality is one shows only when facets are learned with and without it.
    """
    profiles = noise_profiles(rows)
    starts = [_Fit(rows, w, task, noise, FLAT, profile) for profile in profiles]
    if len(profiles) > 1 and starts[-1].grows() < UNLIKELY:
        profiles, starts = profiles[:-1], starts[:-1]
    doubtful = []
    if any(len(fit.E) for fit in starts) or not any(fit.noise.told for fit in starts):
        without = [each for each, fit in zip(profiles, starts, strict=True) if not len(fit.E)]
        doubtful = [_Fit(rows, w, task, noise, LESS_FLAT, profile) for profile in without]
    best = [
        min(some, key=lambda fit: float(fit.error.sum()))
        for some in (starts, [fit for fit in doubtful if len(fit.E) > len(rows.E)])
        if some
    ]
    return best if len(best) > 1 and best[1].error.sum() < best[0].error.sum() else best[:1]


def _within(task: Task) -> KnownLimits:
    """Return known constraints with the given bounds beside them."""
    known, (lower, upper) = task.known, (task.features @ side.T for side in task.bounds or ())
    if known is None:
        none = np.zeros((0, lower.shape[1])), np.zeros((len(lower), 0))
        known = KnownLimits(none[0], none[0], none[1], lower, upper, none[1])
    lower, upper = np.maximum(known.lower, lower), np.minimum(known.upper, upper)
    return known._replace(lower=lower, upper=upper)


class _Cut(NamedTuple):
    """A facet t, the rows it is a regression on, their weights, and the side it cuts off."""

    t: Array
    used: Indices
    u: Array
    v: Array


class _Fit:
    """State: equalities, bounds and facets in standard units, and the cheapest points ``y``."""

    def __init__(
        self,
        rows: Rows,
        w: Array,
        task: Task,
        noise: float | None,
        flat: float,
        profile: Array,
    ) -> None:
        self.rows, self.w, self.known, self.random = rows, w, rows.known, task.random
        self.late = task.late
        self.N, self.n = rows.x.shape
        given = self.known.E if self.known is not None else rows.E[:0]
        fixed = np.vstack([rows.E, given])
        level, E, e = 1.0, rows.E[:0], rows.e[:0]
        if not rows.rounded:
            level, E, e = hidden_equalities(rows, w, fixed, profile, flat)
        sigma = np.maximum((noise or level or FAINT) * profile, np.maximum(rows.x_error, FINEST))
        self.noise = Noise(sigma, rows.F_cov, level > 0.0)
        self.residual, self.level = self.noise.residual, self.noise.typical
        if task.balance is not None:  # equalities that were given are all there are
            E, e = E[:0], e[:0]
        self.E, self.e = np.vstack([rows.E, E]), np.vstack([rows.e, e])
        self.flat = np.vstack([self.E, given])
        self.a, self.f = np.zeros((0, self.n)), np.zeros((0, rows.F.shape[1]))
        self.lo, self.up = (side @ rows.one / (rows.one @ rows.one) for side in rows.sides)
        self.seen = np.stack([rows.seen_lo, rows.seen_up])
        if not rows.rounded:
            self.lo, self.up, self.seen = noisy_bounds(rows.x, w, sigma)
        if self.known is not None:
            lower, upper = known_ends(self.known)
            self.lo = np.where(self.seen[0] | np.isinf(lower), self.lo, np.minimum(self.lo, lower))
            self.up = np.where(self.seen[1] | np.isinf(upper), self.up, np.maximum(self.up, upper))
        U, s, _ = np.linalg.svd(self.flat.T, full_matrices=True)
        self.W = U[:, int((s > DEPENDENT_TOL).sum()) :]
        self.nw = self.W.shape[1]
        self.R = self.nw + rows.F.shape[1]
        self.metric = rows.scale**2 / max(float((rows.scale**2).sum()), TINY) * self.n
        self.prior = np.r_[np.ones(self.nw), np.full(self.R - self.nw, 0.1)]
        #: Otherwise a facet that predicts would only shrink the region to its middle.
        self.answers = answers_to_prices(rows, w)
        self.open_bounds()
        self.Z = np.ascontiguousarray(np.hstack([-rows.x @ self.W, rows.F]))
        self.refresh()

    def grows(self) -> float:
        """Return the evidence, in nats, that residuals of equalities are larger in some rows."""
        found = 0.0
        for normal, right in zip(self.E, self.e, strict=True):
            residual = (self.rows.x @ normal - self.rows.F @ right) ** 2
            spread = self.noise.of_slack(normal, right)
            spread = spread / np.exp(np.average(np.log(spread), weights=self.w))
            even = np.average(residual, weights=self.w)
            ratio = np.average(residual / spread**2, weights=self.w) / max(float(even), TINY)
            found -= 0.5 * float(self.w.sum() * np.log(max(float(ratio), TINY)))
        return found

    # ---- the region so far
    def region(self) -> FacetRows:
        """Return the region in standard units."""
        lower, upper = np.outer(self.lo, self.rows.one), np.outer(self.up, self.rows.one)
        parts = (self.E, self.e, lower, upper, self.a, self.f)
        return FacetRows(*map(np.ascontiguousarray, parts))

    def errors(self, found: FacetSolutions, which: Indices) -> Array:
        """Return the squared errors of these rows."""
        error = np.nan_to_num(found.decisions - self.rows.x[which]) ** 2
        right = (found.status == OPTIMAL)[:, None]
        return np.asarray(np.where(right, error, EMPTY) @ self.metric * self.w[which])

    def refresh(self) -> None:
        """Find the cheapest points and the rows that they do not explain."""
        found = self.rows.solve(self.region(), np.arange(self.N))
        self.found, self.error = found, self.errors(found, np.arange(self.N))
        self.y = np.where((found.status == OPTIMAL)[:, None], found.decisions, self.rows.x)
        self.d = (self.y - self.rows.x) @ self.W
        self.far = np.linalg.norm((self.y - self.rows.x) / self.residual, axis=1)
        noise = self.n + UNLIKELY * np.sqrt(2.0 * self.n)
        gain = ((self.rows.x - self.y) * self.rows.c).sum(axis=1)
        doubt = NEAR * np.sqrt((self.rows.c**2 * self.noise.sigma**2).sum(axis=1))
        self.open = (self.far > np.sqrt(noise)) & (gain > -doubt)

    @property
    def state(self) -> tuple[Array, ...]:
        return self.lo, self.up, self.a, self.f

    def place(self, *state: Array) -> None:
        """Take these bounds and facets."""
        self.lo, self.up, self.a, self.f = state
        self.refresh()

    def open_bounds(self) -> None:
        """Move bounds out, those not seen first, until no region is empty."""
        every, lo, up = np.arange(self.N), self.lo, self.up
        for step in range(12):
            if (self.rows.solve(self.region(), every).status == OPTIMAL).all():
                return
            move = self.level * 2.0 ** (step - 3)
            self.lo = lo - move * (~self.seen[0] | (step > 3))
            self.up = up + move * (~self.seen[1] | (step > 3))

    # ---- one more facet
    def split(self, t: Array) -> tuple[Array, Array]:
        return self.W @ t[: self.nw], t[self.nw :]

    def errors_of(self, t: Array) -> Array:
        """Return the deviation of the slack of each row at a facet."""
        return np.maximum(self.noise.of_slack(*self.split(t)), FINEST)

    def regression(self, used: Indices, u: Array, v: Array) -> _Cut | None:
        """Return the facet of least weighted squared slack with v't > 0, of length one."""
        Z, s = self.Z[used], np.sqrt((self.noise.sigma[used] ** 2).mean(axis=1))
        t = np.zeros(0)
        for _ in range(2):  # the noise of slacks depends on the facet
            M = (Z * (u * self.w[used] / s**2)[:, None]).T @ Z + np.diag(self.prior)
            M += DEPENDENT_TOL * np.diag(M.diagonal())  # exact rows leave no room for the prior
            t = np.linalg.solve(M, np.append(v, np.zeros(self.R - self.nw)))
            size = float(np.linalg.norm(t[: self.nw]))
            if not (size > ROUNDING * self.level**2 and np.isfinite(t).all()):
                return None
            t = t / size
            s = self.errors_of(t)
            s = np.maximum(s, np.median(s) / 4.0)[used]
        return _Cut(t, used, u, v)

    def cut(self, G: Indices) -> _Cut | None:
        """Return a facet close to a group of rows with few rows beyond it.

        ``min sum_G |slack| + BEYOND sum violation`` by reweighted least squares, squared within
        the noise; then rows that it cuts off count the more the nearer they are.
        """
        v, u = self.d[G].mean(axis=0), np.zeros(self.N)
        u[G] = 1.0
        found, scale = None, np.inf
        for k in range(12):
            used = np.flatnonzero(u)
            found = self.regression(used, u[used], v)
            if found is None:
                return None
            slack, s = self.Z @ found.t, self.errors_of(found.t)
            size = np.maximum(np.abs(slack), s) / s
            u = np.where(slack < -s, BEYOND / size, 0.0)
            if k < 5:
                u[G] = np.maximum(u[G], 1.0 / size[G])
                continue
            off = self.open & (self.d @ found.t[: self.nw] > NEAR * s)
            if off.sum() < 3:
                return None
            scale = float(np.median(size[G])) if k == 5 else max(scale / 2.0, 1.0)
            u[off] = np.maximum(u[off], 1.0 / (1.0 + (size[off] / scale) ** 2))
        return found

    def refined(self, found: _Cut | None, steps: int = 6) -> _Cut | None:
        """Return the regression on the rows near a facet that it cuts off, in turn."""
        for _ in range(steps):
            if found is None:
                return None
            slack, near = self.Z @ found.t, NEAR * self.errors_of(found.t)
            on = self.open & (np.abs(slack) < near) & (self.d @ found.t[: self.nw] > near)
            if on.sum() < 3:
                return None
            used = np.flatnonzero(on | (slack < -near / 2.0))
            found = self.regression(used, np.where(on[used], 1.0, 2.0), self.d[on].mean(axis=0))
        return found

    def gains(self, t: Array, which: Indices) -> Array:
        """Return by how much the squared errors of these rows fall with one more facet."""
        a, f = self.split(t)
        out = np.zeros(len(which))
        moved = np.flatnonzero(self.y[which] @ a > self.rows.F[which] @ f + SAME_TOL)
        if len(moved):
            rows = which[moved]
            out[moved] = self.error[rows] - self.errors(
                self.rows.solve(self.region().adding(a, f), rows), rows
            )
        return out

    @property
    def price(self) -> float:
        """By how much a facet must lower the squared errors to pay for its parameters."""
        square = float((self.noise.sigma**2).mean(axis=0) @ self.metric) / self.n
        return float(square * self.R * np.log(self.w.sum() + 1.0))

    def worthwhile(self, cut: _Cut) -> bool:
        """Say whether a facet pays for its parameters, and found without a fold predicts it."""
        if float(self.gains(cut.t, np.arange(self.N)).sum()) < self.price:
            return False
        fold, gains = self.random.permutation(self.N) % FOLDS, np.zeros(self.N)
        for k in range(FOLDS):
            kept, out = fold[cut.used] != k, np.flatnonzero(fold == k)
            rest = self.regression(cut.used[kept], cut.u[kept], cut.v)
            if rest is not None and len(out):
                gains[out] = self.gains(rest.t, out)
        spread = np.sqrt(float((gains**2 / self.w).sum()))
        return bool(gains.sum() > GAIN * spread > 0.0)

    def likeness(self, U: Indices, i: int) -> Array:
        """Return how much rows are like row i, by displacement and cost in a random mixture."""
        parts, found = (self.d, self.rows.c @ self.W), np.zeros(len(U))
        for share, part in zip(self.random.dirichlet([0.5, 0.5]), parts, strict=True):
            length = np.linalg.norm(part, axis=1).clip(ROUNDING)
            found += share * (part[U] @ part[i]) / (length[U] * length[i])
        return found

    def evidence(self, t: Array) -> tuple[float, float]:
        """Return the evidence in nats that rows on a facet are no accident, and that of one row.

        Open rows that it cuts off lie on it within their errors s, where others are spread by a
        scale: ``sum log(scale / s) - (slack / s)^2 / 2``, less what the directions cost that they
        determine (Laplace), less one row at most for each that lies beyond it.
        """
        slack, s = self.Z @ t, self.errors_of(t)
        on = self.open & (np.abs(slack) < NEAR * s) & (self.d @ t[: self.nw] > CUT_OFF * s)
        rest = np.abs(slack[~on])
        scale = float(np.median(rest)) if len(rest) > self.R else 1.0
        scale = max(scale, WIDE * float(np.median(s)))
        row = float(np.log(scale / np.median(s)))
        if not on.any():
            return 0.0, row
        w, z = self.w[on], slack[on] / s[on]
        sizes = np.linalg.svd(self.Z[on] * (np.sqrt(w) / s[on])[:, None], compute_uv=False)
        beyond = slack < -NEAR * s
        lost = np.minimum(0.5 * (slack[beyond] / s[beyond]) ** 2, row) @ self.w[beyond]
        gained = w @ (np.log(scale / s[on]) - 0.5 * z**2)
        return float(gained - lost - 0.5 * np.log1p(sizes**2).sum()), row

    def sure(self, t: Array) -> bool:
        """Say whether the rows on a facet prove it, and it explains no fewer rows."""
        worth, row = self.evidence(t)
        if worth < max(PROVEN * row, PROVEN_NATS) or self.is_known(t):
            return False
        return float(self.gains(t, np.arange(self.N)).sum()) > 0.0

    def is_known(self, t: Array) -> bool:
        """Say whether the rows on a facet lie on one that is there."""
        slack, s = self.Z @ t, self.errors_of(t)
        on = self.open & (np.abs(slack) < NEAR * s) & (self.d @ t[: self.nw] > CUT_OFF * s)
        for a, f in zip(self.a, self.f, strict=True):
            other = np.append(a @ self.W, f)
            apart = np.abs(self.Z[on] @ other - slack[on])
            if t[: self.nw] @ other[: self.nw] > ALIKE and np.mean(apart / s[on]) < SAME_ERRORS:
                return True
        return False

    def grow(self, most: int, tries: int = 16, patience: int = 6) -> None:
        """Add facets found from groups of rows displaced alike, those with most evidence first."""
        cool, fails = np.zeros(self.N), 0
        while fails < patience and len(self.a) < most and not self.late():
            U = np.flatnonzero(self.open)
            if len(U) < 3 or not self.nw:
                return
            p = self.far[U] / (1.0 + cool[U]) ** 2
            found: list[tuple[float, _Cut]] = []
            for i in self.random.choice(U, min(tries, len(U)), replace=False, p=p / p.sum()):
                cool[i] += 1
                near = self.likeness(U, i)
                count = int(max(4, self.R * self.random.choice([0.5, 1, 2, 4])))
                G = U[np.argsort(-near)[:count]]
                cut = self.cut(G) if len(G) >= 3 and not self.late() else None
                for each in (cut, self.refined(cut)):
                    if each is not None and not any(
                        float(np.abs(each.t - other.t).max()) < SAME for _, other in found
                    ):
                        found.append((self.evidence(each.t)[0], each))
            fails += 1
            found.sort(key=lambda pair: -pair[0])
            if self.add(found, most, self.sure) or (
                self.answers and self.add_worthwhile(found, most)
            ):
                cool[:], fails = 0.0, 0

    def add(
        self, found: list[tuple[float, _Cut]], most: int, test: Callable[[Array], bool]
    ) -> bool:
        """Add the facets that pass a test, one after the other."""
        before = len(self.a)
        for _, cut in found:
            if len(self.a) < most and test(cut.t):
                self.insert(cut.t)
        return len(self.a) > before

    def add_worthwhile(self, found: list[tuple[float, _Cut]], most: int) -> bool:
        """Add facets that predict: of those with most evidence, under which errors fall most."""
        every, before = np.arange(self.N), len(self.a)
        gains = [(float(self.gains(cut.t, every).sum()), cut) for _, cut in found[:TRIED]]
        for _, cut in sorted(gains, key=lambda pair: -pair[0])[:3]:
            if len(self.a) < most and self.worthwhile(cut):
                self.insert(cut.t)
        return len(self.a) > before

    def insert(self, t: Array) -> None:
        a, f = self.split(t)
        self.place(*self.state[:2], np.vstack([self.a, a]), np.vstack([self.f, f]))

    # ---- all rows together
    def misfit(self) -> float:
        """Return the sum of squared errors; those that noise does not explain grow linearly."""
        limit = NEAR * np.sqrt(self.n)
        far = np.where(self.found.status == OPTIMAL, self.far, np.sqrt(EMPTY * self.n) / self.level)
        return float(self.w @ np.where(far < limit, far**2, limit * (2.0 * far - limit)))

    def polish(self, most: int = 8) -> None:
        """Take the best of the steps, while they lower the misfit."""
        for _ in range(most):
            if self.late():
                return
            before, loss, state = self.misfit(), float(self.error.sum()), self.state
            best, taken = before * (1.0 - 1e-4), None
            for step in self.steps():
                rows, lo, up = np.split(step, [-2 * self.n, -self.n])
                rows = rows.reshape(-1, self.R)
                normals, sides = rows[:, : self.nw] @ self.W.T, rows[:, self.nw :]
                for size in (1.0, 0.5, 0.2, 0.05):
                    a, f = state[2] + size * normals, state[3] + size * sides
                    length = np.linalg.norm(a, axis=1, keepdims=True)
                    new = state[0] + size * lo, state[1] + size * up, a / length, f / length
                    self.place(*new)
                    misfit = self.misfit()
                    if misfit < best and self.error.sum() <= loss:
                        best, taken = misfit, new
                    elif taken is not None:
                        break
            self.place(*(state if taken is None else taken))
            if taken is None:
                return

    def steps(self) -> Iterator[Array]:
        """Yield steps of all facets, lower and upper bounds."""
        lower, upper = np.tile(self.lo, (self.N, 1)), np.tile(self.up, (self.N, 1))
        if self.known is not None:
            lower = np.maximum(lower, self.known.lower)
            upper = np.minimum(upper, self.known.upper)
        A = np.vstack([self.a, self.flat])

        def vertices(x: Array, near: Array, active: Mask) -> Vertices:
            at_lo, at_up = x < lower + near, x > upper - near
            at_up &= ~at_lo
            every = np.hstack([active, np.ones((self.N, len(self.flat)), bool)])
            own = at_lo & (lower == self.lo), at_up & (upper == self.up)
            return Vertices(A, len(self.flat), every, at_lo, at_up, *own)

        held = self.found.prices[:, len(self.E) :] > ZERO_PRICE
        points = vertices(self.y, np.full(self.n, FEASIBILITY_TOL), held)
        limit = NEAR * np.sqrt(self.n)
        w = self.w * np.minimum(1.0, limit / self.far.clip(ROUNDING))
        w *= self.found.status == OPTIMAL
        damping = np.append(np.tile(UNLIKELY * self.prior, len(self.a)), np.ones(2 * self.n))
        z = np.hstack([-self.y @ self.W, self.rows.F])
        step = newton(points, z, self.rows.x - self.y, w[:, None] / self.residual**2, damping)
        fine = self.far**2 < self.n + 2.0 * np.sqrt(2.0 * self.n)
        c = self.rows.c
        kept = dual_rows(points, np.flatnonzero(fine), c, self.W, self.R)
        slack = np.abs(self.rows.F @ self.f.T - self.rows.x @ self.a.T)
        noise = [self.noise.of_slack(a, f) for a, f in zip(self.a, self.f, strict=True)]
        near = slack < NEAR * np.array(noise).reshape(-1, self.N).T
        seen = vertices(self.rows.x, NEAR * self.noise.sigma, near)
        wished = dual_rows(seen, np.flatnonzero(~fine), c, self.W, self.R)
        return steps(step, kept, wished)

    def learn(self, most: int, cycles: int = 4) -> None:
        """Grow and polish in turn; return to equalities and bounds alone if they are as good."""
        start, last = self.state, np.inf
        for _ in range(cycles):
            self.grow(most)
            self.polish()
            if float(self.error.sum()) > 0.99 * last or self.late():
                break
            last = float(self.error.sum())
        self.prune()
        self.fill()
        grown, paid = self.state, float(self.error.sum()) + len(self.a) * self.price
        empty = (self.found.status != OPTIMAL).any()
        self.place(*start)
        self.polish()
        if not empty and float(self.error.sum()) > paid:
            self.place(*grown)
        elif (self.found.status != OPTIMAL).any():
            self.place(*start)

    def prune(self) -> None:
        """Drop facets that do not pay for their parameters now that others are there."""
        for j in range(len(self.a) - 1, -1, -1):
            state, before = self.state, float(self.error.sum())
            self.place(*state[:2], np.delete(state[2], j, axis=0), np.delete(state[3], j, axis=0))
            if float(self.error.sum()) > before + self.price:
                self.place(*state)

    def fill(self) -> None:
        """Move facets and bounds out towards the decisions of empty regions until none is."""
        lo, up, a, f = self.state
        for size in (0.25, 0.5, 1.0, 2.0):
            empty = np.flatnonzero(self.found.status != OPTIMAL)
            if not len(empty):
                return
            x = self.rows.x[empty]
            noise = [np.median(self.noise.of_slack(*each)) for each in zip(a, f, strict=True)]
            beyond = (x @ a.T - self.rows.F[empty] @ f.T).max(axis=0)
            out = size * np.maximum(beyond, NEAR * np.array(noise))
            below = size * np.maximum(lo - x.min(axis=0), 0.0)
            above = size * np.maximum(x.max(axis=0) - up, 0.0)
            self.place(lo - below, up + above, a, f + np.outer(out, self.rows.one))
        while len(self.a) and (self.found.status != OPTIMAL).any():
            self.place(*self.state[:2], self.a[:-1], self.f[:-1])
