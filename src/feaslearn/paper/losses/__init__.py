"""Losses of the paper: closed forms in kernels, and the programs that define them."""

from __future__ import annotations

from feaslearn.paper.losses.loss import Loss, Predictability, RowLosses, Suboptimality

__all__ = ["Loss", "Predictability", "RowLosses", "Suboptimality"]
