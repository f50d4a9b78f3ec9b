"""What a training run shares: its clock."""

from __future__ import annotations

from feaslearn.runs.blas import one_blas_thread
from feaslearn.runs.deadline import OutOfTime, Run, ended_by_user, whole_or_not

__all__ = [
    "OutOfTime",
    "Run",
    "ended_by_user",
    "one_blas_thread",
    "whole_or_not",
]
