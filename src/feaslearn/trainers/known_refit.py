"""Regions moved so that their decisions within known constraints fit, not those of the region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.lifted_region import (
    LiftedRegion,
    LiftedSlopes,
    lifted_region,
    pull_back,
)
from feaslearn.known import KnownLimits, KnownShape
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.losses import Objective, Predictability
from feaslearn.losses.kernels import facet_loss
from feaslearn.region.relax import DISTANCE_COST, rows_of_size_one
from feaslearn.runs import Run
from feaslearn.runs.progress import ProgressBar
from feaslearn.solvers.lbfgs import quasi_newton
from feaslearn.solvers.small_lp_kernels import workspace
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
    if problem.work(theta, whole.rows(order[:FEWEST]).normalized()) * len(order) > limit:
        problem = replace(problem, every_term=False)
    order = order[: int(limit / problem.work(theta, whole))]
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

    def work(self, theta: Array, whole: Block) -> float:
        """Return about how many numbers a step touches for each sample; infinite if curved."""
        n = whole.decisions.shape[1]
        features = self.shape.split(whole.features)[0]
        lifted = lifted_region(self.hypothesis, theta, features, n, self.every_term)
        if lifted is None:
            return np.inf
        rows = len(lifted.W) + n + len(self.shape.E) + len(self.shape.G)
        return float((lifted.lower.shape[1] + 3 * n) * rows**2)

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
        n = samples.decisions.shape[1]
        lifted = lifted_region(self.hypothesis, theta, features, n, self.every_term)
        if lifted is None:
            raise TypeError("a curved set has no lifted region")
        unit, known = self.unit, self._relative_known(known)
        # Points of a sum are decisions, those of other sets are mapped to them.
        inner = unit if self.hypothesis.as_maps() is None else 1.0
        flat = self._relative(lifted, inner).on_flat(known)
        program = _Program(n, flat.W, flat.slack, known)
        count, p, r = len(features), flat.lower.shape[1], len(flat.W)
        slopes = LiftedSlopes(
            np.zeros((count, n, p)), *(np.zeros((count, size)) for size in (n, p, p, r))
        )
        sizes = np.abs(samples.costs).max(axis=1, keepdims=True)
        costs = known.inner_costs(samples.costs / np.where(sizes > 0.0, sizes, 1.0))
        decisions = (samples.decisions - self.center) / unit
        total = 0.0
        for i in range(count):
            M = flat.M if flat.M.ndim == 2 else flat.M[i]
            numbers = (M, flat.m[i], flat.lower[i], flat.upper[i], flat.w[i])
            value, found = program.solve(i, numbers, costs[i], decisions[i])
            total += samples.weights[i] * value
            for part, slope in zip(slopes, found, strict=True):
                part[i] = samples.weights[i] * slope
        if len(known.E):
            across = np.eye(n) - pseudo_inverse(known.E) @ known.E
            slopes = slopes._replace(M=across @ slopes.M, m=slopes.m @ across)
        factors = (unit * inner, unit, *(unit**2 / inner,) * 3)
        slopes = LiftedSlopes(*(f * part for f, part in zip(factors, slopes, strict=True)))
        return unit**2 * total, pull_back(self.hypothesis, theta, features, slopes, self.every_term)

    def _relative_known(self, known: KnownLimits) -> KnownLimits:
        """Return the constraints on decisions that are moved by their mean, in their unit."""
        known, center = rows_of_size_one(known), self.center
        places = (known.G @ center, center, center, known.E @ center)
        moved = ((x - at) / self.unit for x, at in zip(known[2:], places, strict=True))
        return KnownLimits(known.G, known.E, *moved)

    def _relative(self, lifted: LiftedRegion, inner: float) -> LiftedRegion:
        """Return regions of such decisions, with a unit of their points y, wider by a trace."""
        # A scale of zero then has a slope, whatever its last digits.
        return lifted._replace(
            M=lifted.M * (inner / self.unit),
            m=(lifted.m - self.center) / self.unit,
            lower=lifted.lower / inner,
            upper=lifted.upper / inner + TRACE,
            w=lifted.w / inner + TRACE,
        )


class _Program:
    """The linear program of one sample after the other, always with an answer."""

    # min c'x + big (s + t) : x = M y + m + s - t, E x = e, G x >= g over the boxes of y and x:
    # where the region has no known decision, the nearest one.

    def __init__(self, n: int, W: Array, slack: Array, known: KnownLimits) -> None:
        (r, p), q, g = W.shape, len(known.E), len(known.G)
        self.known, self.n, self.p, self.r = known, n, p, r
        self.G = np.zeros((r + n + q + g, p + 3 * n))
        self.G[:r, :p] = W
        self.G[r : r + n, p:] = np.hstack([np.eye(n), -np.eye(n), np.eye(n)])
        self.G[r + n :, p : p + n] = np.vstack([known.E, -known.G])
        self.slack = np.concatenate([slack, np.zeros(n + q), np.full(g, np.inf)])
        self.work = workspace(*self.G.shape)
        self.importance = np.repeat([0.0, 1.0, DISTANCE], [p, n, 2 * n])

    def solve(
        self, i: int, numbers: tuple[Array, Array, Array, Array, Array], cost: Array, x: Array
    ) -> tuple[float, LiftedSlopes]:
        """Return the squared distances of sample i and their derivatives in its numbers."""
        M, m, lower, upper, w = numbers
        n, p, r, known = self.n, self.p, self.r, self.known
        self.G[r : r + n, :p] = -M
        sides = (known.e[i], -known.g[i])
        size = 1.0 + float(np.abs(m).max()) + float(np.abs(np.concatenate(sides)).max(initial=0.0))
        size += float((np.abs(M) @ np.maximum(np.abs(lower), np.abs(upper))).max(initial=0.0))
        low, high = (np.nan_to_num(side[i], posinf=0.0, neginf=0.0) for side in known[3:5])
        far = 10.0 * (size + float(np.abs(low).max()) + float(np.abs(high).max()))
        low, high = (np.clip(side[i], -far, far) for side in known[3:5])
        limits = (
            np.concatenate([w, m, *sides]),
            np.concatenate([lower, low, np.zeros(2 * n)]),
            np.concatenate([upper, high, np.full(2 * n, far)]),
        )
        H, L, U = (side[:, None] for side in limits)
        price = cost / (float(np.abs(cost).max()) or 1.0)
        prices = np.concatenate([np.zeros(p), price, np.full(2 * n, DISTANCE_COST)])
        target = np.concatenate([np.zeros(p), x, np.zeros(2 * n)])
        slopes = [np.zeros_like(part) for part in (self.G, H, L, U)]
        rest = (self.slack, np.ones((1, 1)), prices[None], target[None], np.ones(1))
        value = facet_loss(self.work, self.G, H, L, U, *rest, self.importance, 0.0, *slopes)
        dG, dH, dL, dU = slopes
        across = dH[r : r + n, 0]
        return value, LiftedSlopes(-dG[r : r + n, :p], across, dL[:p, 0], dU[:p, 0], dH[:r, 0])
