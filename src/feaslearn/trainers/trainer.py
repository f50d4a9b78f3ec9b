"""The interface of trainers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.exceptions import (
    DataError,
    Problems,
    SolverError,
    UnsupportedError,
)
from feaslearn.messages import LARGEST, beyond
from feaslearn.parameters import Constraints, check_declared
from feaslearn.results import (
    OUT_OF_TIME,
    Status,
    TrainingResult,
    remarks_heard,
)
from feaslearn.runs import one_blas_thread
from feaslearn.tolerances import SAME_TOL
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.ties import tied_share, ties_met


class Trained(NamedTuple):
    """Parameters, and how they were found.

    Parameters
    ----------
    theta : ndarray
        The parameters of the hypothesis, one flat vector.
    result : TrainingResult
        Status, training loss, warnings.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.results import Status, TrainingResult
    >>> from feaslearn.trainers import Trained
    >>> result = TrainingResult("optimal", "Convex()", 0.0, n_iter=1, seconds=0.1)
    >>> Trained(np.zeros(3), result).result.status
    'optimal'
    """

    theta: Array
    result: TrainingResult


class Trainer(BaseEstimator, ABC):
    """Finds the parameters of a hypothesis that minimise a training objective.

    A new trainer says what it cannot serve (`mismatches`) and how it searches (`search`).
    """

    #: Whether `search` takes known constraints into account itself.
    uses_known: bool = False
    #: What parameters must be; those of a subclass are added to these.
    parameter_constraints: ClassVar[Constraints] = {}

    #: How samples can come in chunks: "sums" reads them again for each sum over all samples,
    #: "moments" goes through them a few times in all, None needs all of them in memory.
    chunks: ClassVar[Literal["sums", "moments"] | None] = None

    @abstractmethod
    def mismatches(self, objective: Objective) -> list[str]:
        """Say, before any work, why this trainer cannot serve an objective; empty if it can.

        Only the hypothesis and the number of decisions may be looked at: the samples may not be
        there yet.
        """

    def chunk_mismatches(self, objective: Objective) -> list[str]:
        """Say why this trainer cannot serve an objective whose samples come in chunks."""
        if self.chunks is not None:
            return []
        return [
            f"{type(self).__name__} needs all samples in memory. From chunks, Convex fits "
            "Minkowski and the linear policy, Annealing fits Affine; or pass a part of the samples "
            "as arrays"
        ]

    @abstractmethod
    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Find parameters for an objective that this trainer serves."""

    def refuse(self, objective: Objective) -> None:
        """Raise an `UnsupportedError` that names every mismatch, if there is one."""
        mismatches = self.mismatches(objective)
        if mismatches:
            name = type(self).__name__
            raise UnsupportedError(f"{name} cannot train this: {'; '.join(mismatches)}")

    def result_of(
        self, objective: Objective, theta: Array, status: Status, *, n_iter: int, seconds: float
    ) -> TrainingResult:
        """Measure parameters that a search found, and return what to say about them.

        Parameters
        ----------
        objective : Objective
            What was minimised.
        theta : ndarray
            The parameters.
        status : str
            How the search ended, as in `TrainingResult`.
        n_iter : int
            Iterations over all starts.
        seconds : float
            How long it took.

        Returns
        -------
        TrainingResult
            With the training loss and ties.
        """
        return TrainingResult(
            status=status,
            trainer=repr(self),
            objective=objective.value(theta),
            n_iter=n_iter,
            seconds=seconds,
            tied_share=tied_share(objective, theta),
        )

    def train(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Refuse what this trainer does not serve, then search.

        Parameters
        ----------
        objective : Objective
            What to minimise.
        random : numpy.random.Generator
            Source of starts.

        Returns
        -------
        Trained
            Parameters and result.

        Raises
        ------
        DataError
            If parameters of the trainer are wrong, naming all of them.
        UnsupportedError
            Naming every mismatch.
        """
        problems = Problems()
        check_declared(self, problems)
        problems.raise_if_any(DataError, type(self).__name__)

        whole = objective.limited(None)  # whose seconds begin now
        with one_blas_thread():
            learned = whole.learned()
            self.refuse(learned)
            with remarks_heard() as said:
                trained = self.search(whole if self.uses_known else learned, random)
            trained.result.warnings.extend(said)
            if trained.result.status == "interrupted":
                whole.run.interrupt()
            elif trained.result.status == "time limit":
                trained.result.status = whole.run.ended()
            refuse_divergence(trained.theta)
            if learned is not whole and not self.uses_known:
                _within(whole, trained)
            if learned is not whole:
                warn_of_empty_regions(whole, trained.theta, trained.result)
            warn_of_underdetermined(learned, trained.result)
            complete(whole, trained.theta, trained.result)
            return trained


def _within(objective: Objective, trained: Trained) -> None:
    """Measure what was trained without the known inequalities within them."""
    result, before = trained.result, trained.result.objective
    measure(objective, trained)
    result.details["training loss of the region alone"] = before
    if abs(result.objective - before) > SAME_TOL * max(abs(before), SAME_TOL):
        # A minimum of the loss of the region alone proves nothing about the intersection.
        result.lower_bound = None
        result.status = "converged" if result.status == "optimal" else result.status


def measured(trainer: Trainer, objective: Objective, theta: Array, status: Status) -> Trained:
    """Return parameters with what can be said of any: their losses, and how the run ended."""
    seconds = objective.run.seconds
    return Trained(theta, trainer.result_of(objective, theta, status, n_iter=1, seconds=seconds))


def measure(objective: Objective, trained: Trained) -> None:
    """Write the losses of parameters on the samples of an objective into their result."""
    theta, result = trained.theta, trained.result
    result.objective = objective.value(theta)
    result.tied_share = tied_share(objective, theta)


# What is said of every result, whichever trainer found it.


def refuse_divergence(theta: Array) -> None:
    """Refuse parameters with which nothing can be computed."""
    wrong = np.flatnonzero(np.isnan(theta) | beyond(theta))
    if len(wrong):
        raise SolverError(
            f"training ended with parameters that are not finite or beyond {LARGEST:g}, the first "
            f"is number {wrong[0]} of {len(theta)}: take a smaller step or another start"
        )


def warn_of_underdetermined(objective: Objective, result: TrainingResult) -> None:
    """Warn of images of a set with more parameters than observed values."""
    # Elsewhere parameters that are not used are zero, and held-out rows decide about the rest.
    if objective.hypothesis.as_affine() is None:
        return
    observed = objective.n_observed
    if objective.size > observed:
        result.warnings.append(
            f"{objective.size} parameters were fitted to {observed} observed values, which "
            "cannot determine them: use fewer features or a smaller set"
        )


def complete(objective: Objective, theta: Array, result: TrainingResult) -> None:
    """Write into a result what is the same for every trainer."""
    if result.ties_met is None:
        result.ties_met = ties_met(objective, theta)
    if result.objective == 0.0:  # no loss is below zero
        result.lower_bound = 0.0
        result.status = result.status if result.status in OUT_OF_TIME else "optimal"


def warn_of_empty_regions(objective: Objective, theta: Array, result: TrainingResult) -> None:
    """Warn of training samples at which the region has no decision that is known to be allowed."""
    hypothesis = objective.hypothesis

    def one(block: Block) -> tuple[int, int]:
        found = hypothesis.solve(theta, block.features, block.costs).empty
        return int(found.sum()), len(found)

    empty, count = objective.samples.sum(one, objective.n_jobs)
    if empty:
        result.warnings.append(
            f"the learned region has no decision that satisfies the known constraints at {empty} "
            f"of {count} training samples: the nearest that does counts there"
        )


def train_once(
    trainer: Trainer,
    objective: Objective,
    random: np.random.Generator,
    spawn: bool = True,
) -> Trained:
    """Train a fold or a candidate by a seed of its own."""
    own = random.spawn(1)[0] if spawn else deepcopy(random)
    return trainer.train(objective, own)
