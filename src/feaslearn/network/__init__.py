"""Lines of a network, learned from dispatches."""

from __future__ import annotations

from feaslearn.network.identify import Identification, LineCurve, NextSignal
from feaslearn.network.learner import NetworkLearner

__all__ = ["Identification", "LineCurve", "NetworkLearner", "NextSignal"]
