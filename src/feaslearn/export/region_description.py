"""The description of a region at one signal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.exceptions import EmptySetError, InfeasibleProblemError
from feaslearn.export.description import CONSTANT, Description, below, sparse
from feaslearn.export.latent_set import LatentSet, latent_set
from feaslearn.region import Region
from feaslearn.solvers.conic_form import Cone

Array = NDArray[np.float64]


def describe_region(region: Region) -> Description:
    """Return the rows of a region; refuse one that is empty or unbounded.

    Raises
    ------
    EmptySetError, UnboundedSetError
        Where a linear cost would have no minimum.
    """
    region.image.primitive.check()
    rows = _learned(region)
    if region.known is None:
        return rows
    try:
        region.minimize(np.zeros(region.n))
    except InfeasibleProblemError:
        raise EmptySetError("no decision of the region satisfies the known constraints") from None
    known = region.known
    return rows.cut(known.A, known.b[None], known.E, known.e[None])


def _learned(region: Region) -> Description:
    """Return the rows of the image; those of the decisions themselves where it is the set."""
    image, latent = region.image, latent_set(region.image.primitive)
    if latent.plain and np.array_equal(image.matrix, np.eye(image.n)) and not image.offset.any():
        empty = sp.csr_array((len(latent.h), 0))
        return Description(
            region.names, latent.H, (empty,), latent.h[None], latent.cones, np.zeros(0, dtype=bool)
        )
    return mapped(region.names, latent, [sparse(image.matrix)], image.offset[None], (CONSTANT,))


def mapped(
    names: Sequence[str],
    latent: LatentSet,
    A: Sequence[sp.csr_array],
    b: Array,
    coefficients: tuple[str, ...],
) -> Description:
    """Return the points ``sum_k w_k (A_k z + b_k)`` of the z in a set."""
    n, m = len(names), len(latent.h)
    nothing = sp.csr_array(latent.H.shape)
    rows = [latent.H, *(nothing for _ in A[1:])]
    Z = [below([-(A_k @ latent.matrix), H]) for A_k, H in zip(A, rows, strict=True)]
    r = np.hstack([b, np.zeros((len(b), m))])
    r[0, n:] = latent.h
    return Description(
        tuple(names),
        below([sparse(sp.eye_array(n)), sp.csr_array((m, n))]),
        tuple(Z),
        r,
        (Cone("zero", n), *latent.cones),
        latent.binary,
        coefficients,
    )
