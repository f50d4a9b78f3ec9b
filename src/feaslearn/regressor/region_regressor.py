"""The estimator: learns a region from signals and decisions, predicts decisions."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.costs import CostSpecification
from feaslearn.data import Block, Names, Source
from feaslearn.exceptions import (
    FeaslearnWarning,
    RoleWarning,
)
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.coverage import (
    UNSEEN,
    Coverage,
    coverage_of,
    find_evidence,
)
from feaslearn.inference.roles import (
    MOST_ROWS,
    Roles,
    check_roles,
    name_costs,
)
from feaslearn.known import Known
from feaslearn.regressor.checks import FitData, align_rows, check_chunks, check_fit
from feaslearn.regressor.facet_summary import summarize
from feaslearn.regressor.facet_table import FacetTable
from feaslearn.regressor.learned_region import LearnedRegion
from feaslearn.regressor.reader import (
    Reader,
    check_columns,
    regions_of,
    signal_names,
)
from feaslearn.regressor.training import train
from feaslearn.runs import ended_by_user, whole_or_not
from feaslearn.trainers import Trained, Trainer

logger = logging.getLogger("feaslearn")


class RegionRegressor(LearnedRegion):
    r"""Learn the feasible region behind decisions.

    From pairs (signal, decision) and a known linear cost, learns a region :math:`R_\theta(s)` and
    predicts

    .. math:: \hat x(s) \in \arg\min \{ c(s)'x : x \in R_\theta(s) \}

    Parameters
    ----------
    hypothesis : Hypothesis, default=None
        What the region can be, such as ``Affine(Simplex(9))``. None selects one by held-out rows:
        `Facets`, unless another one is clearly better.
    cost : sequence of int or str, sequence of float, AffineCost or FunctionCost, default=None
        How c(s) is read from the signals. With None, and no ``costs`` at `fit`, only the linear
        policy b(s) is learned, with a warning.
    features : {"non-cost", "all"} or transformer, default="non-cost"
        What the region may depend on: the signals that do not enter the cost, all of them, or what
        a scikit-learn transformer makes of all of them. A constant is always added.
    trainer : "auto" or Trainer, default="auto"
        Training algorithm.
    sense : {"min", "max"}, default="min"
        Whether decisions minimise or maximise the cost.
    known : Known, default=None
        Constraints that are known: bounds, balances and rows that predictions satisfy.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts and of the folds.
    n_jobs : int, default=None
        Threads; None means 1 and -1 all processors. The result does not depend on it.
    max_seconds : float, default=None
        Limit on the wall time of the whole fit; the best model so far is returned.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The hypothesis that was fitted.
    theta_ : ndarray
        Its parameters, one flat vector; ``parameters_`` names the blocks.
    facets_ : FacetTable
        The learned constraints in the names of the data.
    result_ : TrainingResult
        Status, training loss, seconds, ties, warnings.
    cost_ : ResolvedCost or None
        How costs are read from signals.
    features_ : FeatureMap
        How features are made of signals.
    known_ : ResolvedKnown or None
        Known constraints, as functions of the signals.
    conformal_ : Conformal or None
        Calibration of bands, after `conformalize`.
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
    >>> model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, random_state=0)
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
        trainer: Trainer | str = "auto",
        sense: Literal["min", "max"] = "min",
        known: Known | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        max_seconds: float | None = None,
    ) -> None:
        self.hypothesis = hypothesis
        self.cost = cost
        self.features = features
        self.trainer = trainer
        self.sense = sense
        self.known = known
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_seconds = max_seconds

    def fit(
        self,
        X: ArrayLike | Source,
        y: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the region.

        Parameters
        ----------
        X : array-like or frame of shape (N, K), or Chunks
            Signals; or `Chunks`, which hold the decisions too. Large arrays are not copied, and
            those of single precision are read as they are.
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
        with whole_or_not(self), ended_by_user():
            self._learn(X, y, costs, sample_weight, self.trainer)
        return self

    def _learn(
        self, X: Any, y: Any, costs: Any, sample_weight: Any, trainer: Trainer | str
    ) -> None:
        y = align_rows(X, y)
        check = check_chunks if isinstance(X, Source) else check_fit
        data = check(self, X, y, costs, sample_weight)
        priced = self.cost is not None or costs is not None
        if not priced:
            warnings.warn(
                "no cost was given, so no region can be learned: the model is the linear policy "
                "b(s). Pass cost=[...] with the signals that price the decisions",
                FeaslearnWarning,
                stacklevel=3,
            )
        check_columns(self, X, reset=True)
        if priced and data.samples.in_memory:
            for found in check_roles(roles_of_fit(self, data)):
                if found.level == "no":
                    warnings.warn(str(found), RoleWarning, stacklevel=3)
        hypothesis, trained = train(self, data, priced, trainer)
        self.hypothesis_, self.features_, self.cost_ = hypothesis, data.features, data.cost
        self.theta_, self.result_, self.known_ = trained.theta, trained.result, data.known
        self._reader = Reader(data.outputs, data.n_decisions, priced, self.sense == "max")
        self._facets, self._seen = self._covered(data, trained)
        self.conformal_ = None

    def _covered(self, data: FitData, trained: Trained) -> tuple[FacetTable | None, Coverage]:
        """Return the table of learned limits, and what the data say about them."""
        error = trained.result.details.get("error of decisions", 0.0)
        evidence = find_evidence(regions_of(self), self.theta_, data.samples, error)
        step = data.samples.step(max(1, len(evidence.samples.weights)))
        names = self._reader.names
        table, rows = summarize(evidence, names, data.features.names, step, error)
        if "errors are a guess" in trained.result.details:
            rows = replace(rows, status=np.full_like(rows.status, UNSEEN))
        fitted = self.hypothesis_, self.theta_, data.samples
        return table, coverage_of(*fitted, evidence, rows, data.signals, data.known)


def roles_of_fit(model: RegionRegressor, data: FitData) -> Roles:
    """Return columns in the roles that a fit gives them: features for signals.

    Features that are prices are left out; of many rows, some are returned.
    """
    samples, features = data.samples, data.features
    block = samples.spread(MOST_ROWS)
    sums = samples.sum(cost_sums)
    decisions = data.outputs.names or tuple(f"x{j}" for j in range(data.n_decisions))
    priced = () if data.cost is None or features.transformer is not None else data.cost.columns
    every = range(1, len(features.names))
    kept = [i for i in every if not priced or features.columns[i - 1] not in priced]
    maximises = model.sense == "max"
    return Roles(
        block.features[:, kept],
        (-1.0 if maximises else 1.0) * block.costs,
        block.decisions,
        [features.names[i] for i in kept],
        name_costs(data.cost, Names(signal_names(model), decisions)),
        decisions,
        maximises,
        (sums[0], *np.split(sums[1:], 2)),
    )


def cost_sums(block: Block) -> Array:
    """Return the number of rows, and the sums of their costs and squared costs."""
    costs = block.costs
    return np.concatenate([[len(costs)], costs.sum(axis=0), (costs**2).sum(axis=0)])
