"""What a search with a lower bound hands back, and the clock it works by."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.results import Status


class Found(NamedTuple):
    """Parameters, how the search ended, a lower bound of the loss, and the steps it took."""

    theta: NDArray[np.float64]
    status: Status
    lower_bound: float
    steps: int


class Clock:
    """Counts from when it is made; without a limit there is no end.

    Parameters
    ----------
    max_seconds : float or None
        The limit.
    """

    def __init__(self, max_seconds: float | None) -> None:
        self._began = time.monotonic()
        self._limit = np.inf if max_seconds is None else float(max_seconds)

    @property
    def seconds(self) -> float:
        """Seconds gone by."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds left, at least zero."""
        return max(0.0, self._limit - self.seconds)

    def out(self) -> bool:
        """Say whether the time is up."""
        return self.left == 0.0
