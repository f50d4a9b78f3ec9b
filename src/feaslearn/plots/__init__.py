"""Displays of fitted models, in the style of scikit-learn (extra ``plot``)."""

from __future__ import annotations

from feaslearn.plots.facets_display import FacetsDisplay
from feaslearn.plots.facets_over_time_display import FacetsOverTimeDisplay
from feaslearn.plots.learning_curve_display import LearningCurveDisplay
from feaslearn.plots.network_display import NetworkDisplay
from feaslearn.plots.prediction_display import PredictionDisplay
from feaslearn.plots.region_display import RegionDisplay
from feaslearn.plots.region_path_display import RegionPathDisplay

__all__ = [
    "FacetsDisplay",
    "FacetsOverTimeDisplay",
    "LearningCurveDisplay",
    "NetworkDisplay",
    "PredictionDisplay",
    "RegionDisplay",
    "RegionPathDisplay",
]
