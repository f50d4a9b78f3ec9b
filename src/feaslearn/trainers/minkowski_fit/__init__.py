"""Minkowski sums: moments of the data and a small cone program."""

from __future__ import annotations

from feaslearn.trainers.minkowski_fit.fit import ANOMALOUS, Fitted, MinkowskiFit, choose_scale

__all__ = [
    "ANOMALOUS",
    "Fitted",
    "MinkowskiFit",
    "choose_scale",
]
