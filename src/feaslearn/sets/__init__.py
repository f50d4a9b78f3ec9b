"""Primitive sets Z, one geometry per file."""

from __future__ import annotations

from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.box import Box
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.hypersimplex import Hypersimplex
from feaslearn.sets.l1_ball import L1Ball
from feaslearn.sets.l2_ball import L2Ball
from feaslearn.sets.polytope import Polytope
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.simplex import Simplex

__all__ = [
    "AffineImage",
    "Box",
    "HalfSpaces",
    "Hypersimplex",
    "L1Ball",
    "L2Ball",
    "Polytope",
    "PrimitiveSet",
    "Simplex",
]
