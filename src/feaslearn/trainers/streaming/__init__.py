"""Training that goes on with every new chunk of samples, and says when they no longer fit."""

from __future__ import annotations

from feaslearn.trainers.streaming.streaming import Streaming, told_of_drift
from feaslearn.trainers.streaming.streams import AffineStream, DriftTest, MomentStream, Stream

__all__ = ["AffineStream", "DriftTest", "MomentStream", "Stream", "Streaming", "told_of_drift"]
