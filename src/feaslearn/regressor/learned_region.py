"""Fitted models: decisions, regions, losses, bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from feaslearn.arrays import Array
from feaslearn.data.checks import check_weights
from feaslearn.exceptions import DataError, NotFittedError, Problems, UnsupportedError
from feaslearn.hypotheses.constrained import Constrained, half_spaces_of
from feaslearn.inference.conformal import (
    METHODS,
    Bands,
    Conformal,
    CrossFit,
    check_level,
    cross_conformal,
    split_conformal,
)
from feaslearn.inference.coverage import Coverage
from feaslearn.inference.trust import (
    MOST_CHECKED,
    is_in_range,
    trace_decisions,
    warn_of_unseen,
)
from feaslearn.metrics import pooled_r2
from feaslearn.region import Region, RegionForm
from feaslearn.region.region import region_within
from feaslearn.regressor.explanation import Explanation, explain
from feaslearn.regressor.facet_table import FacetTable
from feaslearn.regressor.outputs import warn_of_empty_regions
from feaslearn.regressor.reader import (
    Reader,
    check_fitted,
    check_signals,
    features_of,
    one_row,
    read,
    regions_of,
)
from feaslearn.sets.affine_image import AffineImage

if TYPE_CHECKING:
    from feaslearn.costs import ResolvedCost
    from feaslearn.features import FeatureMap
    from feaslearn.hypotheses.hypothesis import Hypothesis
    from feaslearn.known import ResolvedKnown
    from feaslearn.regressor.region_regressor import RegionRegressor
    from feaslearn.results import TrainingResult


#: Features that an account names.
NAMED = 6


class LearnedRegion(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """The part of `RegionRegressor` that needs a fit: everything is read from ``theta_``."""

    hypothesis_: Hypothesis
    theta_: Array
    result_: TrainingResult
    cost_: ResolvedCost | None
    known_: ResolvedKnown | None
    features_: FeatureMap
    conformal_: Conformal | None
    _reader: Reader
    _facets: FacetTable | None
    _seen: Coverage

    def predict(
        self, X: ArrayLike, costs: ArrayLike | None = None, *, return_trust: bool = False
    ) -> Any:
        """Return for each signal a decision of least cost in its region.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n) or (n,), default=None
            What-if prices: costs to use instead of those read from the signals; one for each
            decision stands for all signals.
        return_trust : bool, default=False
            Whether to say what each decision rests on.

        Returns
        -------
        decisions : ndarray, series or frame of shape (N, n), or (N,) if y was one-dimensional
            Decisions; where X is a frame and y was one or a series, with the names of y and the
            index of X.
        trust : Trust
            What they rest on: arrays ``status``, ``rests_on`` and ``in_range``. Only with
            ``return_trust=True``.

        Warns
        -----
        UnseenLimitWarning
            Where decisions at what-if prices, or more than 5 % of others, rest on limits that the
            data of the fit never showed.
        """
        signals = check_signals(self, X)
        features = features_of(self, signals)
        prices = self._reader.prices(signals, self.cost_, costs)
        rows = self._seen.rows
        unseen = bool(rows.unseen.any())
        if return_trust or (unseen and not rows.latent):
            inside = is_in_range(self, signals, None if costs is None else prices)
            decisions, empty, trust = trace_decisions(
                regions_of(self), self.theta_, rows, features, prices, inside
            )
            warn_of_unseen(trust, costs is not None)
        else:
            decisions, empty, *_ = regions_of(self).solve(self.theta_, features, prices)
            if unseen and costs is not None:
                some = np.arange(0, len(prices), -(-len(prices) // MOST_CHECKED))
                every = np.ones(len(some), dtype=bool)
                asked = features[some], prices[some], every
                trust = trace_decisions(regions_of(self), self.theta_, rows, *asked)[2]
                warn_of_unseen(trust, asked=True)
        known = None if self.known_ is None else self.known_.shape.split(features)[1]
        warn_of_empty_regions(empty, known, decisions)
        formatted = self._reader.outputs.format_like(decisions, X)
        return (formatted, trust) if return_trust else formatted

    def region(self, signal: ArrayLike) -> Region:
        """Return the learned region at one signal.

        Parameters
        ----------
        signal : array-like of shape (K,)
            A signal, or a frame of one row.

        Returns
        -------
        Region
            What the decision maker can choose from; `Region.describe` says it in words.
        """
        check_fitted(self)
        return region_at(self, self._reader, signal)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: ArrayLike | None = None,
    ) -> float:
        r"""Return R² pooled over outputs: :math:`1 - \sum\|x - \hat x\|^2 / \sum\|x - \bar x\|^2`.

        Parameters
        ----------
        X, y : array-like
            Signals and decisions; unobserved entries do not count.
        sample_weight : array-like of shape (N,), default=None
            Weights.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals.

        Returns
        -------
        float
            One for perfect predictions, zero for the mean; on complete data, scikit-learn's
            ``r2_score(..., multioutput="variance_weighted")``.
        """
        features, prices = read(self, X, costs)
        decisions = self._reader.decisions(y, len(features))
        problems = Problems()
        weights = check_weights(sample_weight, len(features), problems)
        problems.raise_if_any(DataError, "score")
        predicted = regions_of(self).predict(self.theta_, features, prices)
        return pooled_r2(decisions, predicted, weights)

    def conformalize(
        self,
        X: ArrayLike,
        y: ArrayLike,
        costs: ArrayLike | None = None,
        *,
        confidence_level: float = 0.9,
        method: Literal["split", "cross", "time"] = "split",
    ) -> Self:
        """Calibrate bands for the next observed decision; see `predict_interval`.

        Parameters
        ----------
        X, y : array-like
            Signals and decisions that the model was not fitted to; with ``method="cross"`` those
            of the fit.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals.
        confidence_level : float, default=0.9
            Share of next decisions that bands should hold.
        method : {"split", "cross", "time"}, default="split"
            Whether rows were held out of the fit, or five fits to parts of the rows score the
            others, for few rows. Split bands hold the level if rows are exchangeable, cross bands
            at least ``1 - 2 (1 - level)`` and usually about the level. "time" is for rows of a log
            in their order, later than those of the fit: as "split", but with the width that the
            last of them need (at most 100), for errors that change slowly; nothing is guaranteed.

        Returns
        -------
        RegionRegressor
            The model itself; a file keeps the calibration.

        Examples
        --------
        >>> import feaslearn as fl
        >>> data = fl.datasets.make_power5(400, noise=0.2, random_state=0)
        >>> model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=data.cost)
        >>> model = model.fit(data.signals[:200], data.decisions[:200])
        >>> model = model.conformalize(data.signals[200:300], data.decisions[200:300])
        >>> bands = model.predict_interval(data.signals[300:])
        >>> bool(bands.contains(data.decisions[300:]).all(axis=1).mean() > 0.8)
        True
        """
        check_fitted(self)
        if method not in METHODS:
            raise UnsupportedError(
                f"method={method!r} is not known; use 'split', 'cross' or 'time'"
            )
        if method == "cross":
            # Each fit would make other features, to which parameters do not belong.
            if self.features_.transformer is not None:
                raise UnsupportedError(
                    "conformalize: method='cross' needs features that are signals themselves; hold "
                    "rows out, and use method='split'"
                )
            rows = CrossFit(self, X, y, costs), *calibration_rows(self, X, y, costs)
            self.conformal_ = cross_conformal(regions_of(self), *rows, confidence_level)
            return self
        held_out = self.theta_, *calibration_rows(self, X, y, costs)
        in_time = method == "time"
        self.conformal_ = split_conformal(regions_of(self), *held_out, confidence_level, in_time)
        return self

    def predict_interval(
        self,
        X: ArrayLike,
        costs: ArrayLike | None = None,
        *,
        joint: bool = True,
        confidence_level: float | None = None,
    ) -> Bands:
        """Return bands for the observed decision at each signal, after `conformalize`.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals. Bands hold the level at prices
            like those that they were calibrated with.
        joint : bool, default=True
            Whether all decisions of a row lie in their bands with this probability, or each one.
        confidence_level : float, default=None
            Another level than that of `conformalize`.

        Returns
        -------
        Bands
            Bands around the predictions, within the learned region and its tolerance.
        """
        check_fitted(self)
        if self.conformal_ is None:
            raise NotFittedError("predict_interval: call conformalize first")
        features, prices = read(self, X, costs)
        level = self.conformal_.level if confidence_level is None else check_level(confidence_level)
        return self.conformal_.bands(regions_of(self), self.theta_, features, prices, joint, level)

    def explain(
        self, signal: ArrayLike | None = None, costs: ArrayLike | None = None
    ) -> Explanation:
        """Say what the data pinned, what they did not show, and what carries the region.

        Parameters
        ----------
        signal : array-like of shape (K,), default=None
            A signal, or a frame of one row, to be compared with those of the fit.
        costs : array-like of shape (n,), default=None
            Prices at the signal instead of those read from it.

        Returns
        -------
        Explanation
            Words and numbers in the names of the data.
        """
        check_fitted(self)
        return explain(self, self._seen, signal, costs)

    @property
    def parameters_(self) -> dict[str, Array]:
        """The parameters by name, as views of ``theta_``."""
        check_fitted(self)
        sizes = self._reader.n_decisions, self.features_.n_features
        return self.hypothesis_.layout_of(self.theta_, *sizes).unpack(self.theta_)

    @property
    def facets_(self) -> FacetTable:
        """The learned constraints as a table in the names of the data."""
        check_fitted(self)
        if self._facets is None:
            raise AttributeError(f"{self.hypothesis_!r} has no facets; Facets() has")
        return self._facets

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "theta_"):
            # Kernels compile once more for arrays that cannot be written to, as in memory maps.
            self.theta_ = np.require(self.theta_, requirements="W")


def region_at(model: RegionRegressor, reader: Reader, signal: ArrayLike) -> Region:
    """Return the region of a fitted model at a signal, or a frame of one row."""
    signals = check_signals(model, one_row(signal))
    if len(signals) != 1:
        raise DataError(f"region: {len(signals)} signals were given; give one")
    phi, n, theta = model.features_.transform(signals), reader.n_decisions, model.theta_
    said = model.hypothesis_.account(theta, phi[0], reader.names)
    account = [text + _where(model.features_.names, phi[0]) for text in said]
    if model.known_ is None:
        empty = model.hypothesis_.solve(theta, phi, np.zeros((1, n))).empty
        warn_of_empty_regions(empty)
        image = model.hypothesis_.image(theta, phi[0], n)
        return Region(image, reader.names, account, rows=None if empty[0] else _rows(model, phi, n))
    limits = model.known_.at(signals)
    columns = np.hstack([phi, limits.columns()])
    regions = Constrained(model.hypothesis_, limits.shape)
    decisions, empty, *_ = regions.solve(theta, columns, np.zeros((1, n)))
    warn_of_empty_regions(empty, limits, decisions)
    image, known = regions.learned_image(theta, columns[0], n), half_spaces_of(limits)
    region = None if empty[0] else region_within(image, known, reader.names, account)
    # Where there is none, the nearest decision is all there is.
    if region is None:
        return Region(AffineImage.point(decisions[0]), reader.names, account)
    region.rows = _rows(model, phi, n)
    return region


def _rows(model: RegionRegressor, phi: Array, n: int) -> RegionForm | None:
    """Return the named rows of a region that is given by rows of its decisions alone."""
    form = name_facets(model.hypothesis_.describe(model.theta_, n, phi.shape[1]), model)
    return None if form.p else form.at(form.weights(phi)[0])


def name_facets(form: RegionForm, model: LearnedRegion) -> RegionForm:
    """Return the rows of a model with its facets called as in ``facets_``."""
    covered = model._seen.rows  # noqa: SLF001 (of the same class)
    if form.p:
        return form
    # Known rows come after the learned ones.
    count = min(len(form.labels), len(covered.names))
    labels = [
        label._replace(name=name) if label.kind == "facet" and name else label
        for label, name in zip(form.labels[:count], covered.names[:count], strict=True)
    ]
    return replace(form, labels=(*labels, *form.labels[count:]))


def _where(names: Sequence[str], phi: Array) -> str:
    """Say at which features: " when demand is 6.1"."""
    known = [f"{name} is {value:.4g}" for name, value in zip(names[1:], phi[1:], strict=True)]
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return f" when {', '.join(known[:NAMED])}{more}" if known else ""


def calibration_rows(
    model: LearnedRegion, X: Any, y: Any, costs: Any = None
) -> tuple[Array, Array, Array, Array]:
    """Return features, costs and decisions of rows, and the ranges of decisions in the fit."""
    features, prices = read(model, X, costs)
    decisions = vars(model)["_reader"].decisions(y, len(features))
    return features, prices, decisions, np.ptp(vars(model)["_seen"].decisions, axis=0)
