r"""Selection of a hypothesis by held-out rows.

Candidates predict the same held-out rows, and are compared by paired errors: with the errors
:math:`e_i` of one candidate and :math:`b_i` of the best,

.. math:: d_i = e_i - b_i, \qquad \bar d = \sum_i w_i d_i, \qquad
    \mathrm{SE}^2 = \sum_i w_i^2 (d_i - \bar d)^2

a candidate with :math:`\bar d \le \max(\mathrm{SE}, 0.01 \bar b)` is about as good as the best. Of
those the most readable is taken. The number of folds depends on the size of the data, never on the
clock, so that a selection can be repeated.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.data import Samples
from feaslearn.exceptions import UnsupportedError
from feaslearn.hypotheses import Affine, Facets, Minkowski
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.results import OUT_OF_TIME
from feaslearn.runs import OutOfTime
from feaslearn.sets import L2Ball, Simplex
from feaslearn.tolerances import NOTHING_LEFT, ROUNDING, TINY
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facets import FacetLearning
from feaslearn.trainers.minkowski_fit import choose_scale
from feaslearn.trainers.objective import Objective, squared_lengths
from feaslearn.trainers.out_of_fold import folds_of, numbers_of
from feaslearn.trainers.trainer import Trained, Trainer, measured, train_once

logger = logging.getLogger("feaslearn")

#: Folds, and folds of fewer than so many rows, which leave more rows to learn from.
FOLDS, FEW_ROWS, FOLDS_OF_FEW = 5, 100, 10
#: Rows beyond decisions and features that a fold leaves, so that equalities can be found.
SPARE_ROWS = 2
#: Folds that are held out at most, and where the first candidate was hard to train.
MOST_FOLDS, FOLDS_OF_HARD = 10, 2
#: Facets of a region that is learned quickly.
EASY_FACETS = 3
#: Fewest held-out rows that a candidate is dropped by, and that the first one is taken by alone, if
#: there are so many.
LEAST_HELD_OUT, SURE_HELD_OUT = 10, 20
#: Fewest different rows that a hypothesis is selected by.
LEAST_ROWS = 10
#: Numbers (rows times features and decisions) that folds have together; at least one is held out.
NUMBERS = 15_000
#: Share of the variance of held-out rows below which the first candidate needs no other.
LITTLE_LEFT = 0.005
#: Candidates that are this much worse than the best are about as good as it.
MARGIN = 0.01
#: Standard errors by which a candidate that explains all rows must lose.
EXACT_ERRORS = 2.0
#: After a fold, candidates are dropped that lose so many times as much, by two standard errors.
HOPELESS = 2.0
#: Decisions times features from which on Minkowski sums have constant scales, and no image of a
#: set is learned.
MANY_SCALES = 40
#: Curved sets and polytopes are tried where this share of the linear policy's loss is left.
UNEXPLAINED = 0.01
#: Fewest and most vertices of that polytope; between them, two for each decision.
VERTICES = (4, 12)
#: Usual regressors are fitted to so many rows at most.
GUARD_ROWS = 5000
#: Folds that they predict where rows are few; otherwise one.
GUARD_FOLDS = 3
#: Rows from which on gradient boosting, whose leaves have 20, is tried.
BOOSTED_ROWS = 80
#: Usual regressors, and what they are called.
REGRESSORS = {
    "ridge regression": "a ridge regression",
    "extra trees": "a tree ensemble",
    "gradient boosting": "a tree ensemble",
}
#: What trains on folds: images of a set with a ridge that suits most data, and sums without a
#: second fit for anomalous rows.
QUICK: Mapping[type[Trainer], Trainer] = {
    Annealing: Annealing(n_starts=2, ridge=0.02, ridge_floor=1e-3),
    Convex: Convex(robust=False),
}


def linear_policy() -> Hypothesis:
    """Return the class of regions that are a single point b(s)."""
    return Affine(Simplex(1))


def candidates(n: int, k: int) -> list[Hypothesis]:
    """Return what is compared on n decisions and k features, the most readable first."""
    return [Facets(), minkowski(n, k), linear_policy()]


def curved(n: int, k: int) -> list[Hypothesis]:
    """Return what is compared as well where these leave much unexplained."""
    if n * k > MANY_SCALES:
        return []
    return [Affine(L2Ball(n)), Affine(Simplex(int(np.clip(2 * n, *VERTICES))))]


def minkowski(n: int, k: int) -> Minkowski:
    """Return the sums that are compared: where to choose scales would take long, constant ones."""
    return Minkowski("auto", scale="auto" if n * k <= MANY_SCALES else "constant")


class Selection(NamedTuple):
    """A hypothesis, and what was learned on the way to it.

    ``trained`` are its parameters for all rows, where they are known already; ``incumbent`` is what
    can be returned where there is no time to train it; ``details`` are held-out R² by name.
    """

    hypothesis: Hypothesis
    trained: Trained | None = None
    incumbent: tuple[Hypothesis, Trained] | None = None
    details: Mapping[str, float] = MappingProxyType({})
    warnings: Sequence[str] = ()


def select(
    objective: Objective, random: np.random.Generator, trainer: Trainer | str = "auto"
) -> Selection:
    """Select a hypothesis by held-out rows, of those that the trainer serves.

    The first candidate is trained on all rows, and is what is returned at a deadline. The
    hypothesis of ``objective`` itself does not count.
    """
    n, k = objective.n_decisions, objective.learned().n_features

    def mismatches(tried: Objective) -> list[str]:
        return choose_trainer(trainer, tried).mismatches(tried.learned())

    served, others = (
        [each for each in tried if not mismatches(objective.of(each))]
        for tried in (candidates(n, k), curved(n, k))
    )
    if objective.n_samples < LEAST_ROWS or len(served) < 2:
        return Selection((served or [linear_policy()])[-1])
    return Race(objective, random, trainer, served, others).run()


def choose_trainer(trainer: Trainer | str, objective: Objective) -> Trainer:
    """Return the trainer itself, or for "auto" the first that serves the objective."""
    if isinstance(trainer, Trainer):
        return trainer
    learned = objective.learned()
    refusals = []
    for each in (Convex(), FacetLearning(), Annealing()):
        mismatches = each.mismatches(learned)
        if not mismatches:
            return each
        refusals.append(f"{type(each).__name__}: {'; '.join(mismatches)}")
    raise UnsupportedError(
        f"no trainer serves {learned.hypothesis!r}\n    " + "\n    ".join(refusals)
    )


def ended_early(selection: Selection, objective: Objective, trainer: Trainer | str) -> Trained:
    """Return the incumbent of a selection that came to the deadline, measured on all samples."""
    if selection.incumbent is None:
        raise OutOfTime
    hypothesis, trained = selection.incumbent
    if not objective.samples.in_memory:
        objective = objective.normalized().of(hypothesis)
        chosen = choose_trainer(trainer, objective)
        trained = measured(chosen, objective, trained.theta, objective.run.ended())
    trained.result.status = objective.run.ended()
    trained.result.warnings.append(
        f"the selection of a hypothesis came to the deadline: this is {hypothesis!r}, which was "
        "trained first"
    )
    return trained


@dataclass(eq=False)
class Candidate:
    """A hypothesis with its decisions (N, n) for held-out rows, and their errors (N,).

    ``trained`` are its parameters for all rows, where they are known.
    """

    objective: Objective
    decisions: Array
    errors: Array
    trained: Trained | None = None

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis without known constraints."""
        return without_known(self.objective.hypothesis)

    @property
    def name(self) -> str:
        """What details call it."""
        return f"held-out R² of {self.hypothesis!r}"

    @property
    def is_policy(self) -> bool:
        """Whether it is the linear policy."""
        return repr(self.hypothesis) == repr(linear_policy())

    @property
    def has_enough(self) -> bool:
        """Whether there are enough held-out rows to decide by."""
        return int(np.isfinite(self.errors).sum()) >= LEAST_HELD_OUT


class Race:
    """Candidates that predict the same folds, until one is left or all folds are predicted.

    ``served`` are the most readable first and the linear policy last; ``others`` are for rows that
    those leave unexplained.
    """

    def __init__(
        self,
        objective: Objective,
        random: np.random.Generator,
        trainer: Trainer | str,
        served: Sequence[Hypothesis],
        others: Sequence[Hypothesis] = (),
    ) -> None:
        self.objective, self.random, self.trainer = objective, random, trainer
        self.whole = objective.load()
        #: What a fit without selection would draw from.
        self.start = deepcopy(random)
        #: The fold of each row, and how many of the folds are held out.
        self.fold, self.n_folds = np.zeros(len(self.whole.weights), dtype=np.intp), 0
        # Losses below this are rounding.
        size = np.nan_to_num(self.whole.decisions**2).sum(axis=1)
        self.rounding = ROUNDING * float(self.whole.weights @ size)
        self.alive = [self._candidate(each) for each in served]
        self.all, self.others = list(self.alive), others
        #: Whether the first candidate explains all rows, which no linear policy does.
        self.explained = False

    def _candidate(self, hypothesis: Hypothesis) -> Candidate:
        """Return a hypothesis that has predicted nothing so far."""
        nothing = np.full(self.whole.decisions.shape, np.nan)
        return Candidate(self.objective.of(hypothesis), nothing, nothing[:, 0].copy())

    def run(self) -> Selection:
        """Train the first candidate on all rows, compare, and select."""
        first, run = self.alive[0], self.objective.run
        trained = self._train(first)
        incumbent = (first.hypothesis, trained)
        share = trained.result.details.get("unexplained share", 1.0)
        self.explained = trained.result.data in ("exact", "rounded") and share == 0.0
        if not self.deal(share > 0.0 or trained.result.n_iter > EASY_FACETS):
            return Selection(self.all[-1].hypothesis)
        chosen = first
        try:
            if trained.result.status not in OUT_OF_TIME:
                self._predict_folds()
                chosen = self._chosen()
        except KeyboardInterrupt:
            run.interrupt()
        except OutOfTime:
            pass
        details = {
            each.name: self.r2(each.decisions)
            for each in self.all
            if np.isfinite(each.errors).any()
        }
        if run.late() or trained.result.status in OUT_OF_TIME:
            return Selection(first.hypothesis, None, incumbent, details)
        warnings = []
        with contextlib.suppress(OutOfTime):
            warnings += self._guard(chosen, details)
        return Selection(chosen.hypothesis, chosen.trained, incumbent, details, warnings)

    def deal(self, hard: bool) -> bool:
        """Deal rows to folds; return whether there are as many different rows as folds.

        Where rows are few for the number of decisions, folds are small enough to leave more rows
        than decisions and features. Data that are hard to learn have fewer folds.
        """
        (count, n), k = self.whole.decisions.shape, self.whole.features.shape[1]
        folds = FOLDS if hard or count >= FEW_ROWS else FOLDS_OF_FEW
        spare = count - (n + k + SPARE_ROWS)
        if spare > 0:
            folds = max(folds, -(-count // spare))
        self.fold = folds_of([self.whole], folds, self.random)
        most = FOLDS_OF_HARD if hard else min(MOST_FOLDS, folds)
        self.n_folds = int(np.clip(NUMBERS // (count * (n + k)), 1, most))
        return len(np.unique(self.fold)) == folds

    def _train(self, candidate: Candidate) -> Trained:
        """Train a candidate on all rows, unless it is trained already."""
        if candidate.trained is None:
            objective = candidate.objective
            trainer = choose_trainer(self.trainer, objective)
            candidate.trained = train_once(trainer, objective, self.start, spawn=False)
        return candidate.trained

    def _predict(self, these: Sequence[Candidate], fold: int) -> None:
        """Let candidates predict a fold after training on all others."""
        for candidate in these:
            note = f"{candidate.hypothesis!r}, fold {fold + 1} of {self.n_folds}"
            self._predict_fold(candidate, fold)
            logger.info("%s: held-out loss %.6g", note, self.mean(candidate.errors))

    def _predict_fold(self, candidate: Candidate, fold: int) -> None:
        self.objective.run.check_time()
        candidate.objective = self.objective.of(choose_scale(candidate.objective.learned()))
        outside = self.fold == fold
        inner = replace(
            candidate.objective, samples=Samples.of(self.whole.rows(~outside)), drawn=True
        )
        trainer = choose_trainer(self.trainer, inner)
        if self.trainer == "auto":
            trainer = QUICK.get(type(trainer), trainer)
        trained = train_once(trainer, inner, self.random)
        if trained.result.status in OUT_OF_TIME:
            raise OutOfTime
        self.objective.run.check_time()
        outer = self.whole.rows(outside)
        decisions = inner.hypothesis.predict(trained.theta, outer.features, outer.costs)
        candidate.decisions[outside] = decisions
        candidate.errors[outside] = self.errors(decisions, outside)

    def errors(self, decisions: Array, rows: Mask) -> Array:
        """Return the squared error of each decision."""
        return squared_lengths(decisions - self.whole.decisions[rows])

    def _all_errors(self, decisions: Array, rows: Mask) -> Array:
        """Return the errors of all rows, NaN where no decision is asked for."""
        found = np.full(len(rows), np.nan)
        found[rows] = self.errors(decisions[rows], rows)
        return found

    def mean(self, errors: Array) -> float:
        """Return the mean error over the rows that were predicted."""
        return self.compare(errors, np.zeros(len(errors)))[0]

    def compare(self, errors: Array, others: Array) -> tuple[float, float]:
        """Return the mean difference of the errors of the same rows, and its standard error."""
        there = np.isfinite(errors - others)
        values = (errors - others)[there]
        weights = self.whole.weights[there] / max(float(self.whole.weights[there].sum()), TINY)
        mean = float(weights @ values)
        return mean, float(np.linalg.norm(weights * (values - mean)))

    def r2(self, decisions: Array) -> float:
        """Return the share of the variance that decisions explain, over predicted rows."""
        there = np.isfinite(decisions).all(axis=1)
        observed, weights = self.whole.decisions[there], self.whole.weights[there]
        seen = ~np.isnan(observed)
        shares = np.where(seen, weights[:, None], 0.0)
        filled = np.where(seen, observed, 0.0)
        center = (shares * filled).sum(axis=0) / np.maximum(shares.sum(axis=0), TINY)
        total = float((shares * (filled - center) ** 2).sum())
        left = float((shares * (filled - decisions[there]) ** 2).sum())
        return 1.0 - left / max(total, TINY)

    def _predict_folds(self) -> None:
        """Let candidates predict folds; drop those that are clearly worse after each."""
        first, done, left = self.alive[0], 0, 0.0
        while done < self.n_folds and left <= LITTLE_LEFT:
            if np.isfinite(first.errors).sum() >= SURE_HELD_OUT:
                break
            self._predict([first], done)
            done, left = done + 1, 1.0 - self.r2(first.decisions)
        if left <= (LITTLE_LEFT if first.has_enough else NOTHING_LEFT):
            self.alive = [first]
            return
        for fold in range(self.n_folds):
            self._predict([each for each in self.alive if each is not first or fold >= done], fold)
            if not fold and self._unexplained() > UNEXPLAINED:
                new = [self._candidate(each) for each in self.others]
                self._predict(new, fold)
                for these in (self.alive, self.all):
                    these.extend(new)
                    these.sort(key=lambda each: each.is_policy)
            self._drop()
            if len(self.alive) == 1:
                return

    def _unexplained(self) -> float:
        """Return the least loss as a share of that of the linear policy."""
        losses = [self.mean(each.errors) for each in self.alive]
        if not self.alive[-1].is_policy:
            return 1.0
        return min(losses) / max(losses[-1], self.rounding, TINY)

    def _drop(self) -> None:
        """Drop candidates that have no chance, and a linear policy of rows explained exactly."""
        best = self._best()
        least = HOPELESS * self.mean(best.errors) + self.rounding

        def hopeless(each: Candidate) -> bool:
            if not best.has_enough:
                return False
            worse, error = self.compare(each.errors, best.errors)
            return worse > 2.0 * error and self.mean(each.errors) > least

        self.alive = [
            each
            for each in self.alive
            if not (hopeless(each) or (each.is_policy and self.explained))
        ]

    def _best(self) -> Candidate:
        return min(self.alive, key=lambda each: self.mean(each.errors))

    def _chosen(self) -> Candidate:
        """Return the most readable of those that are about as good as the best.

        The linear policy is the last, unless it is as good as the best and no region is better by
        a standard error. A first candidate that explains all rows exactly must lose by two.
        """
        best = self._best()
        margin = MARGIN * self.mean(best.errors)
        worse = {id(each): self.compare(each.errors, best.errors) for each in self.alive}
        for each in self.alive:
            behind, error = worse[id(each)]
            if each.is_policy and behind <= min(error, margin) + self.rounding:
                return each
        for each in self.alive:
            behind, error = worse[id(each)]
            errors = EXACT_ERRORS if self.explained and each is self.all[0] else 1.0
            if behind <= max(errors * error, margin) + self.rounding:
                return each
        return best

    # Whether usual regressors, which know nothing of costs and regions, predict better.

    def _guard(self, chosen: Candidate, details: dict[str, float]) -> list[str]:
        """Return a warning if a usual regressor is better by a standard error; add to details."""
        if 1.0 - self.r2(chosen.decisions) <= LITTLE_LEFT:
            return []
        count = min(1 if len(self.fold) >= FEW_ROWS else GUARD_FOLDS, self.n_folds)
        rows = self.fold < count
        ours = self.mean(np.where(rows, chosen.errors, np.nan))
        best, most = "", 0.0
        for name, predicted in self._usual_predictions(count, ours):
            details[f"held-out R² of {name}"] = self.r2(predicted)
            behind, error = self.compare(chosen.errors, self._all_errors(predicted, rows))
            if behind > max(error, MARGIN * ours, most):
                best, most = name, behind
        if not best:
            return []
        r2 = self.r2(np.where(rows[:, None], chosen.decisions, np.nan))
        return [
            f"{REGRESSORS[best]} predicts better: decisions may not minimise this cost (held-out "
            f"R² {details[f'held-out R² of {best}']:.3f} against {r2:.3f})"
        ]

    def _usual_predictions(self, count: int, enough: float) -> Iterator[tuple[str, Array]]:
        """Yield what scikit-learn's defaults predict for folds, on one thread.

        Boosting has a model for each decision: it is left out as soon as its error in some
        decisions, those that trees predict worst first, is larger than ``enough``.
        """
        from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
        from sklearn.linear_model import Ridge

        whole, rows = self.whole, self.fold < count
        predicted = np.zeros((0, 0))
        models = {"ridge regression": Ridge(), "extra trees": ExtraTreesRegressor(random_state=0)}
        for name, model in models.items():
            predicted = self._regressor_predictions(model, count, slice(None))
            if np.isfinite(predicted).any():
                yield name, predicted
        if (np.isfinite(whole.decisions).all(axis=1) & (self.fold > 0)).sum() < BOOSTED_ROWS:
            return
        missed = np.nan_to_num(whole.decisions - predicted)[rows]
        # What was not predicted yet counts as right.
        predicted = np.where(rows[:, None], np.nan_to_num(whole.decisions), np.nan)
        for j in np.argsort(-np.square(missed).sum(axis=0), kind="stable"):
            boosting = HistGradientBoostingRegressor(random_state=0)
            predicted[:, j] = self._regressor_predictions(boosting, count, j)[:, 0]
            if self.mean(self._all_errors(predicted, rows)) > enough:
                return
        yield "gradient boosting", predicted

    def _regressor_predictions(self, model: Any, count: int, columns: slice | np.intp) -> Array:
        """Return what a regressor predicts for the first folds after a fit to the other rows."""
        from threadpoolctl import threadpool_limits

        whole = self.whole
        signals = np.hstack([numbers_of(whole.features[:, 1:]), whole.costs])
        complete = ~np.isnan(whole.decisions).any(axis=1) & (whole.weights > 0.0)
        wanted = whole.decisions[:, columns]
        found = np.full((len(wanted), 1 if wanted.ndim == 1 else wanted.shape[1]), np.nan)
        for fold in range(count):
            outside = self.fold == fold
            inside = np.flatnonzero(complete & ~outside)[:GUARD_ROWS]
            if not len(inside):
                continue
            self.objective.run.check_time()
            weights = whole.weights[inside] / whole.weights[inside].mean()
            # Boosting takes far longer with weights, even with equal ones.
            weights = None if np.ptp(weights) <= ROUNDING else weights
            with threadpool_limits(1):
                model.fit(signals[inside], wanted[inside], sample_weight=weights)
                found[outside] = model.predict(signals[outside]).reshape(int(outside.sum()), -1)
        return found
