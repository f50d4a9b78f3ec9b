"""Pictures of fitted models, in the style of scikit-learn's displays (extra ``plot``)."""

from __future__ import annotations

from feaslearn.plots.facets_display import FacetsDisplay

__all__ = ["FacetsDisplay"]
