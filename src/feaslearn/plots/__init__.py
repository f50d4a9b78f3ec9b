"""Pictures of fitted models, in the style of scikit-learn's displays (extra ``plot``)."""

from __future__ import annotations

from feaslearn.plots.facets_display import FacetsDisplay
from feaslearn.plots.network_display import NetworkDisplay

__all__ = ["FacetsDisplay", "NetworkDisplay"]
