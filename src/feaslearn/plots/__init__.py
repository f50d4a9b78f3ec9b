"""Displays of fitted models, in the style of scikit-learn (extra ``plot``)."""

from __future__ import annotations

from feaslearn.plots.facets_display import FacetsDisplay
from feaslearn.plots.region_display import RegionDisplay

__all__ = [
    "FacetsDisplay",
    "RegionDisplay",
]
