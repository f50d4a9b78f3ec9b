"""Training that goes on with every new chunk of samples, and says when they no longer fit."""

from __future__ import annotations

from feaslearn.trainers.streaming.drift_test import DriftTest
from feaslearn.trainers.streaming.moment_stream import AffineStream, MomentStream
from feaslearn.trainers.streaming.stream import Stream
from feaslearn.trainers.streaming.streaming import Streaming, told_of_drift

__all__ = ["AffineStream", "DriftTest", "MomentStream", "Stream", "Streaming", "told_of_drift"]
