"""What a training run shares: its clock, and the checkpoint it goes on from."""

from __future__ import annotations

from feaslearn.runs.blas import one_blas_thread
from feaslearn.runs.checkpoint import Checkpoint, as_checkpoint
from feaslearn.runs.clock import Clock
from feaslearn.runs.journal import Journal
from feaslearn.runs.run import OutOfTime, Run
from feaslearn.runs.stop import stopped_by_user

__all__ = [
    "Checkpoint",
    "Clock",
    "Journal",
    "OutOfTime",
    "Run",
    "as_checkpoint",
    "one_blas_thread",
    "stopped_by_user",
]
