"""Classes whose training problem is convex."""

from __future__ import annotations

import logging
import time

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.hypotheses import Affine, Scaled
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.losses import Objective, Predictability
from feaslearn.results import TrainingResult
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.scaled_fit import ScaledFit
from feaslearn.trainers.trainer import Trained, Trainer, returned_loss, tied_share

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")

#: Fits in alternation with the choice among tied minimisers, and choices in all of them together.
MAX_ROUNDS, MAX_CHOICES = 20, 50_000


class Convex(Trainer):
    r"""The global optimum of a class whose minimisers do not move with its parameters.

    Where the minimiser :math:`z^*(c)` is unique, the squared predictability of `Scaled` is least
    squares of x on :math:`\alpha z^*(c) + b(s)` with :math:`\alpha \ge 0`. A region that is a
    single point, ``Affine(Simplex(1))``, is the linear policy. Where minimisers tie, those nearest
    to x are found in alternation with the fit, and the result claims no global optimum.

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

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what is not the squared predictability of a scaled set or a single point."""
        problems = []
        hypothesis, loss = objective.hypothesis, objective.loss
        if not (isinstance(hypothesis, Scaled) or is_point(hypothesis, objective.n_decisions)):
            problems.append(
                f"{hypothesis!r} is not convex in its parameters (Scaled and Affine(Simplex(1)) "
                "are; GradientDescent trains the others)"
            )
        if not isinstance(loss, Predictability) or loss.norm != "l2" or not loss.squared:
            problems.append(
                f"{loss!r} is not squared predictability, Predictability() (GradientDescent "
                "trains with any loss)"
            )
        return problems

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Solve the least-squares problem."""
        began = time.monotonic()
        whole = Shard(*(np.concatenate(parts) for parts in zip(*objective.shards, strict=True)))
        rounds, tied = 1, False
        if isinstance(objective.hypothesis, Scaled):
            fit = ScaledFit(objective.hypothesis, whole)
            theta, rounds = self._with_faces(objective, fit)
            tied = bool(fit.faces)
        else:
            theta = least_squares(whole.features, whole.decisions, whole.weights).ravel()
        value = objective.value_and_gradient(theta)[0]
        result = TrainingResult(
            status="converged" if tied else "optimal",
            trainer=repr(self),
            objective=value,
            returned_loss=returned_loss(objective, theta),
            n_iter=rounds,
            seconds=time.monotonic() - began,
            lower_bound=None if tied else value,
            tied_share=tied_share(objective, theta),
        )
        if tied:
            result.warnings.append(
                f"the costs of {len(fit.faces)} samples tie, so the optimum is not proved"
            )
        logger.info("Convex: %s, loss %.6g", result.status, result.objective)
        return Trained(theta, result)

    def _with_faces(self, objective: Objective, fit: ScaledFit) -> tuple[Array, int]:
        """Let tied samples choose the nearest of their minimisers, and fit again.

        Each round lowers the loss, which counts the nearest minimiser. The model returns one of
        them, so the first fit is kept where its returned decisions are better.
        """
        first = theta = fit.solve()
        rounds = 1
        while fit.faces and rounds < min(MAX_ROUNDS, MAX_CHOICES // len(fit.faces)):
            fit.choose_nearest(theta)
            last, theta = theta, fit.solve()
            rounds += 1
            if np.abs(theta - last).max() <= 1e-12 * np.abs(theta).max():
                break
        if rounds > 1 and returned_loss(objective, first) < returned_loss(objective, theta):
            theta = first
        return theta, rounds


def is_point(hypothesis: Hypothesis, n: int) -> bool:
    """Whether the region of a hypothesis is a single point, the linear policy."""
    if not isinstance(hypothesis, Affine):
        return False
    primitive = hypothesis.latent(n)
    return primitive.dimension == 1 and primitive.absorbs_offset
