"""The description of a weighted sum of regions that are described already."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from feaslearn.export.description import Description, below, beside, sparse
from feaslearn.sets.conic_form import Cone


def blended(
    names: tuple[str, ...],
    features: tuple[str, ...],
    weights: list[float],
    members: list[Description],
) -> Description:
    """Return ``x = sum_t weight_t x_t`` with each x_t in a region.

    The members share the coefficients that are features; each has its own after them.
    """
    n, k = len(names), len(features)
    extra = [len(member.coefficients) - k for member in members]
    starts = np.cumsum([k, *extra])
    count, m = int(starts[-1]), sum(len(member.r[0]) for member in members)
    r = np.zeros((count, n + m))
    blocks: list[list[sp.csr_array]] = [[] for _ in range(count)]
    row = n
    for t, member in enumerate(members):
        size = len(member.r[0])
        places = [*range(k), *range(int(starts[t]), int(starts[t + 1]))]
        r[places, row : row + size] = member.r
        row += size
        # The decisions of a member are latent variables of the blend, before its own.
        own = {
            j: beside([member.X if j == 0 else sp.csr_array(member.X.shape), Z])
            for j, Z in zip(places, member.Z, strict=True)
        }
        for j in range(count):
            blocks[j].append(own.get(j, sp.csr_array((size, n + member.p))))
    mix = beside(
        [
            beside([weight * sparse(sp.eye_array(n)), sp.csr_array((n, member.p))])
            for weight, member in zip(weights, members, strict=True)
        ]
    )
    bodies = [sparse(sp.block_diag(each)) for each in blocks]
    Z = [
        below([-mix if j == 0 else sp.csr_array(mix.shape), body]) for j, body in enumerate(bodies)
    ]
    own_names = [
        f"member {t}: {name}"
        for t, member in enumerate(members)
        for name in member.coefficients[k:]
    ]
    return Description(
        names,
        below([sparse(sp.eye_array(n)), sp.csr_array((m, n))]),
        tuple(Z),
        r,
        (Cone("zero", n), *(cone for member in members for cone in member.cones)),
        np.concatenate([np.append(np.zeros(n, dtype=bool), member.binary) for member in members]),
        (*features, *own_names),
    )
