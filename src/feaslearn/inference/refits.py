"""A model fitted again to samples drawn with replacement."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block, Samples
from feaslearn.exceptions import DataError, FeaslearnError, FeaslearnWarning, Problems
from feaslearn.hypotheses import Minkowski
from feaslearn.inference.bootstrap import Bootstrap
from feaslearn.losses import Loss, Predictability
from feaslearn.parameters import Integer, check_value
from feaslearn.regressor.checks import FitData, check_fit
from feaslearn.regressor.parameters import N_JOBS
from feaslearn.regressor.reader import check_fitted, decision_names
from feaslearn.runs import one_blas_thread
from feaslearn.runs.memory import check_memory
from feaslearn.runs.progress import ProgressBar
from feaslearn.trainers import Convex
from feaslearn.trainers.minkowski_fit import ANOMALOUS, MinkowskiFit, Penalties

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor


#: With fewer refits there is no band to speak of.
LEAST = 10
#: Numbers that a refit holds beside its parameters, about.
OF_A_REFIT = 1000


def resample(
    model: RegionRegressor,
    n: int,
    X: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None,
    sample_weight: ArrayLike | None,
    random_state: Any,
    n_jobs: int | None,
) -> Bootstrap:
    """Fit the class of a model to ``n`` samples drawn with replacement.

    How often a row was drawn is its weight. What the fit chose (the hypothesis, the strengths of
    ridge and sparsity) is held.
    """
    check_fitted(model)
    problems = Problems()
    check_value("n", n, Integer(LEAST), problems)
    check_value("n_jobs", n_jobs, N_JOBS, problems)
    first = _first(random_state, problems)
    problems.raise_if_any(DataError, "bootstrap")
    blank = _held(model)
    data = check_fit(blank, X, y, costs, sample_weight)
    check_memory(
        float(n) * (len(model.theta_) + OF_A_REFIT),
        f"{n} refits of {len(model.theta_)} parameters",
        "ask for fewer (n=)",
    )
    seeds = np.random.SeedSequence(first).spawn(int(n))
    short = moment_refits(model, data)
    if short is None:
        count = len(np.asarray(y))
        given = np.ones(count) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        jobs = (delayed(_refit)(blank, X, y, costs, given, seed) for seed in seeds)
    else:
        jobs = (delayed(_reweighted)(short, data.samples.n_samples, seed) for seed in seeds)
    work = Parallel(effective_n_jobs(n_jobs), prefer="threads", return_as="generator")
    refits: list[RegionRegressor] = []
    failures: list[str] = []
    with one_blas_thread(), warnings.catch_warnings(), ProgressBar("bootstrap", int(n)) as bar:
        warnings.simplefilter("ignore", FeaslearnWarning)
        for done, refit in enumerate(work(jobs)):
            if isinstance(refit, str):
                failures.append(refit)
            else:
                refits.append(refit)
            bar.update(done + 1)
    return _counted(model, refits, failures)


def _first(random_state: Any, problems: Problems) -> int:
    """Return a seed for all refits, from any kind of seed that scikit-learn knows."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        problems.add(f"random_state={random_state!r} is not a seed ({error})")
    return 0


def _counted(
    model: RegionRegressor, refits: list[RegionRegressor], failures: list[str]
) -> Bootstrap:
    """Say how many refits failed; refuse bands from the few that may be left."""
    if len(refits) < LEAST:
        raise DataError(
            f"bootstrap: {len(failures)} of {len(failures) + len(refits)} refits failed; the "
            f"first said: {failures[0]}"
        )
    if failures:
        warnings.warn(
            f"{len(failures)} of {len(failures) + len(refits)} refits failed and do not count; "
            f"the first said: {failures[0]}",
            FeaslearnWarning,
            stacklevel=4,
        )
    return Bootstrap(model, refits, failures)


def _held(model: RegionRegressor) -> RegionRegressor:
    """Return an unfitted model of the class that was fitted, with the strengths it chose."""
    blank: RegionRegressor = clone(model)
    details, trainer = model.result_.details, model.trainer
    priced = model.cost is not None or model.hypothesis is not None
    if priced:
        blank.set_params(hypothesis=clone(model.hypothesis_))
    strengths = {name: details[name] for name in ("ridge", "sparsity") if name in details}
    if trainer == "auto" and strengths and _is_convex(model):
        trainer = Convex()
    if isinstance(trainer, Convex):
        robust = ANOMALOUS in details
        blank.set_params(trainer=clone(trainer).set_params(robust=robust, **strengths))
    blank.set_params(n_jobs=None, verbose=0)
    return blank


def _is_convex(model: RegionRegressor) -> bool:
    n = len(decision_names(model))
    return model.hypothesis_.as_minkowski(n) is not None


def _refit(
    blank: RegionRegressor,
    X: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike | None,
    weights: Array,
    seed: np.random.SeedSequence,
) -> RegionRegressor | str:
    """Return a model of samples drawn with replacement, or what went wrong."""
    random = np.random.default_rng(seed)
    counting = weights > 0.0
    drawn = random.multinomial(int(counting.sum()), counting / counting.sum())
    try:
        model: RegionRegressor = clone(blank).set_params(random_state=random)
        model.fit(X, y, costs, weights * drawn)
    except FeaslearnError as error:
        return _said(error)
    model.__dict__.pop("_samples", None)  # its weights differ, and no refit is fitted further
    return model


def _reweighted(
    short: MomentRefits, count: int, seed: np.random.SeedSequence
) -> RegionRegressor | str:
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1.0 / count))
    try:
        return short.fitted(drawn)
    except FeaslearnError as error:
        return _said(error)


def _said(error: FeaslearnError) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]


# Refits of a convex class through its moments: all that changes are the weights.


class MomentRefits:
    """Fits of a Minkowski sum with unique minimisers to rows with other weights."""

    def __init__(self, model: RegionRegressor, hypothesis: Minkowski, rows: Block) -> None:
        self._model, self._hypothesis, self._rows = model, hypothesis, rows
        details = model.result_.details
        self._strengths = Penalties(details.get("ridge", 0.0), details.get("sparsity", 0.0))

    def fitted(self, drawn: Indices) -> RegionRegressor:
        """Return the model of rows that were drawn so many times."""
        chosen = drawn > 0
        some = Block(*(table[chosen] for table in self._rows))
        weights = some.weights * drawn[chosen]
        some = some._replace(weights=weights / weights.sum())
        fit = MinkowskiFit(self._hypothesis, Samples.of(some), 1, np.random.default_rng(0))
        answer = fit.problem.solve(fit.moments.reduced(), self._strengths)
        model = copy(self._model)
        model.theta_ = fit.passes.of.theta(answer.a, answer.b)
        loss = max(0.0, fit.moments.value(answer.a, answer.b))
        model.result_ = replace(self._model.result_, objective=loss, returned_loss=loss)
        return model


def moment_refits(model: RegionRegressor, data: FitData) -> MomentRefits | None:
    """Return the short way to refits, or None where there is only the long one.

    It serves squared predictability, with minimisers that are unique on all rows and
    features that are not learned.
    """
    hypothesis = model.hypothesis_.as_minkowski(data.n_decisions)
    trainer = model.trainer
    plain = trainer == "auto" or isinstance(trainer, Convex)
    plain = plain and ANOMALOUS not in model.result_.details
    if (
        hypothesis is None
        or hypothesis.as_grown() is not None
        or not plain
        or not _is_squared(data.loss)
        or model.known is not None
        or data.features.transformer is not None
        or data.cost is None
    ):
        return None
    if MinkowskiFit(hypothesis, data.samples, 1, np.random.default_rng(0)).n_tied:
        return None
    return MomentRefits(model, hypothesis, data.samples.load())


def _is_squared(loss: Loss) -> bool:
    return isinstance(loss, Predictability) and loss.norm == "l2" and loss.squared
