"""Regions: affine images of conic sets, equation (7)."""

from __future__ import annotations

from feaslearn.paper.regions.cones import Cone, ConicForm
from feaslearn.paper.regions.conic_set import ConicSet
from feaslearn.paper.regions.image import Image
from feaslearn.paper.regions.maps import Affine, Layout, MapClass, Maps, Scaled, Ternary

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
