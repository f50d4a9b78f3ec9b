"""Problem 2 of section 5.2: which lines a power network has, and which of them the data tell."""

from __future__ import annotations

from feaslearn.paper.network.learn import LearnedNetwork, learn_network
from feaslearn.paper.network.transport import TransportNetwork

__all__ = ["LearnedNetwork", "TransportNetwork", "learn_network"]
