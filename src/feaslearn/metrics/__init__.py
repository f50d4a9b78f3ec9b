"""Metrics: the paper's four losses, and the loss of the returned decision."""

from __future__ import annotations

from feaslearn.metrics.evaluation import LABELS, Evaluation, Mean, evaluate, pooled_r2
from feaslearn.metrics.scorers import neg_predictability, neg_returned_loss, neg_suboptimality

__all__ = [
    "LABELS",
    "Evaluation",
    "Mean",
    "evaluate",
    "neg_predictability",
    "neg_returned_loss",
    "neg_suboptimality",
    "pooled_r2",
]
