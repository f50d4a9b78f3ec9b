"""Learned regions inside other tools: modelling languages, solvers, files."""

from __future__ import annotations

from feaslearn.export.exported import Exported
from feaslearn.export.files import to_lp, to_mps
from feaslearn.export.in_cvxpy import to_cvxpy
from feaslearn.export.in_gurobipy import to_gurobipy
from feaslearn.export.in_linopy import to_linopy
from feaslearn.export.in_pyomo import to_pyomo
from feaslearn.export.tables import to_csv
from feaslearn.export.verification import Verification, verify

__all__ = [
    "Exported",
    "Verification",
    "to_csv",
    "to_cvxpy",
    "to_gurobipy",
    "to_linopy",
    "to_lp",
    "to_mps",
    "to_pyomo",
    "verify",
]
