"""Metrics of the decisions that a model returns."""

from __future__ import annotations

from feaslearn.metrics.evaluation import Evaluation, Mean, evaluate, pooled_r2
from feaslearn.metrics.scorers import neg_returned_loss

__all__ = [
    "Evaluation",
    "Mean",
    "evaluate",
    "neg_returned_loss",
    "pooled_r2",
]
