"""Squared predictability of a Minkowski sum whose minimisers are unique."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block, Samples
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.losses import Objective
from feaslearn.runs import OutOfTime, Run
from feaslearn.runs.memory import check_memory
from feaslearn.tolerances import ACCEPT_TOL, CONVERGED_TOL, SUM_ROUNDING, VISIBLE_TOL
from feaslearn.trainers.minkowski_fit.block_moments import Piece
from feaslearn.trainers.minkowski_fit.moments import Moments
from feaslearn.trainers.minkowski_fit.passes import Folds, Passes, Reweigh, Sums
from feaslearn.trainers.minkowski_fit.penalized import Answer, Penalized, Strengths
from feaslearn.trainers.minkowski_fit.scale_cone import NegativeScales, ScaleCone

#: Observed values for each parameter from which on penalties are not tried.
PLENTY = 10_000
#: Rows by which scales are chosen, folds of these, and coefficients up to which all kinds of scales
#: are tried.
CHOOSING_ROWS, CHOOSING_FOLDS, MOST_COEFFICIENTS = 1000, 5, 350
#: Fewest rows by which scales are chosen, and how much better than simpler ones they must be.
LEAST_CHOOSING, BETTER = 10, 0.01
#: Errors beyond this many times the usual one count linearly (Huber), and how often they are
#: measured again.
USUAL, MAX_REWEIGHTED = 1.345, 50


class Fitted(NamedTuple):
    """Parameters, their loss, the least loss of the class where it is known, and how."""

    theta: Array
    loss: float
    bound: float | None
    strengths: Strengths
    rounds: int
    details: dict[str, float]


class MinkowskiFit:
    r"""Least squares of decisions on :math:`\sum_t \alpha_t(s) E_t z_t^*(c) + b(s)`."""

    # One pass over the samples makes the moments of every fold. All fits are small problems in the
    # moments, each ended by a look at all rows for negative scales.

    def __init__(
        self,
        hypothesis: Minkowski,
        samples: Samples,
        n_folds: int,
        random: np.random.Generator,
        n_jobs: int = 1,
        run: Run | None = None,
    ) -> None:
        self._run = Run() if run is None else run
        self.passes = Passes(hypothesis, samples, n_jobs, self._run)
        _check_size(self.passes, n_folds)
        self._folds = Folds.draw(samples, n_folds, random, self._run.check_time)

    @cached_property
    def _sums(self) -> Sums:
        return self.passes.settle(self.passes.sums(self._folds))

    @cached_property
    def moments(self) -> Moments:
        """The moments of all samples."""
        return Moments.total(self._sums.folds)

    @cached_property
    def problem(self) -> Penalized:
        """The problem in the moments."""
        of = self.passes.of
        cone = ScaleCone(of.shape, self._lookout, self._run)
        return Penalized.over(cone, self.moments, of.basis, of.split)

    @cached_property
    def _lookout(self) -> NegativeScales | None:
        nothing = self.passes.basis.nonnegative or not self.passes.shape[0]
        return None if nothing else NegativeScales(self.passes, self._sums)

    @property
    def n_tied(self) -> int:
        """Number of samples for which a term has several minimisers."""
        return int(self.moments.tied)

    def solve(
        self,
        ridge: float | str,
        sparsity: float | str,
        robust: bool = False,
    ) -> Fitted:
        """Return the optimum, for strengths given or chosen ("auto")."""
        moments = self.moments
        self._run.check_time()
        reduced = moments.reduced()
        plain = self.problem.solve(reduced, Strengths(0.0, 0.0))
        bound, strengths, details = self._loss(plain), Strengths(0.0, 0.0), {}
        if not self._determined(bound, ridge, sparsity):
            try:
                strengths = self.problem.choose(self._sums.folds, ridge, sparsity, self._run.clock)
            except KeyboardInterrupt:
                self._run.clock.interrupt()
        answer = plain
        if max(strengths) > 0.0:
            try:
                answer = self.problem.solve(reduced, strengths)
            except OutOfTime:
                strengths = Strengths(0.0, 0.0)
        if robust:
            strengths, answer, anomalous = self._reweighted(ridge, sparsity, strengths, answer)
            details["samples that count less than half"] = float(anomalous)
        theta = self.passes.of.theta(answer.a, answer.b)
        loss = self._loss(answer) if answer is not plain else bound
        details |= {"KKT residual": answer.residual, **strengths._asdict(), **self.used(answer.a)}
        return Fitted(theta, loss, min(bound, loss), strengths, answer.rounds, details)

    def held_out(self, strength: float | str) -> float:
        """Return the loss of folds that were held out; "auto" takes the strengths best for all."""
        folds, clock = self._sums.folds, self._run.clock
        return self.problem.held_out(folds, self.problem.choose(folds, strength, strength, clock))

    def _determined(self, loss: float, ridge: float | str, sparsity: float | str) -> bool:
        """Say whether nothing is to be held small."""
        observed = self.moments.observed
        size = self.moments.ra.size + self.moments.rb.size
        small = loss <= SUM_ROUNDING * self.moments.xx and observed >= 2 * size
        return (small or observed >= PLENTY * size) and ridge == "auto" and sparsity == "auto"

    def used(self, a: Array) -> dict[str, float]:
        """Count the terms with a scale, and the scales that predictions clip."""
        passes = self.passes
        if not passes.minimizers.count:
            return {}
        psi = passes.of.split.psi
        sizes = np.sqrt(np.maximum(np.einsum("tm,ml,tl->t", a, self.moments.gram[psi, psi], a), 0))
        visible = sizes > VISIBLE_TOL * np.sqrt(self.moments.xx)
        if passes.of.shared:
            visible = np.repeat(visible, passes.minimizers.count)
        return {
            "terms": float(len(visible)),
            "terms with a scale": float(visible.sum()),
            "scales clipped at 0 on training rows": float(
                0 if self._lookout is None else self._lookout.clipped
            ),
        }

    def _loss(self, answer: Answer) -> float:
        """Return the loss: from the moments, unless it is so small that they hold only rounding."""
        value = self.moments.value(answer.a, answer.b)
        if value > ACCEPT_TOL * self.moments.xx:
            return value
        return self.passes.squared_errors(answer.a, answer.b)

    def _reweighted(
        self, ridge: float | str, sparsity: float | str, strengths: Strengths, answer: Answer
    ) -> tuple[Strengths, Answer, int]:
        """Fit again with less weight on samples of unusual error, until the weights stay."""
        # The strengths are chosen once more when they did: anomalies ask for stronger ones.
        weigh, halved = self._weights(answer)
        with contextlib.suppress(OutOfTime):
            for again in (False, True):
                folds, chosen = self.passes.sums(self._folds, weigh).folds, strengths
                if again:
                    chosen = self.problem.choose(folds, ridge, sparsity, self._run.clock)
                for _ in range(MAX_REWEIGHTED):
                    last = answer
                    answer = self.problem.solve(Moments.total(folds).reduced(), chosen)
                    strengths = chosen
                    weigh, halved = self._weights(answer)
                    if _close(last, answer):
                        break
                    folds = self.passes.sums(self._folds, weigh).folds
        return strengths, answer, halved

    def _weights(self, answer: Answer) -> tuple[Reweigh, int]:
        """Return how samples are weighed by the errors of an answer, and how many by half."""
        (a, b), of = answer[:2], self.passes.of

        def lengths(piece: Piece) -> Array:
            return np.asarray(np.linalg.norm(piece.rows.errors(a, b), axis=1))

        def each(block: Block) -> Array:
            return np.concatenate([lengths(piece) for piece in of.pieces(block)])

        errors = np.concatenate(list(self.passes.each(each)))
        usual = USUAL * float(np.median(errors))

        def weigh(piece: Piece) -> Array:
            errors = lengths(piece)
            return usual / np.maximum(errors, usual) if usual > 0.0 else np.ones(len(errors))

        return weigh, int((errors > 2.0 * usual).sum())


def choose_scale(objective: Objective) -> Hypothesis:
    """Return ``Minkowski("auto")`` with the scales of least cross-validated loss; others as given.

    Of about equal ones the first is taken: constant scales, then affine ones, then an index.
    """
    n, k = objective.n_decisions, objective.n_features
    model = objective.hypothesis.as_minkowski(n)
    if model is not objective.hypothesis or (model.terms, model.scale) != ("auto", "auto"):
        return objective.hypothesis
    block = objective.samples.spread(CHOOSING_ROWS)
    if k == 1 or len(block.weights) < LEAST_CHOOSING:
        return replace(model, scale="affine")
    some = Samples.of(block._replace(weights=block.weights / block.weights.sum()))
    sizes, terms = {"affine": k, "index": int(model.n_knots)}, len(model.terms_of(n))
    # The smaller one is tried in any case.
    most = max(MOST_COEFFICIENTS // terms, min(sizes.values()))
    kinds = {"constant": 1} | {kind: size for kind, size in sizes.items() if size <= most}
    observed = n * (objective.samples.n_rows or 0)
    plenty = observed >= PLENTY * (terms * max(kinds.values()) + k * n)
    strength, folds = (0.0, 2) if plenty else ("auto", CHOOSING_FOLDS)
    best, least = "constant", np.inf
    for kind in kinds:
        tried = replace(model, scale=kind)
        fit = MinkowskiFit(tried, some, folds, np.random.default_rng(0), run=objective.run)
        loss = fit.held_out(strength)
        if loss < (1.0 - BETTER) * least - SUM_ROUNDING * fit.moments.xx:
            best, least = kind, loss
    return replace(model, scale=best)


def _check_size(passes: Passes, n_folds: int) -> None:
    """Refuse terms whose moments would not fit into memory."""
    terms, (groups, functions) = passes.minimizers.count, passes.shape
    check_memory(
        (n_folds + 4.0) * (groups * functions) ** 2,
        f"the moments of {terms} terms with {functions} coefficients each, in {n_folds} folds,",
        "use fewer terms or features, Minkowski(..., scale='constant'), or strengths that are "
        "given: Convex(ridge=..., sparsity=...)",
    )


def _close(one: Answer, other: Answer) -> bool:
    """Say whether two answers are the same but for a small share of their size."""
    pairs = ((one.a, other.a), (one.b, other.b))
    moved = max(float(np.abs(x - y).max(initial=0.0)) for x, y in pairs)
    return moved <= CONVERGED_TOL * max(float(np.abs(y).max(initial=0.0)) for _, y in pairs)
