"""Baselines: models that a learned region has to beat."""

from __future__ import annotations

from feaslearn.baselines.linear_policy import LinearPolicy

__all__ = ["LinearPolicy"]
