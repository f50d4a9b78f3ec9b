"""Baselines: models that a learned region has to beat."""

from __future__ import annotations

from feaslearn.baselines.linear_policy import LinearPolicy
from feaslearn.baselines.nearest_vertices import NearestVertices
from feaslearn.baselines.quadratic_cost import QuadraticCost
from feaslearn.network.enumeration import EnumeratedNetwork

__all__ = ["EnumeratedNetwork", "LinearPolicy", "NearestVertices", "QuadraticCost"]
