"""Facets: the constraints themselves, from optimal decisions."""

from __future__ import annotations

from feaslearn.trainers.facets.facet_learning import FacetLearning
from feaslearn.trainers.facets.learn import learn_facets
from feaslearn.trainers.facets.rows import Learned, Task

__all__ = ["FacetLearning", "Learned", "Task", "learn_facets"]
