"""Classes whose training problem is convex."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from feaslearn.hypotheses import Minkowski
from feaslearn.parameters import FLAG, NOT_NEGATIVE, Constraints, Either, Integer
from feaslearn.results import Status, TrainingResult
from feaslearn.trainers.minkowski_fit import ANOMALOUS, Fitted, MinkowskiFit
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.ties import tied_share
from feaslearn.trainers.trainer import Trained, Trainer

logger = logging.getLogger("feaslearn")


@dataclass(eq=False, repr=False)
class Convex(Trainer):
    r"""The global optimum of a class whose minimisers do not move with its parameters.

    The decisions of `Minkowski` and of the linear policy ``Affine(Simplex(1))`` are linear in the
    parameters:

    .. math:: \hat x(s) = b(s) + \sum_t \alpha_t(s) E_t z_t^*(c), \qquad \alpha_t(s_i) \ge 0

    So the mean squared error is a small problem in the moments of the data, which are gathered in
    one pass. A sample at whose cost minimisers tie counts with the one that the model returns.

    Parameters
    ----------
    ridge, sparsity : float or "auto", default="auto"
        How strongly the scales are held small, and held few; without unit. "auto" chooses them for
        `Minkowski` by cross-validation, and is zero elsewhere.
    robust : bool or "auto", default="auto"
        Whether samples of unusual error count less. "auto" tries it for ``Minkowski("auto")`` with
        up to 400 samples in memory and scales that are not affine, and keeps it where it predicts
        samples better that are left out one at a time.
    n_folds : int, default=5
        Folds of the cross-validation.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.3.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(100, n=2, low=-1.0, high=1.0, random_state=0)
    >>> ball = fl.Minkowski([fl.Term(fl.L1Ball(2))], scale="constant")
    >>> model = fl.RegionRegressor(ball, cost=data.cost, random_state=0)
    >>> model.fit(data.signals, data.decisions).theta_.round(6)
    array([1., 1., 1.])
    """

    ridge: float | str = "auto"
    sparsity: float | str = "auto"
    robust: bool | str = "auto"
    n_folds: int = 5

    chunks = "moments"

    parameter_constraints: ClassVar[Constraints] = {
        "ridge": Either("auto", NOT_NEGATIVE),
        "sparsity": Either("auto", NOT_NEGATIVE),
        "robust": Either("auto", FLAG),
        "n_folds": Integer(2),
    }

    @property
    def _robust(self) -> bool:
        """Whether samples are reweighted in any case."""
        return self.robust != "auto" and bool(self.robust)

    def mismatches(self, objective: Objective) -> list[str]:
        """Name a class that is not convex in its parameters."""
        hypothesis = objective.hypothesis
        if hypothesis.as_minkowski(objective.n_decisions) is not None:
            return []
        return [
            f"{hypothesis!r} is not convex in its parameters (Minkowski and Affine(Simplex(1)) are)"
        ]

    def chunk_mismatches(self, objective: Objective) -> list[str]:
        """Name robust fits, which need all samples at a time."""
        if self._robust:
            return ["robust=True looks at all samples together, which must be in memory"]
        return []

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Solve the problem in the moments."""
        # Without a mismatch there is one.
        model = cast(Minkowski, objective.hypothesis.as_minkowski(objective.n_decisions))
        ridge, sparsity = self.ridge, self.sparsity
        if model is not objective.hypothesis:
            ridge, sparsity = (0.0 if value == "auto" else value for value in (ridge, sparsity))
        # Without a choice to make there are no folds, whose sums come in a random order.
        folds = int(self.n_folds) if "auto" in (ridge, sparsity) else 1
        fit = MinkowskiFit(model, objective.samples, folds, random, objective.n_jobs, objective.run)
        warnings, size = list[str](), model.layout(objective.n_decisions, objective.n_features).size
        if objective.hypothesis is model and size > fit.moments.observed:
            warnings.append(
                f"{size} parameters were fitted to {fit.moments.observed:.0f} observed values, "
                "which cannot determine them: the ridge chooses among those that fit"
            )
        objective = objective.normalized()
        robust = self._robust or (self.robust == "auto" and isinstance(model.terms, str) and "auto")
        fitted = fit.solve(ridge, sparsity, robust)
        if ANOMALOUS in fitted.details and not self._robust:
            warnings.append(
                f"{fitted.details[ANOMALOUS]:.0f} samples have an unusual error and count less "
                "than half: so the others are predicted better (robust=False follows them)"
            )
        result = self._result(objective, fitted, fit.n_tied)
        result.warnings = [*warnings, *result.warnings]
        logger.info("Convex: %s, loss %.6g", result.status, result.objective)
        return Trained(fitted.theta, result)

    def _result(self, objective: Objective, fitted: Fitted, tied: int) -> TrainingResult:
        bound = fitted.bound
        status: Status = "optimal"
        if ANOMALOUS in fitted.details or bound is None:
            status = "converged"
        if objective.run.late():
            status, bound = objective.run.ended(), None
        result = TrainingResult(
            status=status,
            trainer=repr(self),
            objective=fitted.loss,
            n_iter=fitted.rounds,
            seconds=objective.run.seconds,
            lower_bound=None if bound is None else min(bound, fitted.loss),
            tied_share=tied_share(objective, fitted.theta) if tied else 0.0,
            details=fitted.details,
            ties_met=tied,
        )
        if tied:
            result.warnings.append(
                f"the costs of {tied} samples tie: of several decisions of least cost, the loss "
                "counts the one that the model returns"
            )
        return result
