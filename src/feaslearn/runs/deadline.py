"""The deadline of a run: a limit on its time, or Ctrl-C.

The first Ctrl-C ends a fit as its deadline would, with the best model so far.
"""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

logger = logging.getLogger("feaslearn")


@dataclass
class Stop:
    """Whether the user wants the best so far; all runs of a fit share one."""

    wanted: bool = False


_current: ContextVar[Stop | None] = ContextVar("stop", default=None)


class OutOfTime(Exception):
    """The time of a run is up; whoever has something to return by then catches it."""


class Run:
    """A run and its deadline, from when it is made; without a limit there is none but Ctrl-C."""

    def __init__(self, max_seconds: float | None = None) -> None:
        self._began = time.monotonic()
        self._end = math.inf if max_seconds is None else self._began + float(max_seconds)
        self._stop = _current.get() or Stop()

    def __reduce__(self) -> tuple[type[Run], tuple[()]]:
        """Travel without the clock, which belongs to one process."""
        return Run, ()

    @property
    def seconds(self) -> float:
        """Seconds gone by."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds left, at least zero."""
        return 0.0 if self._stop.wanted else max(0.0, self._end - time.monotonic())

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self._stop.wanted

    def late(self) -> bool:
        """Say whether the deadline has passed."""
        return self._stop.wanted or time.monotonic() >= self._end

    def check_time(self) -> None:
        """Raise `OutOfTime` if the time is up; for work that is of no use unless it is whole."""
        if self.late():
            raise OutOfTime

    def ended(self) -> Literal["time limit", "interrupted"]:
        """Say how a run ended whose time is up."""
        return "interrupted" if self.interrupted else "time limit"

    def interrupt(self) -> None:
        """Let the deadline of the whole run be now: the user wants the best so far."""
        self._stop.wanted = True

    def part(self, seconds: float | None = None) -> Run:
        """Return a run that begins now, and ends with this one or sooner."""
        run = Run(seconds)
        run._end, run._stop = min(run._end, self._end), self._stop
        return run


@contextlib.contextmanager
def stopped_by_user() -> Iterator[Stop]:
    """Let the first Ctrl-C be the deadline, and the second a `KeyboardInterrupt`."""
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    stop = Stop()
    token = _current.set(stop)
    try:
        with _noticed(stop):
            yield stop
    finally:
        _current.reset(token)


@contextlib.contextmanager
def _noticed(stop: Stop) -> Iterator[None]:
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def press(*_: object) -> None:
        if stop.wanted:
            raise KeyboardInterrupt
        stop.wanted = True
        # A handler may come in the midst of another message.
        with contextlib.suppress(RuntimeError):
            logger.warning(
                "interrupted: the best model so far is returned; Ctrl-C again gives it up"
            )

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# A fit comes to its end, or leaves the model as it was.


@contextmanager
def whole_or_not(model: object) -> Iterator[None]:
    """Let a fit that fails or is given up leave what was fitted before, not half of each."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        model.__dict__ = before
        raise


@contextmanager
def ended_by_user() -> Iterator[None]:
    """Let Ctrl-C end a fit with the best model so far; where there is none, it is what it was."""
    with stopped_by_user() as stop:
        try:
            yield
        except OutOfTime:
            if stop.wanted:
                raise KeyboardInterrupt from None
            raise
