"""A part of data that are read piece by piece."""

from __future__ import annotations

from typing import NamedTuple

from feaslearn.costs import FloatArray


class Chunk(NamedTuple):
    """Some rows of a source, one after the other in it, checked.

    Parameters
    ----------
    signals : array of shape (N, K)
        The signals, finite.
    decisions : array of shape (N, n)
        The decisions; NaN means unobserved.
    weights : array of shape (N,)
        The weights of the samples as they were given, or ones.
    first : int
        The number of the first row in the whole source; the first row of all has number 0.
    place : str
        Where the rows stand, for the messages: a file, a partition.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.data import Chunk
    >>> chunk = Chunk(np.ones((5, 2)), np.ones((5, 1)), np.ones(5), first=20, place="a.parquet")
    >>> chunk.rows(3, 9).first, chunk.rows(3, 9).n_rows
    (23, 2)
    """

    signals: FloatArray
    decisions: FloatArray
    weights: FloatArray
    first: int = 0
    place: str = ""

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.weights)

    def rows(self, start: int, stop: int) -> Chunk:
        """Return some rows of the chunk, as views."""
        chosen = slice(start, stop)
        return Chunk(
            self.signals[chosen],
            self.decisions[chosen],
            self.weights[chosen],
            self.first + start,
            self.place,
        )
