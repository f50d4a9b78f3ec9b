"""Regions moved so that their decisions within known constraints fit, not those of the region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.known import KnownLimits, KnownShape
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.losses import Objective, Predictability
from feaslearn.losses.kernels import program_loss
from feaslearn.region.form import RegionForm
from feaslearn.region.latent_set import latent_set
from feaslearn.region.minimize import tighten
from feaslearn.region.relax import DISTANCE_COST, rows_of_size_one
from feaslearn.runs import Run
from feaslearn.runs.progress import ProgressBar
from feaslearn.solvers.lbfgs import quasi_newton
from feaslearn.solvers.small_lp_kernels import workspace
from feaslearn.tolerances import ROUNDING, divisors
from feaslearn.trainers.out_of_fold import folds_of
from feaslearn.trainers.standardize import place_and_unit

#: What a squared distance between the region and the known decisions counts: without it, regions
#: would leave them and let what is known alone decide.
DISTANCE = 1.0
#: Steps of the refit.
STEPS = 25
#: Folds of the samples, one of which says after how many steps to stop.
FOLDS = 5
#: Fewer samples than this are not divided.
FEWEST = 20
#: By how much the refit widens regions, in their own units: far above rounding errors.
TRACE = 2.0**-28
#: Points are no further away than this, in units of the right-hand sides of their rows.
FAR = 1e3
#: Numbers that one step may touch: beyond, only some samples are refitted to.
MOST_WORK = 1e8


def refit_within(
    objective: Objective, theta: Array, random: np.random.Generator, thorough: bool = True
) -> Array:
    """Return parameters whose decisions within the known constraints fit better, if any do."""
    # Quasi-Newton steps, since the loss is smooth while the active rows of all samples stay the
    # same; samples held out say when to stop. Other losses and curved regions are left alone.
    loss, shape, hypothesis = objective.loss, objective.known, without_known(objective.hypothesis)
    squared = isinstance(loss, Predictability) and loss.norm_code() == Predictability().norm_code()
    if not squared or shape is None or hypothesis.integer_parameters:
        return theta
    whole, run = objective.load(), objective.run
    problem = _Refit(hypothesis, shape, *place_and_unit(whole))
    order = random.permutation(len(whole.weights))
    limit, most = (MOST_WORK, STEPS) if thorough else (MOST_WORK / 10, STEPS // 2)
    # Every term has entries at any row, so that a few tell how many.
    if problem.work(theta, whole.rows(order[:FEWEST])) * len(order) > limit:
        problem = replace(problem, every_term=False)
    order = order[: int(limit / problem.work(theta, whole.rows(order[:FEWEST])))]
    if len(order) < FEWEST or run.late():
        return theta
    whole = whole.rows(order).normalized()
    fold = folds_of([whole], FOLDS, random)
    if not fold.any():
        return theta
    outer, inner = (whole.rows(held).normalized() for held in (fold == 0, fold != 0))
    with ProgressBar("Refit within known constraints", 2 * most) as bar:
        path = problem.path(theta, inner, most, run, bar.update)
        losses = [problem.value_and_gradient(each, outer)[0] for each in path]
        steps = int(np.argmin(losses))
        last = problem.path(theta, whole, steps, run, lambda done: bar.update(most + done))[-1]
        # Steps on a loss that jumps may lead elsewhere: the held-out rows speak for the first path.
        ends = [problem.value_and_gradient(each, whole)[0] for each in (last, path[steps])]
        return (last, path[steps])[int(np.argmin(ends))]


@dataclass(frozen=True)
class _Refit:
    """The squared loss of decisions within known constraints, with its gradient."""

    hypothesis: Hypothesis
    shape: KnownShape
    #: Mean and spread of the decisions: programs are written in numbers relative to them.
    center: Array
    unit: float
    #: Whether terms of a sum that do not count yet may grow: what is known can make room for them.
    every_term: bool = True

    def work(self, theta: Array, some: Block) -> float:
        """Return about how many numbers a step touches for each sample; infinite if curved."""
        points = self._points(theta, self.shape.split(some.features)[0], some.decisions.shape[1])
        if points is None:
            return np.inf
        n = some.decisions.shape[1]
        rows = len(points.W) + n + len(self.shape.E) + len(self.shape.G)
        return float((points.lower.shape[1] + 3 * n) * rows**2)

    def path(
        self,
        theta: Array,
        samples: Block,
        steps: int,
        run: Run,
        tell: Callable[[int], object],
    ) -> list[Array]:
        """Return the parameters after each step, the start included."""
        path, sizes = [theta], self._sizes(samples)

        def after(xk: Array) -> None:
            path.append(theta + sizes * xk)
            tell(len(path) - 1)

        def relative(point: Array) -> tuple[float, Array]:
            value, slope = self.value_and_gradient(theta + sizes * point, samples)
            return value / self.unit**2, slope * (sizes / self.unit**2)

        if steps:
            quasi_newton(relative, np.zeros(len(theta)), run, after, maxiter=steps)
        return path

    def _sizes(self, samples: Block) -> Array:
        """Return the size of each parameter that moves decisions by one unit."""
        features = self.shape.split(samples.features)[0]
        n, k = samples.decisions.shape[1], features.shape[1]
        rms = np.sqrt((features**2).mean(axis=0))
        each = self.unit / np.where(rms > 0.0, rms, 1.0)
        blocks = {}
        for name, shape in self.hypothesis.layout(n, k).shapes.items():
            if name in ("A", "b"):
                sizes = each.reshape(k, *(1,) * (len(shape) - 1))
            elif name == "alpha":
                sizes = each if shape[-1] == k and k > 1 else np.array(self.unit)
            else:
                sizes = np.ones(1)
            blocks[name] = np.broadcast_to(sizes, shape)
        return self.hypothesis.layout(n, k).pack(blocks)

    def value_and_gradient(self, theta: Array, samples: Block) -> tuple[float, Array]:
        """Return the weighted loss and its gradient in theta."""
        features, known = self.shape.split(samples.features)
        points = self._points(theta, features, samples.decisions.shape[1])
        if points is None:
            raise TypeError("a curved set is not refitted")
        value, slopes = self._solved(points, self._relative_known(known), samples)
        return self.unit**2 * value, self._pull_back(theta, features, points, *slopes)

    def _solved(
        self, points: _Points, known: KnownLimits, samples: Block
    ) -> tuple[float, list[Array]]:
        """Return the loss of all programs, which always have an answer, and its derivatives."""
        # min c'x + big (s + t) : x = M y + m + s - t, E x = e, G x >= g over the boxes of y and x:
        # where the region has no known decision, the nearest one.
        count, n, p = points.M.shape
        r, q, g = len(points.W), len(known.E), len(known.G)
        onto = np.eye(n) - pseudo_inverse(known.E) @ known.E if q else np.eye(n)
        M, m = onto @ points.M, known.on_flat(points.m)
        rows = np.zeros((r + n + q + g, p + 3 * n))
        rows[:r, :p] = points.W
        rows[r : r + n, p:] = np.hstack([np.eye(n), -np.eye(n), np.eye(n)])
        rows[r + n :, p : p + n] = np.vstack([known.E, -known.G])
        reach = np.abs(M) @ np.maximum(np.abs(points.lower), np.abs(points.upper))[:, :, None]
        numbers = [m, known.e, known.g, reach[:, :, 0], *map(_finite, known[3:5])]
        far = 10.0 * (1.0 + sum(np.abs(x).max(axis=1, initial=0.0) for x in numbers))[:, None]
        low, high = (np.clip(side, -far, far) for side in known[3:5])
        free, none = np.zeros((count, p)), np.zeros((count, 2 * n))
        costs = known.inner_costs(samples.costs)
        costs = costs / divisors(np.abs(costs).max(axis=1, keepdims=True))
        right = np.hstack([points.w, m, known.e, -known.g])
        lower = np.hstack([points.lower, low, none])
        upper = np.hstack([points.upper, high, none + far])
        slopes = [np.zeros_like(part) for part in (M, right, lower, upper)]
        value = program_loss(
            workspace(*rows.shape),
            rows,
            np.concatenate([points.slack, np.zeros(n + q), np.full(g, np.inf)]),
            *(r, M, right, lower, upper),
            np.hstack([free, costs, none + DISTANCE_COST]),
            np.hstack([free, (samples.decisions - self.center) / self.unit, none]),
            samples.weights,
            np.repeat([0.0, 1.0, DISTANCE], [p, n, 2 * n]),
            *slopes,
        )
        in_M, in_right, in_lower, in_upper = slopes
        in_rows = points.row_slopes(in_lower[:, :p], in_upper[:, :p], in_right[:, :r])
        return value, [onto @ in_M, in_right[:, r : r + n] @ onto, in_rows]

    def _points(self, theta: Array, features: Array, n: int) -> _Points | None:
        """Return the points of the regions in units of the decisions; None where it is curved."""
        k, hypothesis, weights, inner = features.shape[1], self.hypothesis, features, 1.0
        if hypothesis.as_maps() is None:
            total = hypothesis.as_minkowski(n)
            if total is None:
                return None
            layout = total.layout(n, k)
            blocks = layout.unpack(theta)
            # A scale of zero has a slope, whatever its last digits: it is wider by a trace.
            scales = total.scales(theta, features, n) + TRACE * self.unit
            weights = np.hstack([features, scales[:, self._used(total, theta, n, k)]])
            hypothesis, inner = total, self.unit
            if self.every_term and "alpha" in blocks:
                theta = layout.pack(blocks | {"alpha": np.ones_like(blocks["alpha"])})
        form = hypothesis.describe(theta, n, k)
        if form.curved or form.integer.any():
            return None
        return _Points.of(form, weights, self.center, self.unit, inner)

    def _used(self, total: Minkowski, theta: Array, n: int, k: int) -> Indices:
        """Return the terms of a sum that are in its form."""
        alpha = total.layout(n, k).unpack(theta).get("alpha", np.zeros((0, 1)))
        shape = (len(total.terms_of(n)), alpha.shape[1])
        return np.flatnonzero(np.broadcast_to(alpha, shape).any(axis=1) | self.every_term)

    def _pull_back(
        self,
        theta: Array,
        features: Array,
        points: _Points,
        dM: Array,
        dm: Array,
        in_rows: Array,
    ) -> Array:
        """Return the gradient in theta, given that in the numbers of each sample."""
        (_, n, _), k, unit = dM.shape, features.shape[1], self.unit
        maps, total = self.hypothesis.as_maps(), self.hypothesis.as_minkowski(n)
        if maps is not None:
            latent = latent_set(maps.latent(n)).matrix.toarray()
            A = np.einsum("ik,inp->knp", features, dM @ latent.T)
            return maps.pull_back(Maps(unit * A, unit * features.T @ dm))
        assert total is not None
        layout = total.layout(n, k)
        blocks = layout.unpack(theta)
        found = {name: np.zeros_like(block) for name, block in blocks.items()}
        if total.offset:
            found["b"] = unit * features.T @ dm
        if "alpha" in blocks:
            scales = total.unclipped_scales(theta, features, n)
            slopes = np.zeros(scales.shape)
            slopes[:, self._used(total, theta, n, k)] = unit * in_rows @ points.form.lifted.w[k:].T
            # A scale that is clipped has no slope.
            slopes *= scales >= -ROUNDING * scales.max(initial=0.0)
            psi = total.basis(k).values(features, blocks.get("knots"))
            found["alpha"] = slopes.T @ psi
            if len(blocks["alpha"]) == 1:
                found["alpha"] = found["alpha"].sum(axis=0, keepdims=True)
        return layout.pack(found)

    def _relative_known(self, known: KnownLimits) -> KnownLimits:
        """Return the constraints on decisions that are moved by their mean, in their unit."""
        known, center = rows_of_size_one(known), self.center
        places = (known.G @ center, center, center, known.E @ center)
        moved = ((x - at) / self.unit for x, at in zip(known[2:], places, strict=True))
        return KnownLimits(known.G, known.E, *moved)


class _Points(NamedTuple):
    r"""The regions :math:`\{M y + m : l \le y \le u,\; W y \le w\}`, one for each sample.

    Rows of slack 0 are equalities. Rows ``single`` of the form, of one entry with ``factors``, are
    bounds; ``others`` are the rows W.
    """

    M: Array
    m: Array
    lower: Array
    upper: Array
    w: Array
    W: Array
    slack: Array
    form: RegionForm
    single: Indices
    others: Indices
    columns: Indices
    factors: Array
    limits: Array

    @classmethod
    def of(
        cls, form: RegionForm, weights: Array, center: Array, unit: float, inner: float
    ) -> _Points:
        """Return the points y of a form, in units ``inner``, for decisions in other units."""
        lifted = form.lifted
        W, w = -lifted.W[0].toarray(), -(weights @ lifted.w) / inner
        maps = np.array([M.toarray() for M in lifted.M[: 1 if form.fixed_matrix else None]])
        M = np.tensordot(weights[:, : len(maps)], maps, 1) * (inner / unit)
        m = (weights @ lifted.m - center) / unit
        equality = form.equality[len(form.labels) - len(lifted.labels) :]
        counts = (W != 0.0).sum(axis=1)
        single, others = np.flatnonzero(counts == 1), np.flatnonzero(counts != 1)
        columns = np.nonzero(W[single])[1]
        factors = W[single, columns]
        limits = w[:, single] / factors
        lower, upper = np.full((2, len(w), W.shape[1]), [[[-np.inf]], [[np.inf]]])
        for i, j in enumerate(columns):
            if equality[single[i]] or factors[i] > 0.0:
                upper[:, j] = np.minimum(upper[:, j], limits[:, i])
            if equality[single[i]] or factors[i] < 0.0:
                lower[:, j] = np.maximum(lower[:, j], limits[:, i])
        slack = np.where(equality[others], 0.0, np.inf)
        open_ended = np.isinf(lower), np.isinf(upper)
        tighten(W[others], w[:, others], slack, lower, upper)
        # What rows imply is a bound that no point reaches.
        far = FAR * (1.0 + float(np.abs(w).max(initial=0.0)))
        lower, upper = np.maximum(lower, -far), np.minimum(upper, far)
        wide = 1.0 + (upper - lower)
        lower, upper = lower - wide * open_ended[0], upper + wide * open_ended[1]
        rows = (single, others, columns, factors, limits)
        return cls(M, m, lower, upper, w[:, others], W[others], slack, form, *rows)

    def row_slopes(self, in_lower: Array, in_upper: Array, in_w: Array) -> Array:
        """Return derivatives in the right-hand sides of the form, given those in the numbers."""
        found = np.zeros((len(in_w), len(self.single) + len(self.others)))
        found[:, self.others] = -in_w
        for side, slope in ((self.lower, in_lower), (self.upper, in_upper)):
            held = side[:, self.columns] == self.limits
            found[:, self.single] -= np.where(held, slope[:, self.columns] / self.factors, 0.0)
        return found


def _finite(side: Array) -> Array:
    """Return bounds with zeros for those that are open."""
    return np.nan_to_num(side, posinf=0.0, neginf=0.0)
