"""Hypotheses: classes of regions that can be learned."""

from __future__ import annotations

from feaslearn.hypotheses.affine import Affine
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout
from feaslearn.hypotheses.map_hypothesis import MapHypothesis, Maps
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.scaled import Scaled
from feaslearn.hypotheses.term import Term
from feaslearn.hypotheses.ternary import Ternary

__all__ = [
    "Affine",
    "FacetRows",
    "Facets",
    "Hypothesis",
    "Layout",
    "MapHypothesis",
    "Maps",
    "Minkowski",
    "Scaled",
    "Term",
    "Ternary",
]
