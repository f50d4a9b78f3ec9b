"""Losses of a decision under a learned region."""

from __future__ import annotations

from feaslearn.losses.loss import Loss, ResidualLoss, RowLosses
from feaslearn.losses.objective import Objective
from feaslearn.losses.predictability import Predictability
from feaslearn.losses.suboptimality import Suboptimality

__all__ = [
    "Loss",
    "Objective",
    "Predictability",
    "ResidualLoss",
    "RowLosses",
    "Suboptimality",
]
