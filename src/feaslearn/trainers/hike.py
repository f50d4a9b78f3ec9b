"""What the walks of one search have in common."""

from __future__ import annotations

import threading

from feaslearn.trainers.progress import ProgressBar
from feaslearn.trainers.walk import Walk


class Hike:
    """What the walks of one search share: the progress bar, and the sign to stop."""

    def __init__(self, walks: list[Walk], bar: ProgressBar) -> None:
        self.walks = walks
        self.over = threading.Event()
        self._bar = bar
        self._lock = threading.Lock()

    def show(self) -> None:
        """Move the progress bar to the steps of all walks together."""
        with self._lock:
            done = sum(walk.steps for walk in self.walks)
            self._bar.update(done, f"loss {self.least():.4g}")

    def least(self) -> float:
        """Return the least loss of all walks so far."""
        return min(walk.loss for walk in self.walks)
