"""Training that continues with every new chunk of samples, and detects drift."""

from __future__ import annotations

from feaslearn.trainers.streaming.streaming import Streaming
from feaslearn.trainers.streaming.streams import AffineStream, DriftTest, MomentStream, Stream

__all__ = ["AffineStream", "DriftTest", "MomentStream", "Stream", "Streaming"]
