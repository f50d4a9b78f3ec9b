"""One training run: its deadline, and its finished pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from feaslearn.runs.checkpoint import Checkpoint
from feaslearn.runs.deadline import Clock


class OutOfTime(Exception):
    """The time of a run is up; whoever has something to return by then catches it."""


@dataclass(frozen=True)
class Run:
    """What the parts of one run share: a clock, and a checkpoint.

    A run is resumed by running it again. Starts, folds and members have names, such as
    ``member 1/start 2``: what the checkpoint holds under a name is not done again.
    """

    clock: Clock = field(default_factory=Clock)
    checkpoint: Checkpoint | None = None
    name: str = ""

    def within(self, name: object) -> Run:
        """Return a part of the run, for work that is named on its own."""
        return replace(self, name=f"{self.name}/{name}")

    def limited(self, seconds: float | None) -> Run:
        """Return the run with a limit of its own, from now on."""
        return replace(self, clock=self.clock.part(seconds))

    def late(self) -> bool:
        """Say whether the time is up."""
        return self.clock.out()

    def ended(self) -> Literal["time limit", "interrupted"]:
        """Say how a run ended whose time is up."""
        return "interrupted" if self.clock.interrupted else "time limit"

    def check_time(self) -> None:
        """Raise `OutOfTime` if the time is up; for work that is of no use unless it is whole."""
        if self.clock.out():
            raise OutOfTime

    def cached(
        self, name: object, work: Callable[[], Any], done: Callable[[Any], bool] | None = None
    ) -> Any:
        """Return what ``work`` returns, from the checkpoint if it is finished already."""
        if self.checkpoint is None:
            return work()
        key = f"{self.name}/{name}"
        answer = self.checkpoint.get(key)
        if answer is None:
            answer = work()
            if not self.late() and (done is None or done(answer)):
                self.checkpoint.put(key, answer)
        return answer

    def __reduce__(self) -> tuple[type[Run], tuple[()]]:
        """Travel without clock and checkpoint: both belong to one process."""
        return Run, ()
