"""The paper's programs in CVXPY, one file for each, to be read beside the equations."""

from __future__ import annotations

from feaslearn.formulations.batch import losses_by_program
from feaslearn.formulations.minkowski import MinkowskiProgram, ProgramAnswer, ProgramRows
from feaslearn.formulations.predictability import PredictabilityProgram
from feaslearn.formulations.program import PairSolution
from feaslearn.formulations.suboptimality import SuboptimalityProgram

__all__ = [
    "MinkowskiProgram",
    "PairSolution",
    "PredictabilityProgram",
    "ProgramAnswer",
    "ProgramRows",
    "SuboptimalityProgram",
    "losses_by_program",
]
