"""The estimator: learns a region from signals and decisions, predicts decisions."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from feaslearn.costs import CostSpecification
from feaslearn.data import Shard
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Loss
from feaslearn.metrics import pooled_r2
from feaslearn.region import Region
from feaslearn.regressor.checks import check_fit, check_weights
from feaslearn.regressor.facet_summary import summarize
from feaslearn.regressor.facet_table import FacetTable
from feaslearn.regressor.logs import spoken
from feaslearn.regressor.outputs import Outputs, warn_of_empty_regions
from feaslearn.regressor.reader import Reader, check_columns, check_fitted, check_signals
from feaslearn.regressor.region_at import region_at
from feaslearn.regressor.training import train
from feaslearn.trainers import Trainer

Array = NDArray[np.float64]


class RegionRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Learn the feasible region behind decisions.

    From pairs (signal, decision) and a known linear cost, learns a region :math:`R_\theta(s)` and
    predicts

    .. math:: \hat x(s) \in \arg\min \{ c(s)'x : x \in R_\theta(s) \}

    Parameters
    ----------
    hypothesis : Hypothesis, default=None
        What the region can be, such as ``Affine(Simplex(9))``. None chooses one by
        cross-validation.
    cost : sequence of int or str, sequence of float, AffineCost or FunctionCost, default=None
        How c(s) is read from the signals. With None, and no ``costs`` at `fit`, only the linear
        policy b(s) is learned, with a warning.
    features : {"non-cost", "all"} or transformer, default="non-cost"
        What the region may depend on: the signals that do not enter the cost, all of them, or what
        a scikit-learn transformer makes of all of them. A constant is always added.
    loss : {"predictability", "suboptimality"} or Loss, default="predictability"
        Training loss.
    trainer : "auto" or Trainer, default="auto"
        Training algorithm.
    sense : {"min", "max"}, default="min"
        Whether decisions minimise or maximise the cost.
    known : None
        Constraints that are known. Not available in this version.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts and of the folds.
    n_jobs : int, default=None
        Threads; None means 1 and -1 all processors. The result does not depend on it.
    verbose : int, default=0
        With 1, the logger "feaslearn" lets through during `fit` what each start reached; with 2,
        every iteration. Messages go to the handlers of the program, or to standard error where
        there are none.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The hypothesis that was fitted.
    theta_ : ndarray
        Its parameters, one flat vector; ``parameters_`` names the blocks.
    facets_ : FacetTable
        The learned constraints in the names of the data.
    result_ : TrainingResult
        Status, training loss, history, seconds, ties, warnings.
    cost_ : ResolvedCost or None
        How costs are read from signals.
    features_ : FeatureMap
        How features are made of signals.
    n_features_in_, feature_names_in_ : int, ndarray
        Number of the signals, and their names where they had some.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> model.fit(data.signals, data.decisions).predict([[0.3], [0.8]]).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        hypothesis: Hypothesis | None = None,
        *,
        cost: CostSpecification | None = None,
        features: Any = "non-cost",
        loss: Loss | str = "predictability",
        trainer: Trainer | str = "auto",
        sense: Literal["min", "max"] = "min",
        known: None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.hypothesis = hypothesis
        self.cost = cost
        self.features = features
        self.loss = loss
        self.trainer = trainer
        self.sense = sense
        self.known = known
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the region.

        Parameters
        ----------
        X : array-like or frame of shape (N, K)
            Signals.
        y : array-like or frame of shape (N, n) or (N,)
            Decisions; NaN where a decision was not observed.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals.
        sample_weight : array-like of shape (N,), default=None
            Weights, not negative and not all zero.

        Returns
        -------
        RegionRegressor
            The fitted model itself.

        Raises
        ------
        DataError
            One error that names everything wrong with parameters and data. A single problem of a
            set is a `SetError`, one of a combination of parts an `UnsupportedError`.
        """
        data = check_fit(self, X, y, costs, sample_weight)
        priced = self.cost is not None or costs is not None
        if not priced:
            warnings.warn(
                "no cost was given, so no region can be learned: the model is the linear policy "
                "b(s). Pass cost=[...] with the signals that price the decisions",
                FeaslearnWarning,
                stacklevel=2,
            )
        check_columns(self, X, reset=True)
        with spoken(self.verbose):
            hypothesis, trained = train(self, data, priced)
        self.hypothesis_, self.features_, self.cost_ = hypothesis, data.features, data.cost
        self.theta_, self.result_ = trained.theta, trained.result
        n = data.rows.decisions.shape[1]
        self._reader = Reader(Outputs.of(y), n, priced, self.sense == "max")
        self._facets = summarize(hypothesis, trained, data, self._reader)
        return self

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
        decisions, empty = self.hypothesis_.solve(self.theta_, features, prices)
        warn_of_empty_regions(empty)
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
        return loss.samples(self.hypothesis_, self.theta_, shard)

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
        predicted = self.hypothesis_.predict(self.theta_, features, prices)
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
        """Return features and costs of new signals, checked against those of the fit."""
        signals = check_signals(self, X)
        return self.features_.transform(signals), self._reader.prices(signals, self.cost_, costs)
