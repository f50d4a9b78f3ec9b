"""Which lines a network has, learned from dispatches."""

from __future__ import annotations

from feaslearn.network.identification import Identification
from feaslearn.network.line_curve import LineCurve
from feaslearn.network.network_learner import NetworkLearner
from feaslearn.network.next_signal import NextSignal

__all__ = ["Identification", "LineCurve", "NetworkLearner", "NextSignal"]
