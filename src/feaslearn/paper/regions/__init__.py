"""Regions: affine images of conic sets, equation (7)."""

from __future__ import annotations

from feaslearn.paper.regions.image import Image
from feaslearn.paper.regions.maps import Affine, Layout, MapClass, Maps, Scaled, Ternary
from feaslearn.sets.conic_set import ConicSet
from feaslearn.solvers.conic_form import Cone, ConicForm

__all__ = [
    "Affine",
    "Cone",
    "ConicForm",
    "ConicSet",
    "Image",
    "Layout",
    "MapClass",
    "Maps",
    "Scaled",
    "Ternary",
]
