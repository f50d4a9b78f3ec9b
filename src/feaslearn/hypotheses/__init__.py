"""Hypotheses: classes of regions that can be learned."""

from __future__ import annotations

from feaslearn.hypotheses.affine import Affine, Maps
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.hypothesis import Hypothesis, Layout
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term import Term

__all__ = [
    "Affine",
    "FacetRows",
    "Facets",
    "Hypothesis",
    "Layout",
    "Maps",
    "Minkowski",
    "Term",
]
