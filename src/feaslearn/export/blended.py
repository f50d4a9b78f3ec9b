"""The description of a weighted sum of regions that are described already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.export.description import Description, below, beside, sparse
from feaslearn.sets.conic_form import Cone

Array = NDArray[np.float64]


def blended(
    names: tuple[str, ...],
    k: int,
    maps: Sequence[Array],
    members: Sequence[Description],
    offset: Array | None = None,
) -> Description:
    """Return ``x = sum_t M_t x_t + sum_k w_k o_k`` with each x_t in a region.

    The members share their first k coefficients; each has its own after them, which stand one
    after the other here. The offset is (k, n).
    """
    n = len(names)
    starts = np.cumsum([k, *(len(member.coefficients) - k for member in members)])
    count, m = int(starts[-1]), sum(len(member.r[0]) for member in members)
    r = np.zeros((count, n + m))
    if offset is not None:
        r[:k, :n] = offset
    bodies: list[list[sp.csr_array]] = [[] for _ in range(count)]
    row = n
    for t, member in enumerate(members):
        size = len(member.r[0])
        places = [*range(k), *range(int(starts[t]), int(starts[t + 1]))]
        r[places, row : row + size] = member.r
        row += size
        for j, block in enumerate(_with_decisions(member, places, count)):
            bodies[j].append(block)
    mix = beside(
        [
            beside([sparse(M), sp.csr_array((n, member.p))])
            for M, member in zip(maps, members, strict=True)
        ]
    )
    heads = [-mix, *(sp.csr_array(mix.shape) for _ in range(count - 1))]
    Z = [
        below([head, sparse(sp.block_diag(body))]) for head, body in zip(heads, bodies, strict=True)
    ]
    return Description(
        names,
        below([sparse(sp.eye_array(n)), sp.csr_array((m, n))]),
        tuple(Z),
        r,
        (Cone("zero", n), *(cone for member in members for cone in member.cones)),
        np.concatenate([np.append(np.zeros(n, dtype=bool), member.binary) for member in members]),
        (*members[0].coefficients[:k], *_own_names(k, members)),
    )


def _with_decisions(member: Description, places: list[int], count: int) -> list[sp.csr_array]:
    """Return what multiplies the decisions of a member, latent variables now, and its own z."""
    nothing = sp.csr_array((len(member.r[0]), member.n + member.p))
    blocks = [nothing for _ in range(count)]
    for j, Z in zip(places, member.Z, strict=True):
        blocks[j] = beside([sp.csr_array(member.X.shape) if j else member.X, Z])
    return blocks


def _own_names(k: int, members: Sequence[Description]) -> list[str]:
    if len(members) == 1:
        return list(members[0].coefficients[k:])
    return [
        f"member {t}: {name}"
        for t, member in enumerate(members)
        for name in member.coefficients[k:]
    ]
