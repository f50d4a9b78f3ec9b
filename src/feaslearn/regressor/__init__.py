"""The estimator: learns a region from signals and decisions, predicts decisions."""

from __future__ import annotations

from feaslearn.inference.bands import Bands
from feaslearn.inference.bootstrap import Bootstrap
from feaslearn.inference.consistency import consistency
from feaslearn.inference.explanation import Explanation, Limit, Outside
from feaslearn.inference.trust import Trust
from feaslearn.inference.verdict import Verdict
from feaslearn.regressor.facet_table import FacetTable, LearnedFacet
from feaslearn.regressor.region_regressor import RegionRegressor

__all__ = [
    "Bands",
    "Bootstrap",
    "Explanation",
    "FacetTable",
    "LearnedFacet",
    "Limit",
    "Outside",
    "RegionRegressor",
    "Trust",
    "Verdict",
    "consistency",
]
