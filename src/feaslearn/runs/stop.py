"""Ctrl-C: the first ends a fit as its time limit would, with the best model so far."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

logger = logging.getLogger("feaslearn")


@dataclass
class Stop:
    """Whether the user wants what there is; all clocks of a fit share one."""

    wanted: bool = False


_current: ContextVar[Stop | None] = ContextVar("stop", default=None)


def current_stop() -> Stop | None:
    """Return what the clocks of the fit that is under way share, if one is."""
    return _current.get()


@contextlib.contextmanager
def stopped_by_user() -> Iterator[Stop]:
    """Let the first Ctrl-C be the end of the time, and the second a `KeyboardInterrupt`.

    An exception in the midst of anything would lose what there is; that the time is up is looked
    at where there is something to return. Only the main thread hears of Ctrl-C, and only where
    nobody else has asked for it. Fits within a fit belong to it.
    """
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
