"""Where iterative trainers begin, one strategy per file."""

from __future__ import annotations

from feaslearn.trainers.starts.minkowski_start import GivenStart, MinkowskiStart
from feaslearn.trainers.starts.start import DataStart, KMeansStart, LinearStart, RandomStart, Start

__all__ = [
    "DataStart",
    "GivenStart",
    "KMeansStart",
    "LinearStart",
    "MinkowskiStart",
    "RandomStart",
    "Start",
]
