"""What a fitted model answers: decisions, regions, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from feaslearn.data import Shard
from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses.constrained import constrained
from feaslearn.losses import Loss
from feaslearn.metrics import pooled_r2
from feaslearn.region import Region
from feaslearn.regressor.checks import check_weights
from feaslearn.regressor.facet_table import FacetTable
from feaslearn.regressor.outputs import warn_of_empty_regions
from feaslearn.regressor.reader import Reader, check_fitted, check_signals
from feaslearn.regressor.region_at import region_at

if TYPE_CHECKING:
    from feaslearn.costs import ResolvedCost
    from feaslearn.features import FeatureMap
    from feaslearn.hypotheses.hypothesis import Hypothesis
    from feaslearn.known import ResolvedKnown
    from feaslearn.results import TrainingResult

Array = NDArray[np.float64]


class LearnedRegion(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """The part of `RegionRegressor` that needs a fit: everything is read from ``theta_``."""

    hypothesis_: Hypothesis
    theta_: Array
    result_: TrainingResult
    cost_: ResolvedCost | None
    known_: ResolvedKnown | None
    features_: FeatureMap
    _reader: Reader
    _facets: FacetTable | None

    def predict(self, X: ArrayLike, costs: ArrayLike | None = None) -> Any:
        """Return for each signal a decision of least cost in its region.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n), default=None
            What-if prices: costs to use instead of those read from the signals.

        Returns
        -------
        ndarray, series or frame of shape (N, n), or (N,) if y was one-dimensional
            Decisions; where X is a frame and y was one or a series, with the names of y and the
            index of X.
        """
        features, prices = self._read(X, costs)
        decisions, empty = self._regions.solve(self.theta_, features, prices)
        known = None if self.known_ is None else self.known_.shape.split(features)[1]
        warn_of_empty_regions(empty, known, decisions)
        return self._reader.outputs.dress(decisions, X)

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

    def sample_losses(
        self, loss: Loss, X: ArrayLike, y: ArrayLike, costs: ArrayLike | None = None
    ) -> Array:
        """Return the loss of each pair under the learned region.

        Parameters
        ----------
        loss : Loss
            Predictability or Suboptimality.
        X, y : array-like
            Signals and decisions; unobserved entries do not count.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals.

        Returns
        -------
        ndarray of shape (N,)
            Losses.
        """
        features, prices = self._read(X, costs)
        decisions = self._reader.decisions(y, len(features))
        shard = Shard(features, prices, decisions, np.ones(len(features)))
        return loss.samples(self._regions, self.theta_, shard)

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
        features, prices = self._read(X, costs)
        decisions = self._reader.decisions(y, len(features))
        problems = Problems()
        weights = check_weights(sample_weight, len(features), problems)
        problems.raise_if_any(DataError, "score")
        predicted = self._regions.predict(self.theta_, features, prices)
        return pooled_r2(decisions, predicted, weights)

    @property
    def parameters_(self) -> dict[str, Array]:
        """The parameters by name, as views of ``theta_``."""
        check_fitted(self)
        layout = self.hypothesis_.layout(self._reader.n_decisions, self.features_.n_features)
        return layout.unpack(self.theta_)

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

    def _read(self, X: ArrayLike, costs: ArrayLike | None) -> tuple[Array, Array]:
        """Return features and costs of new signals, checked against those of the fit.

        Known right-hand sides stand behind the features.
        """
        signals = check_signals(self, X)
        features = self.features_.transform(signals)
        if self.known_ is not None:
            features = np.hstack([features, self.known_.at(signals).columns()])
        return features, self._reader.prices(signals, self.cost_, costs)

    @property
    def _regions(self) -> Hypothesis:
        """What was fitted, within what is known."""
        if self.known_ is None:
            return self.hypothesis_
        return constrained(self.hypothesis_, self.known_.shape)
