r"""Ridge and sparsity on the scales, and their penalties by cross-validation.

.. math::
    \min \; \sum_i w_i \|x_i - \hat x_i\|^2 + \rho \sum_{t,m} (d_{tm} a_{tm})^2
    + 2 \mu \sigma \sum_t d_t \bar\alpha_t

Here :math:`d` is the size of what a coefficient is multiplied by, :math:`\sigma` that of the
decisions and :math:`\bar\alpha_t` the mean scale of a term, which is not negative: penalties have
no unit, and the last sum makes scales vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.hypotheses.scale_basis import ScaleBasis
from feaslearn.tolerances import EXACT_TOL, ROUNDING, SPARSITY_RIDGE, VISIBLE_TOL
from feaslearn.trainers.minkowski_fit.moments import Moments, Reduced, Rows, Split, leave_one_out
from feaslearn.trainers.minkowski_fit.scale_cone import ScaleCone

#: Penalties that cross-validation tries.
RIDGES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SPARSITIES = (0.0, 1e-4, 1e-3, 1e-2, 3e-2)
#: Ridges by which dictionaries and scales are compared.
SOME_RIDGES = (0.0, 1e-4, 1e-2)
#: A penalty that is given, several to choose from, or "auto".
Tried = float | tuple[float, ...] | str


class Penalties(NamedTuple):
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
    """The fit of some samples for any penalties."""

    def __init__(self, cone: ScaleCone, moments: Moments, basis: ScaleBasis, split: Split) -> None:
        self._cone, self._one = cone, np.zeros(basis.size)
        self._one[: basis.knots_shape[0] if basis.knotted else 1] = 1.0
        self._mean = moments.gram[split.constant].sum(axis=0)[split.psi] / moments.weight

    def factors(self, moments: Moments, penalties: Penalties) -> tuple[Array, Array]:
        """Return the factors of ``a^2`` and of ``2a``, both (G, M)."""
        least = SPARSITY_RIDGE if penalties.sparsity else 0.0
        ridge = max(penalties.ridge, least) * squares_of(moments.aa)
        sizes = np.einsum("m,gmgl,l->g", self._one, moments.aa, self._one)
        prices = np.sqrt(np.maximum(sizes, 0.0) * moments.xx)[:, None] * self._mean
        return ridge, penalties.sparsity * prices

    def solve(self, reduced: Reduced, penalties: Penalties, everywhere: bool = True) -> Answer:
        """Return the global optimum, with scales held at rows of the working set or at all."""
        moments = reduced.moments
        ridge, prices = self.factors(moments, penalties)
        units = np.sqrt(squares_of(moments.aa)).ravel()
        # No scale is made of the rounding of what the offset explains entirely.
        left = np.diag(reduced.H) > EXACT_TOL * units**2
        H = np.where(np.outer(left, left), reduced.H, 0.0) + np.diag(ridge.ravel())
        r = np.where(left, reduced.r, 0.0) - prices.ravel()
        solution = self._cone.solve(H, r, units, moments.ra.shape, everywhere)
        a = solution.coefficients
        return Answer(a, reduced.best_offset(a), solution.residual, solution.rounds)

    def choose(
        self, folds: Sequence[Moments], ridge: Tried, sparsity: Tried, rows: Rows | None = None
    ) -> Penalties:
        """Return the penalties given, and those of least cross-validated loss for "auto".

        Samples are left out one at a time where their ``rows`` are given, otherwise by folds.
        """
        ridges, sparsities = _values(ridge, RIDGES), _values(sparsity, SPARSITIES)
        if not folds[0].ra.size or (rows is None and len(folds) < 2):
            return Penalties(ridges[0], sparsities[0])

        def best_of(tried: Sequence[Penalties]) -> Penalties:
            losses = (
                self._by_folds(folds, tried)
                if rows is None
                else self.one_by_one(Moments.total(folds), rows, tried)
            )
            # Among equals, the stronger: what rounding decides should be the simpler one.
            size = ROUNDING * sum(fold.xx for fold in folds)
            good = np.flatnonzero(losses <= losses.min() + size)
            return tried[int(good[-1]) if np.isfinite(losses).any() else 0]

        best = Penalties(ridges[0], sparsities[0])
        if len(ridges) > 1:
            best = best_of([Penalties(value, sparsities[0]) for value in ridges])
        if len(sparsities) > 1:
            best = best_of([Penalties(best.ridge, value) for value in sparsities])
        return best

    def one_by_one(self, moments: Moments, rows: Rows, tried: Sequence[Penalties]) -> Array:
        """Return the leave-one-out loss for each of some penalties."""
        reduced, losses = moments.reduced(), np.empty(len(tried))
        for s, penalties in enumerate(tried):
            answer = self.solve(reduced, penalties)
            errors = self.left_out(moments, rows, answer, penalties)
            losses[s] = float(rows.weights @ (errors**2).sum(axis=1))
        return losses

    def left_out(self, moments: Moments, rows: Rows, answer: Answer, penalties: Penalties) -> Array:
        """Return the errors of samples left out one at a time."""
        ridge, _ = self.factors(moments, penalties)
        return leave_one_out(rows, answer.a, answer.b, ridge)

    def held_out(self, folds: Sequence[Moments], penalties: Penalties) -> float:
        """Return the loss of all folds, each when the others are fitted."""
        total = 0.0
        for f, fold in enumerate(folds):
            answer = self.solve(_without(folds, f), penalties)
            total += fold.value(answer.a, answer.b)
        return total

    def _by_folds(self, folds: Sequence[Moments], tried: Sequence[Penalties]) -> Array:
        """Return the loss of folds that were held out, less that of the first, by penalties."""
        losses = np.full((len(folds), len(tried)), np.nan)
        first: dict[int, Answer] = {}
        pending = list(np.ndindex(losses.shape))
        while pending:
            # Scales are held at rows in the working set; one pass then looks at all samples.
            answers = []
            for f, group in groupby(pending, key=itemgetter(0)):
                others = _without(folds, f)
                answers += [self.solve(others, tried[s], everywhere=False) for _, s in group]
            violated = self._cone.violated([answer.a for answer in answers])
            for (f, s), answer, again in zip(pending, answers, violated, strict=True):
                if not again:
                    # Compared with one of them, losses that hardly differ keep their digits.
                    origin = first.setdefault(f, answer)
                    losses[f, s] = folds[f].rise(origin.a, origin.b, answer.a, answer.b)
            pending = list(compress(pending, violated))
        return np.asarray(losses.sum(axis=0))


def _without(folds: Sequence[Moments], f: int) -> Reduced:
    """Return the problem of all folds but one."""
    return Moments.total([*folds[:f], *folds[f + 1 :]]).reduced()


def _values(given: Tried, every: tuple[float, ...]) -> tuple[float, ...]:
    """Return the penalties to choose from."""
    if isinstance(given, str):
        return every
    return given if isinstance(given, tuple) else (float(given),)
