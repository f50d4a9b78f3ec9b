"""The trainer of blends: each member with its own trainer, then the weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import nnls

from feaslearn.arrays import Array, Indices
from feaslearn.data import Block, Samples
from feaslearn.hypotheses.blend import Blend
from feaslearn.hypotheses.constrained import without_known
from feaslearn.losses import Objective
from feaslearn.parameters import Constraints, Either, Integer
from feaslearn.results import LOCAL_OPTIMA, Status
from feaslearn.runs import OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.trainers.out_of_fold import folds_of
from feaslearn.trainers.standardize import observed_mean
from feaslearn.trainers.trainer import CheckpointLike, Trained, Trainer, measured, train_once

#: Weight of the equation that asks the weights to sum to one.
SUM_TO_ONE = 1e4


@dataclass(eq=False, repr=False)
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

    n_folds: int = 5
    choose: Callable[[Objective], Trainer] | None = None
    max_seconds: float | None = None
    checkpoint: CheckpointLike = None

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
        done, ended = self._trained_members(members, fold, first, random)
        warnings = dict.fromkeys(text for trained, _ in done for text in trained.result.warnings)
        # Members that there was no time for count nothing.
        weights = np.repeat([1.0 / len(done), 0.0], [len(done), len(members) - len(done)])
        predictions = [prediction for _, prediction in done if prediction is not None]
        names = list(dict.fromkeys(kinds))
        if weighed and len(predictions) == len(names) and len(done) == len(members):
            shares = dict(zip(names, best_weights(np.array(predictions), whole), strict=True))
            weights = np.array([shares[kind] / kinds.count(kind) for kind in kinds])
        layout = blend.layout(objective.n_decisions, objective.n_features)
        parts = {name: np.zeros(shape) for name, shape in layout.shapes.items()}
        parts |= {f"member_{t}": trained.theta for t, (trained, _) in enumerate(done)}
        theta = layout.pack(parts | {"weights": weights})
        if objective.run.late() and ended is None:
            ended = objective.run.ended()
        # Members are the best on their own, which does not make their sum the best.
        cut = [trained.result.status for trained, _ in done]
        cut = [status for status in cut if status not in ("optimal", *LOCAL_OPTIMA)]
        blended = measured(self, objective, theta, ended or (cut[0] if cut else "converged"))
        blended.result.warnings += warnings
        return blended

    def _trained_members(
        self,
        members: list[Objective],
        fold: Indices,
        first: list[bool],
        random: np.random.Generator,
    ) -> tuple[list[tuple[Trained, Array | None]], Status | None]:
        """Train the members in order, as far as time and the user allow, the first in any case."""
        # Each member has draws of its own, so that threads do not change the result.
        streams, run = random.spawn(len(members)), members[0].run
        work = Parallel(members[0].n_jobs, prefer="threads", return_as="generator")
        done: list[tuple[Trained, Array | None]] = []
        ended: Status | None = None

        def train(t: int) -> tuple[Trained, Array | None] | None:
            if run.late() and t:
                return None
            return self._member(members[t], fold if first[t] else None, streams[t])

        with ProgressBar("Blending", len(members)) as bar:
            try:
                for answer in work(delayed(train)(t) for t in range(len(members))):
                    if answer is None:
                        break
                    done.append(answer)
                    bar.update(len(done))
            except (KeyboardInterrupt, OutOfTime) as error:
                if not done:
                    raise
                ended = "interrupted" if isinstance(error, KeyboardInterrupt) else run.ended()
        return done, ended

    def _trainer(self, objective: Objective) -> Trainer:
        if self.choose is not None:
            return self.choose(objective)
        from feaslearn.trainers.automatic import choose_trainer

        return choose_trainer("auto", objective)

    def _member(
        self, member: Objective, fold: Indices | None, random: np.random.Generator
    ) -> tuple[Trained, Array | None]:
        """Train one member; where folds are given, predict each by training on the others."""
        trained = train_once(self._trainer(member), member, random)
        if fold is None:
            return trained, None
        whole = member.load()
        predicted = np.empty(whole.decisions.shape)
        for left_out in range(int(fold.max()) + 1):
            outside = fold == left_out
            inner = replace(member, samples=Samples.of(whole.rows(~outside)))
            inner = inner.within(f"fold {left_out}")
            if inner.run.late():
                return trained, None
            try:
                theta = train_once(self._trainer(inner), inner, random, thorough=False).theta
            except OutOfTime:
                return trained, None
            outer = whole.rows(outside)
            predicted[outside] = member.hypothesis.predict(theta, outer.features, outer.costs)
        return trained, predicted


def best_weights(predictions: Array, whole: Block) -> Array:
    """Return non-negative weights of sum one for predictions (members, N, n): least squares."""
    seen = ~np.isnan(whole.decisions)
    roots = np.sqrt(np.broadcast_to(whole.weights[:, None], seen.shape)[seen])
    # Weights that sum to one weigh deviations as they weigh decisions, but with all their digits.
    center = observed_mean(whole.decisions, whole.weights)
    design = ((predictions - center)[:, seen] * roots).T
    target = (whole.decisions - center)[seen] * roots
    size = SUM_TO_ONE * (float(np.linalg.norm(target)) or 1.0)
    design = np.vstack([design, np.full(len(predictions), size)])
    weights = nnls(design, np.append(target, size))[0]
    return np.asarray(weights / weights.sum())
