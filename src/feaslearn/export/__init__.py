"""Learned regions inside other tools: modelling languages, solvers, files."""

from __future__ import annotations

from feaslearn.export.exported import Exported
from feaslearn.export.files import to_lp, to_mps
from feaslearn.export.in_cvxpy import to_cvxpy
from feaslearn.export.in_pyomo import to_pyomo
from feaslearn.export.tables import to_csv

__all__ = [
    "Exported",
    "to_csv",
    "to_cvxpy",
    "to_lp",
    "to_mps",
    "to_pyomo",
]
