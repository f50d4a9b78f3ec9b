"""Programs of the paper in CVXPY, to be read beside its equations."""

from __future__ import annotations

from feaslearn.formulations.batch import (
    PredictabilityProgram,
    SuboptimalityProgram,
    losses_by_program,
)
from feaslearn.formulations.minkowski import MinkowskiProgram, ProgramAnswer, ProgramRows
from feaslearn.formulations.program import PairSolution
from feaslearn.formulations.smoothed_program import (
    SmoothedPredictability,
    SmoothedProgram,
    SmoothedSolution,
    SmoothedSuboptimality,
)

__all__ = [
    "MinkowskiProgram",
    "PairSolution",
    "PredictabilityProgram",
    "ProgramAnswer",
    "ProgramRows",
    "SmoothedPredictability",
    "SmoothedProgram",
    "SmoothedSolution",
    "SmoothedSuboptimality",
    "SuboptimalityProgram",
    "losses_by_program",
]
