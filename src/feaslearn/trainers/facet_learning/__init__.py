"""Learning half-spaces from "every cheaper point must be infeasible"."""

from __future__ import annotations

from feaslearn.trainers.facet_learning.facet_learning import FacetLearning

__all__ = ["FacetLearning"]
