"""The estimator: learns a region from signals and decisions, predicts decisions."""

from __future__ import annotations

from feaslearn.regressor.exactness import Verdict, consistency
from feaslearn.regressor.facet_table import FacetTable, LearnedFacet
from feaslearn.regressor.region_regressor import RegionRegressor

__all__ = ["FacetTable", "LearnedFacet", "RegionRegressor", "Verdict", "consistency"]
