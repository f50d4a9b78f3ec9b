"""From a trainer's limits to a run: its clock, its checkpoint, and what becomes of that."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from feaslearn.data import ShardSource
from feaslearn.data.content import content_of
from feaslearn.data.survey import Survey
from feaslearn.exceptions import CheckpointError, FeaslearnError, Problems, TimeLimitError
from feaslearn.losses import Objective
from feaslearn.results import Status, TrainingResult
from feaslearn.runs import Checkpoint, Journal, OutOfTime, as_checkpoint, one_blas_thread
from feaslearn.runs.fingerprint import fingerprint
from feaslearn.runs.generators import described, rebuilt, restore_state, state_of

if TYPE_CHECKING:
    from feaslearn.trainers.trainer import Trained, Trainer

#: How a whole run ends before it is done; any other status ends one start or none.
ENDS_ALL: tuple[Status, ...] = ("time limit", "stopped by callback", "interrupted")
#: Parameters of a trainer that do not change where a run leads.
OF_NO_CONSEQUENCE = ("checkpoint", "callback", "max_seconds")

Work = Callable[[Objective, np.random.Generator], "Trained"]
Given = Checkpoint | str | os.PathLike[str] | None


def check_checkpoint(given: Given, problems: Problems) -> None:
    """Add to ``problems`` what is wrong with the checkpoint that a trainer was given."""
    if given is None:
        return
    if not isinstance(given, Checkpoint | str | os.PathLike):
        problems.add(f"checkpoint={given!r} is neither the name of a file nor a Checkpoint")
        return
    checkpoint = as_checkpoint(given)
    if checkpoint is not None:
        checkpoint.check(problems)


def check_max_seconds(value: object, problems: Problems) -> None:
    """Add to ``problems`` a time limit that is none."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (number and float(value) > 0.0):  # type: ignore[arg-type]
        problems.add(f"max_seconds={value!r} is neither None nor a positive number")


def carried_out(
    trainer: Trainer,
    objective: Objective,
    random: np.random.Generator,
    work: Work,
    seeded: bool = True,
) -> Trained:
    """Do work within the limits of a trainer, going on from its checkpoint if there is one.

    Work that is a part of another run only has its time limited: the whole run is written down,
    in one file.

    Parameters
    ----------
    trainer : Trainer
        Has the limits.
    objective : Objective
        What is minimised.
    random : numpy.random.Generator
        Source of all draws. A run that is resumed goes on with its own.
    work : callable
        Trains, given an objective and a generator.
    seeded : bool, default=True
        Whether the draws were asked for: then those of a checkpoint must be the same.

    Returns
    -------
    Trained
        What the work returns.

    Raises
    ------
    CheckpointError
        If the file is damaged, or belongs to another problem.
    TimeLimitError
        If the time is up before there is any model.
    """
    try:
        with one_blas_thread():
            return _carried_out(trainer, objective, random, work, seeded)
    except OutOfTime:
        if objective.run.clock.limited:
            raise  # the whole run has more to say
        checkpoint = as_checkpoint(trainer.checkpoint)
        written = checkpoint is not None and checkpoint.file().exists()
        kept = "; what was done is in the checkpoint" if written else ""
        raise TimeLimitError(
            f"max_seconds={trainer.max_seconds!r} was over before there was any model{kept}. Allow "
            "more time, or fit to fewer samples or a smaller hypothesis"
        ) from None


def _carried_out(
    trainer: Trainer, objective: Objective, random: np.random.Generator, work: Work, seeded: bool
) -> Trained:
    limited = objective.limited(trainer.max_seconds)
    checkpoint = as_checkpoint(trainer.checkpoint)
    if checkpoint is None or limited.run.journal is not None:
        return work(limited, random)
    identity = _identity(objective, limited.run.check_time)
    parts = _parts(trainer, objective, identity, described(random) if seeded else None)
    journal = Journal(checkpoint, parts, {"random": described(random)})
    limited = replace(limited, run=replace(limited.run, journal=journal))
    try:
        with _doubted(journal, checkpoint):
            own = rebuilt(journal.begun["random"]) if journal.resumed else random
            trained = work(limited, own)
    except BaseException:
        journal.write()
        raise
    restore_state(random, state_of(own))
    if trained.result.status in ENDS_ALL:
        journal.write()
    else:
        journal.remove()
    return trained


@contextmanager
def _doubted(journal: Journal, checkpoint: Checkpoint) -> Iterator[None]:
    """Say that the file may be at fault where a run that goes on from one stumbles.

    The checksum of a file shows damage, not forgery: its entries may be anything.
    """
    try:
        yield
    except FeaslearnError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not journal.resumed:
            raise
        raise CheckpointError(
            f"the run that went on from {checkpoint.file()} failed ({type(error).__name__}: "
            f"{str(error)[:200]}). If this fit did not write the file, delete it to begin anew"
        ) from error


def train_once(
    trainer: Trainer, objective: Objective, random: np.random.Generator, thorough: bool = True
) -> Trained:
    """Train a part of a run, unless its checkpoint has what that leads to."""
    from feaslearn.trainers.trainer import Trained

    def work() -> dict[str, object]:
        trained = trainer.train(objective.within("trained"), random, thorough)
        return {"theta": trained.theta, "result": vars(trained.result)}

    def done(end: dict[str, Any]) -> bool:
        return end["result"]["status"] not in ENDS_ALL

    found = objective.run.once("trained", work, random, done)
    return Trained(found["theta"], TrainingResult(**found["result"]))


def _identity(objective: Objective, check_time: Callable[[], None]) -> object:
    """Return what tells the data of an objective from others.

    Files are known by their sizes and times; other data in chunks are gone through once for it.
    """
    shards = objective.shards
    if not isinstance(shards, ShardSource):
        return list(shards)
    known = shards.chunks.identity()
    if known is not None:
        return [known, shards.first]
    content = 0
    for part in shards.chunks.map(content_of, objective.n_jobs):
        content = (content + part) % 2**64
        check_time()
    return [shards.chunks.names, content, shards.first]


def survey_once(objective: Objective) -> None:
    """Let a source of chunks be gone through, unless the run has done that before.

    A checkpoint keeps how far that is, too: with many rows it takes long.
    """
    shards, run = objective.shards, objective.run
    if not isinstance(shards, ShardSource):
        return
    part = run.within("survey")

    def between() -> None:
        seen = shards.begun
        if seen is not None:
            part.save(seen.state, always=run.late())
        run.check_time()

    def work() -> list[Any]:
        saved = None if shards.surveyed else part.saved()
        if saved is not None:
            shards.resume(Survey.of_state(saved), whole=False)
        return shards.survey(between).state()

    shards.resume(Survey.of_state(run.once("survey", work)), whole=True)


def _parts(
    trainer: Trainer, objective: Objective, identity: object, random: object
) -> dict[str, str]:
    """Return what a checkpoint belongs to, by name."""
    return {
        "data": fingerprint(identity),
        "hypothesis": fingerprint(objective.hypothesis),
        "loss": fingerprint(objective.loss),
        "trainer": fingerprint(trainer, leave_out=OF_NO_CONSEQUENCE),
        "random_state": fingerprint(random),
        "version of feaslearn": str(sys.modules["feaslearn"].__version__),
    }
