"""Classes whose training problem is convex."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from feaslearn.losses import Objective, Predictability, Suboptimality
from feaslearn.parameters import FLAG, NOT_NEGATIVE, Constraints, Either, Integer
from feaslearn.results import Status, TrainingResult
from feaslearn.trainers.minkowski_fit import (
    ANOMALOUS,
    Fitted,
    MinkowskiFit,
    Penalties,
    by_other_loss,
    term_warnings,
    with_ties,
)
from feaslearn.trainers.returned_decisions import returned_loss, tied_share
from feaslearn.trainers.trainer import Trained, Trainer

logger = logging.getLogger("feaslearn")


@dataclass(eq=False, repr=False)
class Convex(Trainer):
    r"""The global optimum of a class whose minimisers do not move with its parameters.

    The decisions of `Minkowski`, of `Scaled` (its case of one term with a constant scale) and of
    the linear policy ``Affine(Simplex(1))`` are linear in the parameters:

    .. math:: \hat x(s) = b(s) + \sum_t \alpha_t(s) E_t z_t^*(c), \qquad \alpha_t(s_i) \ge 0

    Squared predictability with unique minimisers is a small problem in the moments of the data,
    which are gathered in one pass. Ties, other norms and suboptimality go through one conic
    program, in which a tied sample may take any of its minimisers.

    Parameters
    ----------
    ridge, sparsity : float or "auto", default="auto"
        How strongly the scales are held small, and held few; without unit. "auto" chooses them for
        `Minkowski` by cross-validation of the squared predictability, and is zero elsewhere.
    robust : bool or "auto", default="auto"
        Whether samples of unusual error count less (squared predictability only). "auto" tries it
        for ``Minkowski("auto")`` with up to 400 samples in memory and scales that are not affine,
        and keeps it where it predicts samples better that are left out one at a time.
    n_folds : int, default=5
        Folds of the cross-validation.
    max_seconds : float, default=None
        Limit on the wall time. Where it ends the choice of penalties, the fit without penalties is
        returned; where it ends a program with ties, other norms or suboptimality, the fit by
        squared predictability with first minimisers.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Section 3.3.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(100, n=2, low=-1.0, high=1.0, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.L1Ball(2)), cost=data.cost)
    >>> model.fit(data.signals, data.decisions).theta_.round(6)
    array([1., 1., 1.])
    """

    ridge: float | str = "auto"
    sparsity: float | str = "auto"
    robust: bool | str = "auto"
    n_folds: int = 5
    max_seconds: float | None = None

    chunks = "moments"
    resists_outliers = True

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
        """Name a class that is not convex in its parameters, and a loss that has no program."""
        problems = []
        hypothesis, loss = objective.hypothesis, objective.loss
        if hypothesis.as_minkowski(objective.n_decisions) is None:
            problems.append(
                f"{hypothesis!r} is not convex in its parameters (Minkowski, Scaled and "
                "Affine(Simplex(1)) are; GradientDescent trains the others)"
            )
        if not isinstance(loss, Predictability | Suboptimality):
            problems.append(
                f"{loss!r} is neither Predictability nor Suboptimality (GradientDescent trains "
                "with any loss)"
            )
        elif self._robust and not _squared(objective):
            problems.append(f"robust=True reweighs squared predictability, not {loss!r}")
        return problems

    def chunk_mismatches(self, objective: Objective) -> list[str]:
        """Name what needs all samples at a time: other losses and robust fits."""
        if not _squared(objective):
            return [
                f"{objective.loss!r} is one program over all samples, which must be in memory; "
                "from chunks, Convex minimises squared predictability"
            ]
        if self._robust:
            return ["robust=True looks at all samples together, which must be in memory"]
        return []

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Solve the problem in the moments where that is possible, otherwise the program."""
        began, objective = time.monotonic(), objective.limited(self.max_seconds)
        model = objective.hypothesis.as_minkowski(objective.n_decisions)
        if model is None:
            raise TypeError("refused by mismatches")
        ridge, sparsity = self.ridge, self.sparsity
        if model is not objective.hypothesis or not _squared(objective):
            ridge, sparsity = (0.0 if value == "auto" else value for value in (ridge, sparsity))
        # Without a choice to make there are no folds, whose sums come in a random order.
        folds = int(self.n_folds) if "auto" in (ridge, sparsity) else 1
        fit = MinkowskiFit(model, objective.samples, folds, random, objective.n_jobs, objective.run)
        warnings = term_warnings(model, objective, fit.moments.observed)
        objective = objective.normalized()
        if _squared(objective):
            robust = self._robust or (
                self.robust == "auto" and isinstance(model.terms, str) and "auto"
            )
            fitted = fit.solve(ridge, sparsity, robust)
            if ANOMALOUS in fitted.details and not self._robust:
                warnings.append(
                    f"{fitted.details[ANOMALOUS]:.0f} samples have an unusual error and count less "
                    "than half: so the others are predicted better (robust=False follows them)"
                )
            # Held-out decisions are first minimisers: folds need no program for ties.
            if fit.n_tied and not objective.drawn:
                fitted = with_ties(fit, objective, fitted, ANOMALOUS in fitted.details)
            result = self._result(objective, fitted, fit.n_tied, began)
        else:
            fitted = by_other_loss(fit, objective, Penalties(float(ridge), float(sparsity)))
            result = self._result(objective, fitted, 0, began)
        result.warnings = [*warnings, *result.warnings]
        logger.info("Convex: %s, loss %.6g", result.status, result.objective)
        return Trained(fitted.theta, result)

    def _result(
        self, objective: Objective, fitted: Fitted, tied: int, began: float
    ) -> TrainingResult:
        unique = _squared(objective) and not tied
        theta, bound = fitted.theta, fitted.bound
        value = fitted.loss if unique else objective.value(theta)
        status: Status = "optimal"
        if ANOMALOUS in fitted.details or bound is None or fitted.degenerate:
            status = "converged"
        if objective.run.late() or fitted.late:
            status, bound = objective.run.ended(), None
        result = TrainingResult(
            status=status,
            trainer=repr(self),
            objective=value,
            returned_loss=value if unique else returned_loss(objective, theta),
            n_iter=fitted.rounds,
            seconds=time.monotonic() - began,
            lower_bound=None if bound is None else min(bound, value),
            tied_share=0.0 if unique else tied_share(objective, theta),
            details=fitted.details,
            ties_met=tied if _squared(objective) else None,
            warnings=list(fitted.warnings),
        )
        if tied:
            result.warnings.append(
                f"the costs of {tied} samples tie: the loss counts the nearest of their "
                "minimisers, the model returns one of them"
            )
        return result


def _squared(objective: Objective) -> bool:
    loss = objective.loss
    return isinstance(loss, Predictability) and loss.norm == "l2" and loss.squared
