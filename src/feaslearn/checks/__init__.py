"""Checks that users run on their own hypotheses, sets, losses and trainers."""

from __future__ import annotations

from feaslearn.checks.gradient import check_gradient
from feaslearn.checks.hypothesis import check_hypothesis
from feaslearn.checks.loss import check_loss
from feaslearn.checks.primitive_set import check_primitive_set
from feaslearn.checks.trainer import check_trainer

__all__ = [
    "check_gradient",
    "check_hypothesis",
    "check_loss",
    "check_primitive_set",
    "check_trainer",
]
