"""What a search with a lower bound hands back, and writes down on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.results import Status
from feaslearn.runs import Clock

Callback = Callable[[int, float, float], object]


class Found(NamedTuple):
    """Parameters, how the search ended, a lower bound of the loss, and the steps it took."""

    theta: NDArray[np.float64]
    status: Status
    lower_bound: float
    steps: int
    history: dict[str, list[float]]


class Watch:
    """Writes down where a search stands, and asks the user's callback whether to go on.

    Parameters
    ----------
    clock : Clock
        The clock of the search.
    callback : callable or None
        Called with the step, the lower bound and the loss; a true answer stops the search.
    """

    def __init__(self, clock: Clock, callback: Callback | None) -> None:
        self._clock, self._callback = clock, callback
        #: What a loss of one is in the units of the user.
        self.unit = 1.0
        self.history: dict[str, list[float]] = {"seconds": [], "loss": [], "lower bound": []}

    def stops(self, step: int, bound: float, loss: float) -> bool:
        """Note bound and loss; say whether the user wants to stop."""
        self.note(bound, loss)
        if self._callback is None:
            return False
        return bool(self._callback(step, self.unit * bound, self.unit * loss))

    def note(self, bound: float, loss: float) -> None:
        """Write down bound and loss where they have changed."""
        bound, loss = self.unit * bound, self.unit * loss
        last = [self.history[name][-1:] for name in ("loss", "lower bound")]
        if last != [[loss], [bound]]:
            row = {"seconds": self._clock.seconds, "loss": loss, "lower bound": bound}
            for name, value in row.items():
                self.history[name].append(value)
