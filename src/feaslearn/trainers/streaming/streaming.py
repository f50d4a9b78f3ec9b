"""Training that continues with every new chunk of samples."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from feaslearn.arrays import Array
from feaslearn.data import Block, Samples
from feaslearn.exceptions import Problems, UnsupportedError
from feaslearn.hypotheses import Affine, Minkowski
from feaslearn.losses import Objective, Predictability
from feaslearn.losses.kernels import SQUARED_L2
from feaslearn.parameters import NOT_NEGATIVE, Constraints, Either, Integer, Number
from feaslearn.results import TrainingResult
from feaslearn.tolerances import ROUNDING
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.streaming.streams import AffineStream, DriftTest, MomentStream, Stream
from feaslearn.trainers.trainer import CheckpointLike, Trained, Trainer

logger = logging.getLogger("feaslearn")


@dataclass(eq=False, repr=False)
class Streaming(Trainer):
    r"""Parameters that follow the data: what `RegionRegressor.partial_fit` trains with.

    `fit` begins a stream with its samples, and `partial_fit` continues with more; squared
    predictability is served. For `Minkowski`, `Scaled` and the linear policy the stream is the
    moments of all samples so far, and parameters are their global optimum,

    .. math:: \min_\theta \sum_i \lambda^{N-i} w_i \|x_i - \hat x_i\|^2 \quad \text{s.t.} \quad
              \alpha_t(s_j) \ge 0 \; \forall j \in J

    so that with :math:`\lambda = 1` the chunks do not matter: only which rows J are retained can.
    For `Affine`, `Annealing` fits the first chunk and stochastic steps follow, each in the metric
    of the samples so far (see `AffineStream`); give it a first chunk of some hundred samples.

    Parameters
    ----------
    forgetting : float, default=1.0
        The factor :math:`\lambda`: what a sample counts after the next one. With 0.999, about the
        last 1000 samples count.
    retained : int, default=1000
        Most rows J, beside those of the latest chunk, at which scales are held non-negative.
    drift : float or None, default=1e-5
        False alarms of the drift test for each sample, at most; None for no test. See `DriftTest`.
        A stream of an `Affine` that is not a linear policy is not tested.
    ridge : float, default=0.0
        How strongly the scales of a Minkowski sum are held small; without unit, as in `Convex`.
    first : Trainer or None, default=None
        What fits the first chunk of an `Affine`; None is ``Annealing()``.
    max_seconds : float, default=None
        Limit on the wall time of the first fit. What `partial_fit` does with a chunk is one pass
        over it, which is not cut short: samples that do not count once would be missing for ever.
    checkpoint : path-like, default=None
        File that keeps finished starts of the first fit: one that was killed resumes from them.

    References
    ----------
    Haykin, "Adaptive Filter Theory", chapter on recursive least squares. Roberts, "A comparison of
    some control chart procedures", Technometrics 8(3), 1966.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(200, random_state=0)
    >>> streaming = fl.trainers.Streaming(forgetting=0.99)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost, trainer=streaming)
    >>> for day in (data[:50], data[50:100], data[100:]):
    ...     model = model.partial_fit(day.signals, day.decisions)
    >>> model.stream_.n_samples, model.drift_.alarms
    (200, ())
    """

    #: Known constraints are refused by the search itself.
    uses_known = True

    forgetting: float = 1.0
    retained: int = 1000
    drift: float | None = 1e-5
    ridge: float = 0.0
    first: Trainer | None = None
    max_seconds: float | None = None
    checkpoint: CheckpointLike = None

    parameter_constraints: ClassVar[Constraints] = {
        "forgetting": Number(0.0, 1.0, above=True),
        "retained": Integer(1),
        "drift": Either(None, Number(0.0, 1.0, above=True, below=True)),
        "ridge": NOT_NEGATIVE,
    }

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` parameters that are out of range."""
        super().check(problems)
        if isinstance(self.first, Trainer):
            self.first.check(problems)
        elif self.first is not None:
            problems.add(f"first={self.first!r} is neither None nor one of feaslearn.trainers")

    def mismatches(self, objective: Objective) -> list[str]:
        """Name hypotheses that have no stream, and other losses."""
        problems = []
        hypothesis, loss = objective.hypothesis, objective.loss
        squared = isinstance(loss, Predictability) and loss.norm_code() == SQUARED_L2
        if _moments_of(objective) is None and type(hypothesis) is not Affine:
            problems.append(
                f"{hypothesis!r} cannot keep learning from chunks; Minkowski, Scaled and Affine "
                "can: fit again to all samples, or to the latest ones"
            )
        elif not squared:
            problems.append(f"{loss!r} is not the squared predictability")
        elif _moments_of(objective) is None:
            problems.extend(self._first().mismatches(objective))
        return problems

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Begin a stream with the samples of an objective."""
        if objective.known is not None:
            raise UnsupportedError(
                "Streaming cannot train within known constraints: parameters are refitted to "
                "them on all samples. Use another trainer, or leave known away"
            )
        began = time.monotonic()
        rows = objective.load()
        count = len(rows.weights)
        block = rows._replace(weights=count * rows.weights)
        hypothesis = _moments_of(objective)
        if hypothesis is not None:
            drift = None if self.drift is None else DriftTest(float(self.drift), seen=count)
            state = MomentStream.begun(hypothesis, block)
            return self._by_moments(objective, Stream(0, 0, state, drift), state, block, began)
        trained = self._first().train(objective, random)
        whole = replace(objective, samples=Samples.of(block))
        steps = AffineStream.begun(whole, trained.theta, float(self.forgetting))
        trained.result.trainer = repr(self)
        return trained._replace(stream=Stream(count, 1, steps, None))

    def follow(self, objective: Objective, theta: Array, stream: Stream, block: Block) -> Trained:
        """Continue with more samples, whose weights count as they are.

        A stream of moments tests their losses for drift before it learns from them.
        """
        began, state = time.monotonic(), stream.state
        if isinstance(state, AffineStream):
            state, theta = state.after(objective, theta, block, float(self.forgetting))
            stream = replace(stream.after(block, state), drift=None)
            loss = state.loss / state.weight
            return Trained(theta, self._result(stream, loss, stream.n_chunks, began), stream)
        if stream.drift is None:
            return self._by_moments(objective, stream, state, block, began)
        losses = objective.loss.samples(objective.hypothesis, theta, block)
        drift = stream.drift.after(losses, ROUNDING * float(np.nanmean(block.decisions**2)))
        trained = self._by_moments(objective, replace(stream, drift=drift), state, block, began)
        if drift.alarms != stream.drift.alarms:
            trained.result.warnings.append(drift.warning)
            logger.warning(drift.warning)
        return trained

    def _by_moments(
        self,
        objective: Objective,
        stream: Stream,
        state: MomentStream,
        block: Block,
        began: float,
    ) -> Trained:
        hypothesis = cast(Minkowski, _moments_of(objective))
        state, tied = state.after(hypothesis, block, float(self.forgetting))
        solution = state.solve(hypothesis, float(self.ridge))
        state = state.pruned(solution.scales, int(self.retained), float(self.forgetting))
        stream = stream.after(block, state, tied)
        result = self._result(stream, solution.loss, solution.answer.rounds, began)
        result.details |= {
            "rows retained": float(len(state.rows)),
            "KKT residual": solution.answer.residual,
            "ridge": float(self.ridge),
        }
        result.ties_met = stream.n_tied
        if not stream.n_tied:
            result.status = "optimal"
            result.lower_bound = None if self.ridge else solution.loss
        else:
            result.warnings.append(
                f"{stream.n_tied} samples tie and have many minimisers: each counts with its "
                "minimiser of lowest index, and the optimum is not proved"
            )
        return Trained(solution.theta, result, stream)

    def _result(self, stream: Stream, loss: float, n_iter: int, began: float) -> TrainingResult:
        details = {
            "samples seen": float(stream.n_samples),
            "chunks": float(stream.n_chunks),
            "weight of all samples": stream.state.weight,
        }
        if stream.drift is not None:
            details["drift alarms"] = float(len(stream.drift.alarms))
        return TrainingResult(
            status="converged",
            trainer=repr(self),
            objective=loss,
            returned_loss=loss,
            n_iter=n_iter,
            seconds=time.monotonic() - began,
            details=details,
        )

    def _first(self) -> Trainer:
        return Annealing() if self.first is None else self.first


def _moments_of(objective: Objective) -> Minkowski | None:
    """Return the Minkowski sum whose moments are enough, if there is one."""
    return objective.hypothesis.as_minkowski(objective.n_decisions)
