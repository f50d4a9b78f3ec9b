"""Where the first pass over data in chunks stands, so that it can go on after a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import ShardSource
from feaslearn.data.survey import Survey
from feaslearn.runs import Run
from feaslearn.trainers.minkowski_fit.moments import Moments

Array = NDArray[np.float64]


class FirstPass:
    """The sums so far, and the rows that are in them.

    Parameters
    ----------
    shards : object
        The samples; only those of a `ShardSource` that was never gone through are resumed.
    run : Run
        Keeps where the pass stands.
    k : int
        Number of features.

    Attributes
    ----------
    parts : dict of int to Moments
        The moments of each fold.
    low, high : ndarray of shape (k,)
        Least and greatest features.
    done : int
        Rows that were added up.
    """

    def __init__(self, shards: object, run: Run, k: int) -> None:
        self.parts: dict[int, Moments] = {}
        self.low, self.high = np.full(k, np.inf), np.full(k, -np.inf)
        self.done = 0
        self._run = run.within("moments")
        self._source = shards if isinstance(shards, ShardSource) else None
        self._seen: Survey | None = None
        if self._source is None or self._source.surveyed:
            self._source = None
            return
        saved = self._run.saved()
        if saved is not None:
            self.parts = {int(f): Moments(*state) for f, state in saved["parts"].items()}
            self.low, self.high, self.done = saved["low"], saved["high"], saved["done"]
            self._seen = Survey.of_state(saved["survey"])
            self._source.resume(self._seen, whole=False)

    def save(self) -> None:
        """Keep where the pass stands, if the chunk before is all in the sums.

        That is so when the first answer of another chunk has come and is not added yet.
        """
        if self._source is None or self._source.begun is self._seen:
            return
        seen, self._seen = self._seen, self._source.begun
        if seen is not None:
            survey = seen.state()
            self._run.save(lambda: self._state(survey))

    def _state(self, survey: list[Any]) -> dict[str, Any]:
        return {
            "parts": {str(fold): list(moments) for fold, moments in self.parts.items()},
            "low": self.low,
            "high": self.high,
            "done": self.done,
            "survey": survey,
        }
