"""The mean squared error of a Minkowski sum."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block, Samples
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.runs import OutOfTime, Run
from feaslearn.tolerances import ACCEPT_TOL, CONVERGED_TOL, SUM_ROUNDING, VISIBLE_TOL
from feaslearn.trainers.minkowski_fit.block_moments import Piece, moments_by_decision
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows
from feaslearn.trainers.minkowski_fit.passes import Folds, Passes, Reweigh, Sums
from feaslearn.trainers.minkowski_fit.penalized import (
    SOME_RIDGES,
    Answer,
    Penalized,
    Penalties,
    Tried,
)
from feaslearn.trainers.minkowski_fit.scale_cone import NegativeScales, ScaleCone
from feaslearn.trainers.objective import Objective

#: Observed values for each parameter from which on penalties are not tried.
PLENTY = 10_000
#: Samples up to which penalties are chosen by leaving out one at a time.
FEW_ROWS = 400
#: Rows by which "auto" chooses, and coefficients up to which it tries all kinds of scales, and
#: windows of decisions.
CHOOSING_ROWS, MOST_COEFFICIENTS, MOST_WINDOWS = 1000, 350, 1200
#: Fewest rows by which scales are chosen, and how much better than simpler ones they must be.
LEAST_CHOOSING, BETTER = 10, 0.01
#: Errors beyond this many times the usual one count linearly (Huber), and how often they are
#: measured again.
USUAL, MAX_REWEIGHTED = 1.345, 50
#: A sample that is left out is anomalous if its error is this many times the usual one.
UNUSUAL = 3.0


#: The detail that says that samples were reweighted.
ANOMALOUS = "samples that count less than half"


class Fitted(NamedTuple):
    """Parameters, their loss, the least loss of the class where it is known, and how."""

    theta: Array
    loss: float
    bound: float | None
    penalties: Penalties
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
        one_by_one: bool = True,
    ) -> None:
        self._run = run or Run()
        self.passes = Passes(hypothesis, samples, n_jobs, self._run)
        if n_folds > 1 and samples.n_rows is None:
            samples.summary(self._run.check_time)
        count = samples.n_rows or 0
        #: Whether samples are left out one at a time to see anomalies.
        self.few = one_by_one and n_folds > 1 and 1 < count <= FEW_ROWS
        self.few &= self.passes.basis.nonnegative
        # Penalties are chosen so only where folds leave fewer rows than decisions: a term that
        # noise made positive stays so for the sample that is left out, which favours weak ones.
        self.scarce = self.few and count <= self.passes.n + self.passes.k
        n_folds = 1 if self.scarce else n_folds
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
        cone = ScaleCone(of.shape, self._separation, self._run)
        return Penalized(cone, self.moments, of.basis, of.split)

    @cached_property
    def _separation(self) -> NegativeScales | None:
        nonnegative = self.passes.basis.nonnegative or not self.passes.shape[0]
        return None if nonnegative else NegativeScales(self.passes, self._sums)

    @property
    def n_tied(self) -> int:
        """Number of samples for which a term has several minimisers."""
        return int(self.moments.tied)

    def solve(
        self,
        ridge: float | str,
        sparsity: float | str,
        robust: bool | str = False,
    ) -> Fitted:
        """Return the optimum, for penalties given or chosen ("auto").

        With ``robust="auto"`` samples of unusual error count less where that predicts few samples
        better that are left out.
        """
        reduced = self.moments.reduced()
        answer = plain = self.problem.solve(reduced, Penalties(0.0, 0.0))
        bound, penalties, details = self._loss(plain), Penalties(0.0, 0.0), {}
        try:
            if not self._determined(bound, ridge, sparsity):
                chosen = self._choose(self._sums.folds, ridge, sparsity)
                if max(chosen) > 0.0:
                    answer, penalties = self.problem.solve(reduced, chosen), chosen
            if robust is True or (robust and self._has_anomalies(answer, penalties)):
                found = self._reweighted(ridge, sparsity, penalties, answer)
                if robust is True or self._predicts_better(found, penalties, answer):
                    penalties, answer, anomalous, _ = found
                    details[ANOMALOUS] = float(anomalous)
        except OutOfTime:
            pass  # the best so far
        except KeyboardInterrupt:
            self._run.interrupt()
        theta = self.passes.of.theta(answer.a, answer.b)
        loss = self._loss(answer) if answer is not plain else bound
        details |= {"KKT residual": answer.residual, **penalties._asdict(), **self.used(answer.a)}
        return Fitted(theta, loss, min(bound, loss), penalties, answer.rounds, details)

    def held_out(self, penalty: float | str) -> float:
        """Return the loss of samples that were held out; "auto" takes the best of few ridges."""
        folds, rows = self._sums.folds, self._rows() if self.scarce else None
        ridges = SOME_RIDGES if penalty == "auto" else penalty
        penalties = self._choose(folds, ridges, 0.0)
        if rows is None:
            return self.problem.held_out(folds, penalties)
        return float(self.problem.one_by_one(self.moments, rows, [penalties])[0])

    def _choose(
        self,
        folds: list[Moments],
        ridge: Tried,
        sparsity: Tried,
        weigh: Reweigh | None = None,
    ) -> Penalties:
        rows = self._rows(weigh) if self.scarce else None
        return self.problem.choose(folds, ridge, sparsity, rows)

    def _rows(self, weigh: Reweigh | None = None) -> Rows | None:
        """Return all samples where they are left out one at a time, reweighed."""
        if not self.few:
            return None
        rows = self._whole.rows
        return rows if weigh is None else rows._replace(weights=rows.weights * weigh(self._whole))

    @cached_property
    def _whole(self) -> Piece:
        """All samples with their minimisers, where they are few."""
        # In the units of all samples, which are known once the moments are.
        pieces = list(self.passes.of.pieces(self.passes.samples.load()) if self._sums else ())
        parts = zip(*(piece.rows for piece in pieces), strict=True)
        rows = Rows(*(np.concatenate(each) for each in parts))
        rows = rows._replace(weights=self.passes.share * rows.weights)
        return Piece(slice(None), rows, np.concatenate([piece.tied for piece in pieces]))

    def _reweighted_folds(self, weigh: Reweigh, apart: bool) -> list[Moments]:
        """Return the moments with other weights, of each fold or (few samples) of all at once."""
        rows = self._rows(weigh) if self.scarce or not apart else None
        if rows is not None:
            return [moments_by_decision(rows, self.passes.of.split)]
        return self.passes.sums(self._folds, weigh).folds

    def _has_anomalies(self, answer: Answer, penalties: Penalties) -> bool:
        """Say whether some of few samples are far worse predicted than usual when left out."""
        rows = self._rows()
        if rows is None:
            return False
        errors = self.problem.left_out(self.moments, rows, answer, penalties)
        lengths = np.linalg.norm(errors, axis=1)
        return bool(lengths.max() > UNUSUAL * np.median(lengths) + SUM_ROUNDING * self.moments.xx)

    def _predicts_better(
        self, found: tuple[Penalties, Answer, int, Reweigh], penalties: Penalties, answer: Answer
    ) -> bool:
        """Say whether a reweighted fit predicts samples that are left out better.

        Large errors count linearly: those of anomalies should not decide.
        """
        rows, weighted = cast(Rows, self._rows()), cast(Rows, self._rows(found[3]))
        moments = self.moments
        plain, other = (
            np.linalg.norm(self.problem.left_out(moments, each, fit, penalty), axis=1)
            for each, fit, penalty in (
                (rows, answer, penalties),
                (weighted, found[1], found[0]),
            )
        )
        usual = USUAL * float(np.median(plain))

        def total(errors: Array) -> float:
            linear = usual * (2.0 * errors - usual)
            return float(rows.weights @ np.where(errors <= usual, errors**2, linear))

        return total(other) < (1.0 - BETTER) * total(plain)

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
        return {
            "terms": float(len(visible)),
            "terms with a scale": float(visible.sum()),
            "scales clipped at 0 on training rows": float(
                0 if self._separation is None else self._separation.clipped
            ),
        }

    def _loss(self, answer: Answer) -> float:
        """Return the loss: from the moments, unless it is so small that they hold only rounding."""
        value = self.moments.value(answer.a, answer.b)
        if value > ACCEPT_TOL * self.moments.xx:
            return value
        return self.passes.squared_errors(answer.a, answer.b)

    def _reweighted(
        self, ridge: float | str, sparsity: float | str, penalties: Penalties, answer: Answer
    ) -> tuple[Penalties, Answer, int, Reweigh]:
        """Fit again with less weight on samples of unusual error, until the weights stay."""
        # The penalties are chosen once more when they did: anomalies ask for stronger ones.
        weigh, halved = self._weights(answer)
        for again in (False, True):
            folds = self._reweighted_folds(weigh, again)
            if again:
                penalties = self._choose(folds, ridge, sparsity, weigh)
            for _ in range(MAX_REWEIGHTED):
                last = answer
                answer = self.problem.solve(Moments.total(folds).reduced(), penalties)
                weigh, halved = self._weights(answer)
                if _close(last, answer):
                    break
                folds = self._reweighted_folds(weigh, apart=False)
        return penalties, answer, halved, weigh

    def _weights(self, answer: Answer) -> tuple[Reweigh, int]:
        """Return how samples are weighed by the errors of an answer, and how many by half."""
        (a, b), of = answer[:2], self.passes.of

        def lengths(piece: Piece) -> Array:
            return np.asarray(np.linalg.norm(piece.rows.errors(a, b), axis=1))

        def each(block: Block) -> Array:
            return np.concatenate([lengths(piece) for piece in of.pieces(block)])

        errors = lengths(self._whole) if self.few else np.concatenate(list(self.passes.each(each)))
        usual = USUAL * float(np.median(errors))

        def weigh(piece: Piece) -> Array:
            errors = lengths(piece)
            return usual / np.maximum(errors, usual) if usual > 0.0 else np.ones(len(errors))

        return weigh, int((errors > 2.0 * usual).sum())


def choose_scale(objective: Objective) -> Hypothesis:
    """Return ``Minkowski("auto")`` with what has the least cross-validated loss; others as given.

    Of about equal scales the first are taken: constant, then affine ones, then an index. Moving
    averages and windows of decisions are added where they are better.
    """
    n, k = objective.n_decisions, objective.n_features
    model = objective.hypothesis.as_minkowski(n)
    if model is not objective.hypothesis or model.terms != "auto":
        return objective.hypothesis
    if objective.samples.n_rows is None:
        objective.samples.summary(objective.run.check_time)
    block = objective.samples.spread(CHOOSING_ROWS)
    if len(block.weights) < LEAST_CHOOSING:
        return replace(model, scale="affine") if model.scale == "auto" else model
    some = Samples.of(block._replace(weights=block.weights / block.weights.sum()))
    observed, rounding = n * (objective.samples.n_rows or 0), SUM_ROUNDING * _size(block)

    def best_of(tried: list[Minkowski], one_by_one: bool) -> Minkowski:
        best, least = tried[0], np.inf
        coefficients = max(each.layout(n, k).size for each in tried)
        penalty, folds = (0.0, 2) if observed >= PLENTY * coefficients else ("auto", 5)
        for each in tried if len(tried) > 1 else ():
            random = np.random.default_rng(0)
            fit = MinkowskiFit(each, some, folds, random, 1, objective.run, one_by_one)
            loss = fit.held_out(penalty)
            if loss < (1.0 - BETTER) * least - rounding:
                best, least = each, loss
        return best

    sizes, terms = {"affine": k, "index": int(model.n_knots)}, len(model.terms_of(n))
    # The smaller one is tried in any case.
    most = max(MOST_COEFFICIENTS // terms, min(sizes.values()))
    kinds = ["constant", *(kind for kind, size in sizes.items() if size <= most)]
    kinds = kinds if k > 1 else ["affine"]
    scales = [replace(model, scale=kind) for kind in kinds] if model.scale == "auto" else [model]
    best = best_of(scales, one_by_one=False)
    wider = replace(best, terms="windows")
    size = wider.basis(k).size
    most = MOST_WINDOWS if size == 1 else MOST_COEFFICIENTS
    serves = n > 1 and len(wider.terms_of(n)) * size <= most
    return best_of([best, wider] if serves else [best], one_by_one=True)


def _size(block: Block) -> float:
    """Return the weighted mean of squared decisions."""
    squares = np.nan_to_num(block.decisions**2).sum(axis=1)
    return float(block.weights @ squares / block.weights.sum())


def _close(one: Answer, other: Answer) -> bool:
    """Say whether two answers are the same but for a small share of their size."""
    pairs = ((one.a, other.a), (one.b, other.b))
    moved = max(float(np.abs(x - y).max(initial=0.0)) for x, y in pairs)
    return moved <= CONVERGED_TOL * max(float(np.abs(y).max(initial=0.0)) for _, y in pairs)
