"""From a trainer's limits to a run: its clock and its checkpoint."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from feaslearn.exceptions import CheckpointError, FeaslearnError, TimeLimitError
from feaslearn.losses import Objective
from feaslearn.parameters import Either, Number
from feaslearn.results import Status, TrainingResult
from feaslearn.runs import Checkpoint, OutOfTime, one_blas_thread
from feaslearn.runs.checkpoint import fingerprint

if TYPE_CHECKING:
    from feaslearn.trainers.trainer import Trained, Trainer

#: How a whole run ends before it is done; any other status ends one start or none.
ENDS_ALL: tuple[Status, ...] = ("time limit", "stopped by callback", "interrupted")
#: Parameters of a trainer that do not change where a run leads.
OF_NO_CONSEQUENCE = ("checkpoint", "callback", "max_seconds")

Given = str | os.PathLike[str] | None
#: A limit on the time of a run.
MAX_SECONDS = Either(None, Number(0.0, above=True))


class Running(NamedTuple):
    """An objective within the limits of a trainer, its random numbers, and a checkpoint begun."""

    objective: Objective
    random: np.random.Generator
    begun: Checkpoint | None

    def done(self, trained: Trained) -> Trained:
        """Remove the checkpoint of a run that came to its end."""
        if self.begun is not None and trained.result.status not in ENDS_ALL:
            self.begun.remove()
        return trained


@contextmanager
def running(
    trainer: Trainer, objective: Objective, random: np.random.Generator, seeded: bool = True
) -> Iterator[Running]:
    """Limit work to what a trainer allows, and resume from its checkpoint if there is one."""
    # Work that is a part of another run only has its time limited: the whole run has one file.
    # Without a seed of the user, a run with a checkpoint draws by the seed in its file.
    limited, checkpoint = objective.limited(trainer.max_seconds), None
    try:
        with one_blas_thread():
            if trainer.checkpoint is not None and limited.run.checkpoint is None:
                parts = _parts(trainer, limited, random if seeded else None)
                seed = 0 if seeded else int(random.integers(2**63))
                checkpoint = Checkpoint(trainer.checkpoint, parts, seed)
                random = random if seeded else np.random.default_rng(checkpoint.seed)
                limited = replace(limited, run=replace(limited.run, checkpoint=checkpoint))
            with _doubted(checkpoint):
                yield Running(limited, random, checkpoint)
    except OutOfTime:
        if objective.run.clock.limited:
            raise  # the whole run has more to say
        given = trainer.checkpoint
        written = given is not None and Path(given).exists()
        kept = "; what was finished is in the checkpoint" if written else ""
        raise TimeLimitError(
            f"max_seconds={trainer.max_seconds!r} was over before there was any model{kept}. Allow "
            "more time, or fit to fewer samples or a smaller hypothesis"
        ) from None


@contextmanager
def _doubted(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Say that the file may be at fault where a resumed run fails."""
    # The checksum of a file shows damage, not forgery: its pieces may be anything.
    try:
        yield
    except FeaslearnError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if checkpoint is None or not checkpoint.resumed:
            raise
        raise CheckpointError(
            f"the run that was resumed from {checkpoint.path} failed ({type(error).__name__}: "
            f"{str(error)[:200]}). If this fit did not write the file, delete it to begin anew"
        ) from error


def train_once(
    trainer: Trainer,
    objective: Objective,
    random: np.random.Generator,
    thorough: bool = True,
    spawn: bool = True,
) -> Trained:
    """Train a fold or a member by a seed of its own, unless the checkpoint has its result."""
    from feaslearn.trainers.trainer import Trained

    own = random.spawn(1)[0] if spawn else deepcopy(random)

    def work() -> dict[str, object]:
        trained = trainer.train(objective.within("trained"), own, thorough)
        return {"theta": trained.theta, "result": vars(trained.result)}

    def done(end: dict[str, Any]) -> bool:
        return end["result"]["status"] not in ENDS_ALL

    found = objective.run.cached("trained", work, done)
    return Trained(found["theta"], TrainingResult(**found["result"]))


def _parts(
    trainer: Trainer, objective: Objective, random: np.random.Generator | None
) -> dict[str, str]:
    """Return what a checkpoint belongs to, by name."""
    source = None if random is None else random.bit_generator
    drawn = None if source is None else [source.state, repr(source.seed_seq)]
    return {
        "data": fingerprint(objective.samples.identity(objective.run.check_time)),
        "hypothesis": fingerprint(objective.hypothesis),
        "loss": fingerprint(objective.loss),
        "trainer": fingerprint(trainer, leave_out=OF_NO_CONSEQUENCE),
        "random_state": fingerprint(drawn),
        "version of feaslearn": str(sys.modules["feaslearn"].__version__),
    }
