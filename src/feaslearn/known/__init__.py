"""Constraints that the user already knows."""

from __future__ import annotations

from feaslearn.known.known_limits import Known, KnownLimits, KnownShape
from feaslearn.known.resolved_known import ResolvedKnown, resolve_known

__all__ = ["Known", "KnownLimits", "KnownShape", "ResolvedKnown", "resolve_known"]
