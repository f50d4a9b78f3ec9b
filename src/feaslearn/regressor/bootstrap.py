"""Bootstrap bands: the dependence of a learned region on its samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
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
from feaslearn.inference.bands import Bands, bands_of
from feaslearn.losses import Predictability
from feaslearn.parameters import Integer, check_value
from feaslearn.regressor.checks import FitData, check_fit
from feaslearn.regressor.parameters import N_JOBS
from feaslearn.regressor.reader import check_fitted, decision_names
from feaslearn.results import as_table, as_text
from feaslearn.runs import one_blas_thread
from feaslearn.runs.progress import ProgressBar
from feaslearn.trainers import Convex
from feaslearn.trainers.minkowski_fit import ANOMALOUS, MinkowskiFit, Penalties

if TYPE_CHECKING:
    from feaslearn.regressor.learned_region import LearnedRegion
    from feaslearn.regressor.region_regressor import RegionRegressor


#: With fewer refits there is no band to speak of.
LEAST = 10


class Bootstrap:
    r"""A model, and the same fitted to samples drawn again.

    Bands are for what the same class would say if it were fitted to ample data. The default,
    "bias-aware", is :math:`\hat x \pm z \sqrt{\sigma^2 + \beta^2}` with the deviation
    :math:`\sigma` of the refits and an estimate :math:`\beta` of what the model is off for having
    seen few samples, from how far refits drift on average.

    Parameters
    ----------
    model : RegionRegressor
        The fitted model.
    refits : sequence of RegionRegressor
        The refits.
    failures : sequence of str
        What went wrong in refits that failed.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(100, n=2, noise=0.1, low=-1.0, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.L1Ball(2)), cost=data.cost)
    >>> model = model.fit(data.signals, data.decisions)
    >>> boot = model.bootstrap(50, random_state=0)
    >>> bands = boot.predict([[0.3, -0.9]])
    >>> bool(bands.contains([[1.0, 2.0]]).all())
    True
    """

    def __init__(
        self, model: LearnedRegion, refits: Sequence[LearnedRegion], failures: Sequence[str] = ()
    ) -> None:
        self.model = model
        self.refits = tuple(refits)
        self.failures = tuple(failures)

    def predict(
        self,
        X: ArrayLike,
        costs: ArrayLike | None = None,
        *,
        level: float = 0.9,
        kind: str = "bias-aware",
    ) -> Bands:
        """Return bands around predicted decisions.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n), default=None
            What-if prices.
        level : float, default=0.9
            The share of bands that should hold the decision of ample data.
        kind : {"bias-aware", "percentile", "basic", "normal"}, default="bias-aware"
            How bands are made of the refits.

        Returns
        -------
        Bands
            One for each entry of each decision, (N, n).
        """
        return self._bands(lambda model: _decisions(model, X, costs), level, kind)

    def support(
        self,
        signal: ArrayLike,
        directions: ArrayLike,
        *,
        level: float = 0.9,
        kind: str = "bias-aware",
    ) -> Bands:
        """Return bands around how far the region reaches, ``max d'x`` over it.

        Parameters
        ----------
        signal : array-like of shape (K,)
            A signal, or a frame of one row.
        directions : array-like of shape (m, n) or (n,)
            Directions d.
        level : float, default=0.9
            The share of bands that should hold the reach of ample data.
        kind : {"bias-aware", "percentile", "basic", "normal"}, default="bias-aware"
            How bands are made of the refits.

        Returns
        -------
        Bands
            One for each direction, (m,).
        """
        rows = as_directions(directions, len(decision_names(self.model)))
        return self._bands(lambda model: _reach(model, signal, rows), level, kind)

    def _bands(self, answer: Callable[[LearnedRegion], Array], level: float, kind: str) -> Bands:
        """Return bands around an answer of the model by those of the refits."""
        center = answer(self.model)
        with warnings.catch_warnings():
            # The model itself warns once.
            warnings.simplefilter("ignore", FeaslearnWarning)
            draws = np.array([answer(refit) for refit in self.refits])
        return bands_of(center, draws, level, kind)

    def rows(self) -> list[tuple[str, str]]:
        """Return what is worth showing, as pairs of a label and a string."""
        shown = [("refits", str(len(self.refits))), ("failed", str(len(self.failures)))]
        losses = [refit.result_.objective for refit in self.refits]
        if losses:
            low, high = np.quantile(losses, [0.05, 0.95])
            shown.append(("training loss", f"{low:.4g} to {high:.4g} in nine of ten refits"))
        return shown + [("warning", text) for text in dict.fromkeys(self.failures)]

    def __repr__(self) -> str:
        return as_text(self.rows())

    def _repr_html_(self) -> str:
        return as_table(self.rows())


def as_directions(directions: ArrayLike, n: int) -> Array:
    """Return directions as rows of n finite numbers."""
    try:
        rows = np.atleast_2d(np.asarray(directions, dtype=float))
    except (TypeError, ValueError):
        raise DataError("support: directions do not hold numbers") from None
    if rows.ndim != 2 or rows.shape[1] != n or not np.isfinite(rows).all():
        raise DataError(
            f"support: directions have shape {np.shape(directions)}, expected (m, {n}), finite"
        )
    return rows


def _decisions(model: LearnedRegion, X: ArrayLike, costs: ArrayLike | None) -> Array:
    decisions = np.asarray(model.predict(X, costs), dtype=float)
    return decisions.reshape(len(decisions), -1)


def _reach(model: LearnedRegion, signal: ArrayLike, directions: Array) -> Array:
    region = model.region(signal)
    return np.array([region.support(direction) for direction in directions])


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

    How often a row was drawn is its weight. What the fit chose (the hypothesis, the penalties of
    ridge and sparsity) is held.
    """
    check_fitted(model)
    problems = Problems()
    check_value("n", n, Integer(LEAST), problems)
    check_value("n_jobs", n_jobs, N_JOBS, problems)
    first = _seed(random_state, problems)
    problems.raise_if_any(DataError, "bootstrap")
    blank = _held(model)
    data = check_fit(blank, X, y, costs, sample_weight)
    count = len(np.asarray(y))
    weights = np.ones(count) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    by_moments = _with_moments(model, data)
    if by_moments is not None:
        rows, weights = data.samples.load(), np.ones(data.samples.n_samples)

    def refit(seed: np.random.SeedSequence) -> RegionRegressor | str:
        """Return a model of samples drawn with replacement, or what went wrong."""
        random, counting = np.random.default_rng(seed), weights > 0.0
        drawn = random.multinomial(int(counting.sum()), counting / counting.sum())
        try:
            if by_moments is not None:
                return _reweighted(model, by_moments, rows, drawn)
            again: RegionRegressor = clone(blank).set_params(random_state=random)
            again.fit(X, y, costs, weights * drawn)
        except FeaslearnError as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
        again.__dict__.pop("_samples", None)  # its weights differ, and no refit is fitted further
        return again

    seeds = np.random.SeedSequence(first).spawn(int(n))
    work = Parallel(effective_n_jobs(n_jobs), prefer="threads", return_as="generator")
    found: list[RegionRegressor | str] = []
    with one_blas_thread(), warnings.catch_warnings(), ProgressBar("bootstrap", int(n)) as bar:
        warnings.simplefilter("ignore", FeaslearnWarning)
        for each in work(delayed(refit)(seed) for seed in seeds):
            found.append(each)
            bar.update(len(found))
    refits = [each for each in found if not isinstance(each, str)]
    failures = [each for each in found if isinstance(each, str)]
    if failures:
        told = f"{len(failures)} of {n} refits failed"
        if len(refits) < LEAST:
            raise DataError(f"bootstrap: {told}; the first said: {failures[0]}")
        warnings.warn(
            f"{told} and do not count; the first said: {failures[0]}",
            FeaslearnWarning,
            stacklevel=3,
        )
    return Bootstrap(model, refits, failures)


def _seed(random_state: Any, problems: Problems) -> int:
    """Return a seed for all refits, from any kind of seed that scikit-learn knows."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        problems.add(f"random_state={random_state!r} is not a seed ({error})")
    return 0


def _held(model: RegionRegressor) -> RegionRegressor:
    """Return an unfitted model of the class that was fitted, with the penalties it chose."""
    blank: RegionRegressor = clone(model).set_params(n_jobs=None, verbose=0)
    details, trainer = model.result_.details, model.trainer
    if model.cost is not None or model.hypothesis is not None:
        blank.set_params(hypothesis=clone(model.hypothesis_))
    penalties = {name: details[name] for name in ("ridge", "sparsity") if name in details}
    convex = model.hypothesis_.as_minkowski(len(decision_names(model))) is not None
    if trainer == "auto" and penalties and convex:
        trainer = Convex()
    if isinstance(trainer, Convex):
        robust = ANOMALOUS in details
        blank.set_params(trainer=clone(trainer).set_params(robust=robust, **penalties))
    return blank


# Refits of a convex class through its moments: all that changes are the weights.


def _with_moments(model: RegionRegressor, data: FitData) -> Minkowski | None:
    """Return the sum that refits through moments serve: of squared losses, minimisers unique."""
    hypothesis = model.hypothesis_.as_minkowski(data.n_decisions)
    plain = model.trainer == "auto" or isinstance(model.trainer, Convex)
    loss = data.loss
    squared = isinstance(loss, Predictability) and loss.norm == "l2" and loss.squared
    if (
        hypothesis is None
        or not plain
        or not squared
        or ANOMALOUS in model.result_.details
        or model.known is not None
        or data.features.transformer is not None
        or data.cost is None
    ):
        return None
    tied = MinkowskiFit(hypothesis, data.samples, 1, np.random.default_rng(0)).n_tied
    return None if tied else hypothesis


def _reweighted(
    model: RegionRegressor, hypothesis: Minkowski, rows: Block, drawn: Indices
) -> RegionRegressor:
    """Return a model of rows that were drawn so many times."""
    some = rows.rows(drawn > 0)
    weights = some.weights * drawn[drawn > 0]
    samples = Samples.of(some._replace(weights=weights).normalized())
    fit = MinkowskiFit(hypothesis, samples, 1, np.random.default_rng(0))
    details = model.result_.details
    penalties = Penalties(details.get("ridge", 0.0), details.get("sparsity", 0.0))
    answer = fit.problem.solve(fit.moments.reduced(), penalties)
    again = copy(model)
    again.theta_ = fit.passes.of.theta(answer.a, answer.b)
    loss = max(0.0, fit.moments.value(answer.a, answer.b))
    again.result_ = replace(model.result_, objective=loss, returned_loss=loss)
    return again
