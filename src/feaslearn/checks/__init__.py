"""Checks that users run on their own sets, losses and hypotheses."""

from __future__ import annotations

from feaslearn.checks.gradient import check_gradient
from feaslearn.checks.primitive_set import check_primitive_set

__all__ = ["check_gradient", "check_primitive_set"]
