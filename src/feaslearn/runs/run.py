"""One training run: how long it may take, and what of it is done already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from feaslearn.runs.clock import Clock
from feaslearn.runs.generators import restore_state, state_of
from feaslearn.runs.journal import Journal

Array = NDArray[np.float64]
#: What the state of a loop is called among the work of its part.
AT = "at"
Point = TypeVar("Point")


class OutOfTime(Exception):
    """The time of a run is up; whoever has something to return by then catches it."""


@dataclass(frozen=True)
class Run:
    """What the parts of one run share: a clock, and a journal of what is done.

    A run is resumed by running it again. Work goes by names, such as ``start 2/stage 1``: what
    the journal knows under a name is not done again. So work that is named must depend on nothing
    but the problem and on random numbers that it is given.

    Parameters
    ----------
    clock : Clock
        How much time is left.
    journal : Journal or None, default=None
        What is done; None where nobody asked for a checkpoint.
    name : str, default=""
        What part of the run this is.
    """

    clock: Clock = field(default_factory=Clock)
    journal: Journal | None = None
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

    def once(
        self,
        name: object,
        work: Callable[[], Any],
        random: np.random.Generator | None = None,
        done: Callable[[Any], bool] | None = None,
    ) -> Any:
        """Return what ``work`` returns, from the journal if it is done already.

        Parameters
        ----------
        name : object
            What the work is called within this part.
        work : callable
            Returns a tree of dicts, lists, arrays, numbers and texts.
        random : numpy.random.Generator, optional
            What the work draws from: left in the state in which the work leaves it.
        done : callable, optional
            Says of an answer whether the work came to its end. What the clock cut short never did.

        Returns
        -------
        object
            The answer; tuples come back as lists.
        """
        if self.journal is None:
            return work()
        key = f"{self.name}/{name}"
        known = self.journal.get(key)
        if known is not None:
            if random is not None:
                restore_state(random, known["random"])
            return known["answer"]
        answer = work()
        if not self.late() and (done is None or done(answer)):
            drawn = None if random is None else state_of(random)
            self.journal.put(key, {"answer": answer, "random": drawn}, covers=key)
        return answer

    def saved(self) -> Any:
        """Return where a loop stood that this part is, None if it is to begin."""
        return None if self.journal is None else self.journal.get(f"{self.name}/{AT}")

    def save(self, state: Callable[[], Any], *, always: bool = False) -> None:
        """Keep where a loop stands, if it is time to write that down.

        Parameters
        ----------
        state : callable
            Returns a tree of dicts, lists, arrays, numbers and texts.
        always : bool, default=False
            Whether to keep it even if it is not time: the loop is left.
        """
        key = f"{self.name}/{AT}"
        if self.journal is not None and (self.journal.wanted(key) or always):
            self.journal.put(key, state(), covers=self.name)

    def recorded(
        self, name: object, evaluate: Callable[[Point], tuple[float, Array]]
    ) -> Callable[[Point], tuple[float, Array]]:
        """Return a function whose values are written down, in the order in which it is called.

        A method that is run again asks for the same values in the same order: it gets those that
        are known, and goes on from there.
        """
        journal, key = self.journal, f"{self.name}/{name}"
        if journal is None:
            return evaluate
        known: list[Any] = journal.get(key) or []
        asked = 0

        def answer(point: Point) -> tuple[float, Array]:
            nonlocal asked
            asked += 1
            if asked <= len(known):
                value, slope = known[asked - 1]
                return float(value), slope
            value, slope = evaluate(point)
            known.append((value, slope.copy()))
            if journal.wanted(key):
                journal.put(key, list(known))
            return value, slope

        return answer

    def __reduce__(self) -> tuple[type[Run], tuple[()]]:
        """Travel without clock and journal: both belong to one process."""
        return Run, ()
