"""Minkowski sums: moments of the data and a small cone program, or one large conic program."""

from __future__ import annotations

from feaslearn.trainers.minkowski_fit.by_program import fit_by_program, too_large
from feaslearn.trainers.minkowski_fit.column_generation import grow
from feaslearn.trainers.minkowski_fit.fit import Fitted, MinkowskiFit
from feaslearn.trainers.minkowski_fit.penalized import Strengths
from feaslearn.trainers.minkowski_fit.remarks import remarks

__all__ = ["Fitted", "MinkowskiFit", "Strengths", "fit_by_program", "grow", "remarks", "too_large"]
