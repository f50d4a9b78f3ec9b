r"""Ridge and sparsity on the scales, and their strengths by cross-validation.

.. math::
    \min \; \sum_i w_i \|x_i - \hat x_i\|^2 + \rho \sum_{t,m} (d_{tm} a_{tm})^2
    + 2 \mu \sigma \sum_t d_t \bar\alpha_t

Here :math:`d` is the size of what a coefficient is multiplied by, :math:`\sigma` that of the
decisions and :math:`\bar\alpha_t` the mean scale of a term, which is not negative: strengths have
no unit, and the last sum makes scales vanish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.hypotheses.scale_basis import ScaleBasis
from feaslearn.runs import Clock, OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.tolerances import EXACT_TOL, ROUNDING, SPARSITY_RIDGE, VISIBLE_TOL
from feaslearn.trainers.minkowski_fit.moments import Moments, Reduced, Rows, Split, leave_one_out
from feaslearn.trainers.minkowski_fit.scale_cone import ScaleCone

#: Strengths that cross-validation tries.
RIDGES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SPARSITIES = (0.0, 1e-4, 1e-3, 1e-2, 3e-2)
#: Ridges by which dictionaries and scales are compared.
SOME_RIDGES = (0.0, 1e-4, 1e-2)
#: A strength that is given, several to choose from, or "auto".
Tried = float | tuple[float, ...] | str


class Strengths(NamedTuple):
    """How strongly scales are held small, and held few."""

    ridge: float
    sparsity: float


class Answer(NamedTuple):
    """Coefficients of scales (G, M) and offset (k, n), and how they were found."""

    a: Array
    b: Array
    residual: float
    rounds: int


def squares_of(aa: Array) -> Array:
    """Return the mean square of what each coefficient is multiplied by, (G, M)."""
    # A function that is hardly ever other than zero counts like one that is a little more often.
    G, M = aa.shape[:2]
    squares = np.diag(aa.reshape(G * M, G * M)).reshape(G, M)
    largest = squares.max(axis=1, keepdims=True, initial=0.0)
    return np.asarray(np.where(largest > 0.0, np.maximum(squares, VISIBLE_TOL * largest), 1.0))


class Penalized:
    """The fit of some samples for any strengths."""

    def __init__(self, cone: ScaleCone, one: Array, mean: Array) -> None:
        self._cone, self._one, self._mean = cone, one, mean

    @classmethod
    def over(cls, cone: ScaleCone, moments: Moments, basis: ScaleBasis, split: Split) -> Penalized:
        """Return the problem of samples whose moments are known."""
        one = np.zeros(basis.size)
        one[: basis.knots_shape[0] if basis.knotted else 1] = 1.0
        mean = moments.gram[split.constant].sum(axis=0)[split.psi] / moments.weight
        return cls(cone, one, mean)

    def penalties(self, moments: Moments, strengths: Strengths) -> tuple[Array, Array]:
        """Return the factors of ``a^2`` and of ``2a``, both (G, M)."""
        least = SPARSITY_RIDGE if strengths.sparsity else 0.0
        ridge = max(strengths.ridge, least) * squares_of(moments.aa)
        sizes = np.einsum("m,gmgl,l->g", self._one, moments.aa, self._one)
        prices = np.sqrt(np.maximum(sizes, 0.0) * moments.xx)[:, None] * self._mean
        return ridge, strengths.sparsity * prices

    def solve(self, reduced: Reduced, strengths: Strengths, everywhere: bool = True) -> Answer:
        """Return the global optimum, with scales held at rows at hand or everywhere."""
        moments = reduced.moments
        ridge, prices = self.penalties(moments, strengths)
        units = np.sqrt(squares_of(moments.aa)).ravel()
        # What the offset explains entirely is not there: no scale is made of rounding.
        there = np.diag(reduced.H) > EXACT_TOL * units**2
        H = np.where(np.outer(there, there), reduced.H, 0.0) + np.diag(ridge.ravel())
        r = np.where(there, reduced.r, 0.0) - prices.ravel()
        solution = self._cone.solve(H, r, units, moments.ra.shape, everywhere)
        a = solution.coefficients
        return Answer(a, reduced.best_offset(a), solution.residual, solution.rounds)

    def choose(
        self,
        folds: Sequence[Moments],
        ridge: Tried,
        sparsity: Tried,
        clock: Clock,
        rows: Rows | None = None,
    ) -> Strengths:
        """Return the strengths given, and those of least cross-validated loss for "auto".

        Samples are left out one at a time where their ``rows`` are given, otherwise by folds.
        """
        ridges, sparsities = _listed(ridge, RIDGES), _listed(sparsity, SPARSITIES)
        if not folds[0].ra.size or (rows is None and len(folds) < 2):
            return Strengths(ridges[0], sparsities[0])

        def best_of(tried: Sequence[Strengths]) -> Strengths:
            losses = (
                self._by_folds(folds, tried, clock)
                if rows is None
                else self._one_by_one(Moments.total(folds), rows, tried, clock)
            )
            # Among equals, the stronger: what rounding decides should be the simpler one.
            size = ROUNDING * sum(fold.xx for fold in folds)
            good = np.flatnonzero(losses <= losses.min(initial=np.inf) + size)
            return tried[int(good[-1]) if len(good) and np.isfinite(losses).any() else 0]

        best = Strengths(ridges[0], sparsities[0])
        if len(ridges) > 1:
            best = best_of([Strengths(value, sparsities[0]) for value in ridges])
        if len(sparsities) > 1:
            best = best_of([Strengths(best.ridge, value) for value in sparsities])
        return best

    def _one_by_one(
        self, moments: Moments, rows: Rows, tried: Sequence[Strengths], clock: Clock
    ) -> Array:
        """Return the leave-one-out loss for each of some strengths."""
        reduced, losses = moments.reduced(), np.full(len(tried), np.inf)
        for s, strengths in enumerate(tried):
            if clock.out():
                break
            answer = self.solve(reduced, strengths)
            errors = self.left_out(moments, rows, answer, strengths)
            losses[s] = float(rows.weights @ (errors**2).sum(axis=1))
        return losses

    def left_out(self, moments: Moments, rows: Rows, answer: Answer, strengths: Strengths) -> Array:
        """Return the errors of samples left out one at a time."""
        ridge, _ = self.penalties(moments, strengths)
        return leave_one_out(rows, answer.a, answer.b, ridge)

    def held_out(self, folds: Sequence[Moments], strengths: Strengths) -> float:
        """Return the loss of all folds, each when the others are fitted."""
        total = 0.0
        for f, fold in enumerate(folds):
            others = Moments.total([*folds[:f], *folds[f + 1 :]]).reduced()
            answer = self.solve(others, strengths)
            total += fold.value(answer.a, answer.b)
        return total

    def _by_folds(
        self, folds: Sequence[Moments], tried: Sequence[Strengths], clock: Clock
    ) -> Array:
        """Return the loss of folds that were held out, less that of the first, by strengths."""
        losses = np.full((len(folds), len(tried)), np.nan)
        first: dict[int, Answer] = {}
        pending = {f: list(range(len(tried))) for f in range(len(folds))}
        with ProgressBar("Convex: strengths", losses.size) as bar:
            while pending and not clock.out():
                found = self._held_at_hand(folds, tried, pending, clock)
                broken = self._cone.broken([answer.a for answer in found.values()])
                pending = {}
                for ((f, s), answer), again in zip(found.items(), broken, strict=True):
                    if again:
                        pending.setdefault(f, []).append(s)
                    else:
                        # Compared with one of them, losses that hardly differ keep their digits.
                        origin = first.setdefault(f, answer)
                        losses[f, s] = folds[f].rise(origin.a, origin.b, answer.a, answer.b)
                bar.update(int(np.isfinite(losses).sum()))
        complete = ~np.isnan(losses).any(axis=1)
        return losses[complete].sum(axis=0) if complete.any() else np.full(len(tried), np.inf)

    def _held_at_hand(
        self,
        folds: Sequence[Moments],
        tried: Sequence[Strengths],
        pending: Mapping[int, Sequence[int]],
        clock: Clock,
    ) -> dict[tuple[int, int], Answer]:
        """Return answers whose scales were held at rows at hand, by fold left out and strengths."""
        found: dict[tuple[int, int], Answer] = {}
        for f, places in pending.items():
            others = Moments.total([*folds[:f], *folds[f + 1 :]]).reduced()
            for s in places:
                if clock.out():
                    return found
                try:
                    found[f, s] = self.solve(others, tried[s], everywhere=False)
                except OutOfTime:
                    return found
        return found


def _listed(given: Tried, every: tuple[float, ...]) -> tuple[float, ...]:
    """Return the strengths to choose from."""
    if isinstance(given, str):
        return every
    return given if isinstance(given, tuple) else (float(given),)
