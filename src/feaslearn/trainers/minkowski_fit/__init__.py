"""Minkowski sums: moments of the data and a small cone program, or one large conic program."""

from __future__ import annotations

from feaslearn.trainers.minkowski_fit.fit import ANOMALOUS, Fitted, MinkowskiFit, choose_scale
from feaslearn.trainers.minkowski_fit.penalized import Penalties
from feaslearn.trainers.minkowski_fit.programs import by_other_loss, term_warnings, with_ties

__all__ = [
    "ANOMALOUS",
    "Fitted",
    "MinkowskiFit",
    "Penalties",
    "by_other_loss",
    "choose_scale",
    "term_warnings",
    "with_ties",
]
