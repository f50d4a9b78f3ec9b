"""The trainer of blends: each member with its own trainer, then the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import nnls

from feaslearn.data import Block
from feaslearn.hypotheses.blend import Blend
from feaslearn.hypotheses.constrained import without_known
from feaslearn.losses import Objective
from feaslearn.parameters import Constraints, Either, Integer
from feaslearn.results import Status
from feaslearn.runs import OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.trainers.facets import FacetLearning
from feaslearn.trainers.out_of_fold import folds_of, out_of_fold
from feaslearn.trainers.running import Given, train_once
from feaslearn.trainers.standardize import observed_mean
from feaslearn.trainers.trainer import Trained, Trainer, measured

Array = NDArray[np.float64]

#: Weight of the equation that asks the weights to sum to one.
SUM_TO_ONE = 1e4
#: How a training ends that nobody ended.
OF_THEIR_OWN: tuple[Status, ...] = ("optimal", "converged", "stalled")


class Blending(Trainer):
    r"""Train the members of a blend on their own, then weigh them.

    The weights minimise :math:`\sum_i \|x_i - \sum_t \alpha_t \hat x_t(s_i)\|^2` over
    :math:`\alpha \ge 0, \sum_t \alpha_t = 1`, with predictions for rows that a member was not
    trained on. Members of one kind share their weight, and one of them is trained once more for
    every fold.

    Parameters
    ----------
    n_folds : int, default=5
        Folds of the out-of-fold predictions; 0 gives all members the same weight.
    choose : callable, default=None
        Returns the trainer for a member's objective. None trains each with what "auto" means.
    max_seconds : float, default=None
        Limit on the wall time, which members share.
    checkpoint : path-like, default=None
        File that keeps finished members and folds: a fit that was killed resumes from them.

    Examples
    --------
    >>> from feaslearn.trainers import Blending
    >>> Blending(n_folds=0)
    Blending(n_folds=0)
    """

    uses_known = True

    def __init__(
        self,
        n_folds: int = 5,
        choose: Callable[[Objective], Trainer] | None = None,
        max_seconds: float | None = None,
        checkpoint: Given = None,
    ) -> None:
        self.n_folds = n_folds
        self.choose = choose
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint

    parameter_constraints: ClassVar[Constraints] = {"n_folds": Either(0, Integer(2))}

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what is not a blend, and what the members' trainers refuse."""
        if not isinstance(objective.hypothesis, Blend):
            return [f"{objective.hypothesis!r} is not a Blend"]
        problems = []
        for member in objective.hypothesis.members():
            own = replace(objective, hypothesis=member)
            problems += self._trainer(own).mismatches(own.learned())
        return problems

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Train every member on all rows and on all folds but one."""
        objective = objective.limited(self.max_seconds)
        blend = cast(Blend, objective.hypothesis)
        whole = objective.load()
        members = [
            replace(objective.within(f"member {t}"), hypothesis=member)
            for t, member in enumerate(blend.members())
        ]
        fold = folds_of([whole], max(self.n_folds, 1), random)
        kinds = [repr(without_known(member.hypothesis)) for member in members]
        # Samples that are all the same are one fold.
        weighed = len(set(kinds)) > 1 and bool(fold.any()) and self.n_folds <= len(fold)
        first = [weighed and kinds.index(kind) == t for t, kind in enumerate(kinds)]
        done, ended = self._trained_members(blend, members, kinds, fold, first, random)
        thetas = _completed(blend, objective, kinds, [trained.theta for trained, _ in done])
        warnings = dict.fromkeys(text for trained, _ in done for text in trained.result.warnings)
        weights = np.repeat([1.0 / len(done), 0.0], [len(done), len(members) - len(done)])
        guesses = [guess for _, guess in done if guess is not None]
        names = list(dict.fromkeys(kinds))
        if weighed and len(guesses) == len(names) and len(done) == len(members):
            shares = dict(zip(names, best_weights(np.array(guesses), whole), strict=True))
            weights = np.array([shares[kind] / kinds.count(kind) for kind in kinds])
        layout = blend.layout(objective.n_decisions, objective.n_features)
        parts = {f"member_{t}": theta for t, theta in enumerate(thetas)}
        theta = layout.pack({"weights": weights, **parts})
        if objective.run.late() and ended is None:
            ended = objective.run.ended()
        status = ended or _worst([trained.result.status for trained, _ in done])
        blended = measured(self, objective, theta, status)
        blended.result.warnings += warnings
        return blended

    def _trained_members(
        self,
        blend: Blend,
        members: list[Objective],
        kinds: list[str],
        fold: NDArray[np.intp],
        first: list[bool],
        random: np.random.Generator,
    ) -> tuple[list[tuple[Trained, Array | None]], Status | None]:
        """Train the members, as far as time and the user allow."""
        # Each member has draws of its own, so that threads do not change the result.
        streams = random.spawn(len(members))
        work = Parallel(members[0].n_jobs, prefer="threads", return_as="generator")
        done: list[tuple[Trained, Array | None]] = []
        ended: Status | None = None
        run = members[0].run

        def train(t: int) -> tuple[Trained, Array | None] | None:
            """Train a member; None for the last ones, where the time is up."""
            if run.late() and t and _can_end(blend, kinds, t):
                return None
            return self._member(members[t], fold if first[t] else None, streams[t])

        with ProgressBar("Blending", len(members)) as bar:
            try:
                for answer in work(delayed(train)(t) for t in range(len(members))):
                    if answer is not None:
                        done.append(answer)
                        bar.update(len(done))
            except KeyboardInterrupt:
                ended = "interrupted"
            except OutOfTime:
                if not done or not _can_end(blend, kinds, len(done)):
                    raise
                ended = run.ended()
        return done, ended

    def _trainer(self, objective: Objective) -> Trainer:
        if self.choose is not None:
            return self.choose(objective)
        if without_known(objective.hypothesis).as_facets() is not None:
            return FacetLearning()
        from feaslearn.trainers.automatic import choose_trainer

        return choose_trainer("auto", objective)

    def _member(
        self, member: Objective, fold: NDArray[np.intp] | None, random: np.random.Generator
    ) -> tuple[Trained, Array | None]:
        """Train one member; where folds are given, predict each by training on the others."""
        trained = train_once(self._trainer(member), member, random)
        if fold is None:
            return trained, None

        def fit(inner: Objective) -> Array:
            inner.run.check_time()
            trainer = self._trainer(inner)
            return train_once(trainer, inner, random, thorough=False).theta

        try:
            return trained, out_of_fold(member, fold, fit)
        except OutOfTime:
            return trained, None


def _can_end(blend: Blend, kinds: list[str], count: int) -> bool:
    """Say whether the members that are not trained can do without: see `_completed`."""
    left = list(zip(kinds, blend.members(), strict=True))[count:]
    return all(
        kind in kinds[:count] or without_known(member).zero_is_a_region for kind, member in left
    )


def _completed(
    blend: Blend, objective: Objective, kinds: list[str], thetas: list[Array]
) -> list[Array]:
    """Return parameters for all members: those without training weigh nothing.

    A member that was not trained takes those of another of its kind, or none at all where that is
    a region.
    """
    found = dict(zip(reversed(kinds[: len(thetas)]), reversed(thetas), strict=True))
    if not _can_end(blend, kinds, len(thetas)):
        raise KeyboardInterrupt
    for kind, member in list(zip(kinds, blend.members(), strict=True))[len(thetas) :]:
        size = member.layout(objective.n_decisions, objective.n_features).size
        thetas = [*thetas, found.get(kind, np.zeros(size))]
    if not found:
        raise KeyboardInterrupt
    return thetas


def _worst(statuses: Sequence[Status]) -> Status:
    """Return how a member ended that did not come to an end of its own, if there is one.

    Members are the best on their own, which does not make their sum the best.
    """
    return next((each for each in statuses if each not in OF_THEIR_OWN), "converged")


def best_weights(guesses: Array, whole: Block) -> Array:
    """Return non-negative weights with sum one for guesses (members, N, n), by least squares."""
    seen = ~np.isnan(whole.decisions)
    roots = np.sqrt(np.broadcast_to(whole.weights[:, None], seen.shape)[seen])
    # Weights that sum to one weigh deviations as they weigh decisions, but with all their digits.
    center = observed_mean(whole.decisions, whole.weights)
    design = ((guesses - center)[:, seen] * roots).T
    target = (whole.decisions - center)[seen] * roots
    size = SUM_TO_ONE * (float(np.linalg.norm(target)) or 1.0)
    design = np.vstack([design, np.full(len(guesses), size)])
    weights = nnls(design, np.append(target, size))[0]
    return np.asarray(weights / weights.sum())
