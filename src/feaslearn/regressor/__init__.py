"""The estimator: learns a region from signals and decisions, predicts decisions."""

from __future__ import annotations

from feaslearn.inference.conformal import Bands
from feaslearn.inference.trust import Trust
from feaslearn.regressor.explanation import Explanation, Limit, Outside
from feaslearn.regressor.facet_table import FacetTable, LearnedFacet
from feaslearn.regressor.region_regressor import RegionRegressor

__all__ = [
    "Bands",
    "Explanation",
    "FacetTable",
    "LearnedFacet",
    "Limit",
    "Outside",
    "RegionRegressor",
    "Trust",
]
