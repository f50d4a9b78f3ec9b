"""Training algorithms, one per file."""

from __future__ import annotations

from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facets import FacetLearning
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.trainer import Trained, Trainer

__all__ = [
    "Annealing",
    "Convex",
    "FacetLearning",
    "Objective",
    "Trained",
    "Trainer",
]
