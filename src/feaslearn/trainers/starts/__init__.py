"""Where iterative trainers begin, one strategy per file."""

from __future__ import annotations

from feaslearn.trainers.starts.data_start import DataStart
from feaslearn.trainers.starts.given_start import GivenStart
from feaslearn.trainers.starts.k_means_start import KMeansStart
from feaslearn.trainers.starts.linear_start import LinearStart
from feaslearn.trainers.starts.minkowski_start import MinkowskiStart
from feaslearn.trainers.starts.random_start import RandomStart
from feaslearn.trainers.starts.start import Start

__all__ = [
    "DataStart",
    "GivenStart",
    "KMeansStart",
    "LinearStart",
    "MinkowskiStart",
    "RandomStart",
    "Start",
]
