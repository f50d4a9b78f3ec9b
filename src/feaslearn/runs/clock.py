"""How much time has gone by, and how much is left."""

from __future__ import annotations

import math
import time

from feaslearn.runs.stop import Stop, current_stop


class Clock:
    """Counts from when it is made; without a limit there is no end.

    Parameters
    ----------
    max_seconds : float or None, default=None
        The limit.

    Examples
    --------
    >>> from feaslearn.runs import Clock
    >>> Clock().out(), Clock(0.0).out()
    (False, True)
    """

    def __init__(self, max_seconds: float | None = None) -> None:
        self._began = time.monotonic()
        self._end = math.inf if max_seconds is None else self._began + float(max_seconds)
        self._stop = current_stop() or Stop()

    @property
    def seconds(self) -> float:
        """Seconds gone by."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds left, at least zero."""
        return 0.0 if self._stop.wanted else max(0.0, self._end - time.monotonic())

    @property
    def limited(self) -> bool:
        """Whether there is a limit, or the user has set one now."""
        return self._end < math.inf or self._stop.wanted

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return self._stop.wanted

    def out(self) -> bool:
        """Say whether the time is up."""
        return self._stop.wanted or time.monotonic() >= self._end

    def interrupt(self) -> None:
        """Let the time of the whole run be up: the user wants what there is."""
        self._stop.wanted = True

    def part(self, seconds: float | None = None) -> Clock:
        """Return a clock that begins now, and ends with this one or sooner."""
        limit = math.inf if seconds is None else float(seconds)
        clock = Clock(min(limit, self.left))
        clock._end, clock._stop = min(clock._end, self._end), self._stop
        return clock
