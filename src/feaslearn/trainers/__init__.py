"""Training algorithms, one per file, and one loop for all that iterate."""

from __future__ import annotations

from feaslearn.trainers import starts
from feaslearn.trainers.adaptive_smoothing import AdaptiveSmoothing
from feaslearn.trainers.annealing import Annealing
from feaslearn.trainers.automatic import Auto
from feaslearn.trainers.convex import Convex
from feaslearn.trainers.facets import FacetLearning
from feaslearn.trainers.global_search import Global
from feaslearn.trainers.gradient_descent import GradientDescent
from feaslearn.trainers.iterative import Iterate, IterativeTrainer
from feaslearn.trainers.mixed_integer import MixedInteger
from feaslearn.trainers.trainer import Trained, Trainer

__all__ = [
    "AdaptiveSmoothing",
    "Annealing",
    "Auto",
    "Convex",
    "FacetLearning",
    "Global",
    "GradientDescent",
    "Iterate",
    "IterativeTrainer",
    "MixedInteger",
    "Trained",
    "Trainer",
    "starts",
]
