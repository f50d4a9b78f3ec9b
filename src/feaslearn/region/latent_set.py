"""Primitive sets as rows that solvers take: few of them, in simple cones."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array
from feaslearn.exceptions import UnsupportedError
from feaslearn.sets.box import Box
from feaslearn.sets.l1_ball import L1Ball
from feaslearn.sets.l2_ball import L2Ball
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.product import Product
from feaslearn.sets.simplex import Simplex
from feaslearn.solvers.conic_form import Cone


class LatentSet(NamedTuple):
    r"""The set :math:`\{M z : H z - h \in K\}`."""

    H: sp.csr_array
    h: Array
    cones: tuple[Cone, ...]
    matrix: sp.csr_array


@singledispatch
def latent_set(primitive: PrimitiveSet) -> LatentSet:
    """Return the rows of a primitive set, those of its conic form by default."""
    refuse_binary(primitive)
    if isinstance(primitive, L2Ball) and primitive.dimension == 1:
        primitive = Box(1)  # an interval needs no cone
    form = primitive.conic_form()
    if any(cone.kind == "semidefinite" for cone in form.cones):
        raise UnsupportedError("rows of a region stand in linear and second-order cones alone")
    same = sp.csr_array(sp.eye_array(form.H.shape[1]))
    return LatentSet(sp.csr_array(form.H), form.h, form.cones, same)


def refuse_binary(primitive: PrimitiveSet) -> None:
    """Refuse a set of points alone, without their mixtures."""
    if primitive.discrete:
        raise UnsupportedError(
            f"{primitive!r} holds points alone, and regions are convex: leave binary out, which "
            "gives the same minimisers, or learn it with feaslearn.paper"
        )


@latent_set.register
def _(primitive: L1Ball) -> LatentSet:
    """Mix the 2p corners: the conic form has ``2^p`` rows."""
    mixture = latent_set(Simplex(2 * primitive.dimension))
    return mixture._replace(matrix=sp.csr_array(primitive.vertices(2 * primitive.dimension).T))


@latent_set.register
def _(primitive: Product) -> LatentSet:
    """Put the factors' rows block by block; a large product has few numbers that are not zero."""
    parts = [latent_set(factor) for factor in primitive.sets]
    return LatentSet(
        sp.csr_array(sp.block_diag([part.H for part in parts])),
        np.concatenate([part.h for part in parts]),
        tuple(cone for part in parts for cone in part.cones),
        sp.csr_array(sp.block_diag([part.matrix for part in parts])),
    )
