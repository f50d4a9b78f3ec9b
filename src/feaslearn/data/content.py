"""A number that tells the rows of a source from others, whatever pieces they come in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data.chunk import Chunk

Bits = NDArray[np.uint64]

#: Odd numbers whose multiples are spread over all of 64 bits, and how far digits are moved.
SPREAD, STIR, MOVED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29)


def content_of(chunk: Chunk) -> int:
    """Return a number of 64 bits for the rows of a chunk and their places in the source.

    Modulo 2**64, those of several chunks add up to that of all their rows.
    """
    columns = [chunk.signals, chunk.decisions, chunk.weights[:, None]]
    table = np.hstack(columns).astype(np.float64, copy=False)
    bits = np.ascontiguousarray(table).view(np.uint64)
    rows = _mixed(bits + SPREAD * _numbers(0, bits.shape[1])).sum(axis=1, dtype=np.uint64)
    places = _mixed(SPREAD * _numbers(chunk.first, len(rows)))
    return int(_mixed(rows + places).sum(dtype=np.uint64))


def _numbers(first: int, count: int) -> Bits:
    return np.arange(first + 1, first + 1 + count, dtype=np.uint64)


def _mixed(bits: Bits) -> Bits:
    """Let every digit depend on all: numbers with few digits differ in few."""
    bits = (bits ^ (bits >> MOVED)) * STIR
    bits = (bits ^ (bits >> MOVED)) * SPREAD
    return bits ^ (bits >> MOVED)
