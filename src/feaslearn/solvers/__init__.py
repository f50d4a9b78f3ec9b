"""Solvers: small kernels, HiGHS, Clarabel, active sets, SCIP and Gurobi."""

from __future__ import annotations
