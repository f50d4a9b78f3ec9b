"""Classes whose training problem has integers in it."""

from __future__ import annotations

from feaslearn.trainers.mixed_integer.mixed_integer import MixedInteger

__all__ = ["MixedInteger"]
