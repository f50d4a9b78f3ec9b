"""The estimator: learns a region from signals and decisions, predicts decisions."""

from __future__ import annotations

from feaslearn.regressor.exactness import Verdict, consistency
from feaslearn.regressor.explanation import Explanation, Limit, Outside
from feaslearn.regressor.facet_table import FacetTable, LearnedFacet
from feaslearn.regressor.region_regressor import RegionRegressor
from feaslearn.regressor.uncertainty import Bands, Bootstrap

__all__ = [
    "Bands",
    "Bootstrap",
    "Explanation",
    "FacetTable",
    "LearnedFacet",
    "Limit",
    "Outside",
    "RegionRegressor",
    "Verdict",
    "consistency",
]
