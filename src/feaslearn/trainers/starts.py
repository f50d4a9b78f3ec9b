"""Where iterative trainers begin: the public names."""

from __future__ import annotations

from feaslearn.trainers.start_strategies import (
    DataStart,
    GivenStart,
    KMeansStart,
    LinearStart,
    MinkowskiStart,
    RandomStart,
    Start,
)

__all__ = [
    "DataStart",
    "GivenStart",
    "KMeansStart",
    "LinearStart",
    "MinkowskiStart",
    "RandomStart",
    "Start",
]
