"""Linear minimisation over coded sets, with ties.

A coded set is a product of blocks, each of a known kind. `minimize_twice` minimises a second cost
over the minimisers of a first: with a zero first cost it is plain linear minimisation, with a zero
second cost ties break to the lowest index, and with both it walks on an optimal face.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inner_kernel, kernel
from feaslearn.tolerances import SUM_ROUNDING

Array = NDArray[np.float64]

SIMPLEX = 0
L1_BALL = 1
L2_BALL = 2
BOX = 3
HYPERSIMPLEX = 4
POINTS = 5
#: As `POINTS`, but the set holds the points alone and not their mixtures.
BINARY_POINTS = 6


class SetCode(NamedTuple):
    """A primitive set as arrays: block ``j`` holds the entries ``starts[j]:starts[j + 1]`` of z.

    ``counts`` holds the number of ones of hypersimplex blocks, ``lower`` and ``upper`` the limits
    of box blocks, and rows ``point_starts[j]:point_starts[j + 1]`` of ``points`` the vertices of a
    block of kind `POINTS` or `BINARY_POINTS`.
    """

    kinds: NDArray[np.int64]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    points: NDArray[np.float64]
    point_starts: NDArray[np.int64]


def single(
    kind: int,
    dimension: int,
    *,
    count: int = 0,
    lower: NDArray[np.float64] | None = None,
    upper: NDArray[np.float64] | None = None,
    points: NDArray[np.float64] | None = None,
) -> SetCode:
    """Return the code of a set that is one block."""
    nothing = np.zeros(dimension)
    listed = np.zeros((0, dimension)) if points is None else np.ascontiguousarray(points)
    return SetCode(
        kinds=np.array([kind]),
        starts=np.array([0, dimension]),
        counts=np.array([count]),
        lower=nothing if lower is None else lower,
        upper=nothing if upper is None else upper,
        points=listed,
        point_starts=np.array([0, len(listed)]),
    )


def is_simplex(code: SetCode) -> bool:
    """Whether a set is one simplex: the usual case, which has kernels of its own."""
    return len(code.kinds) == 1 and code.kinds[0] == SIMPLEX


def join(codes: list[SetCode]) -> SetCode:
    """Return the code of the Cartesian product of coded sets."""
    offsets = np.cumsum([0, *(code.starts[-1] for code in codes)])
    rows = np.cumsum([0, *(len(code.points) for code in codes)])
    points = np.zeros((rows[-1], offsets[-1]))
    for code, column, row in zip(codes, offsets, rows, strict=False):
        points[row : row + len(code.points), column : column + code.starts[-1]] = code.points
    return SetCode(
        kinds=np.concatenate([code.kinds for code in codes]),
        starts=_chain([code.starts for code in codes]),
        counts=np.concatenate([code.counts for code in codes]),
        lower=np.concatenate([code.lower for code in codes]),
        upper=np.concatenate([code.upper for code in codes]),
        points=points,
        point_starts=_chain([code.point_starts for code in codes]),
    )


def _chain(starts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    lengths = np.concatenate([np.diff(part) for part in starts])
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


# What rounding does to latent costs.
#
# Where a cost is at right angles to the whole region (equal prices, a balance that always holds),
# ``A(s)'c`` is zero and every point is optimal; computed, it is a few times 1e-17 and looks like a
# cost. No difference that rounding alone can make may break a tie.


@inner_kernel
def entry_sizes(A: Array) -> Array:
    """Return the largest ``|A[k, j, column]|`` over the columns, for each k and j."""
    K, n, p = A.shape
    sizes = np.zeros((K, n))
    for k in range(K):
        for j in range(n):
            for column in range(p):
                sizes[k, j] = max(sizes[k, j], abs(A[k, j, column]))
    return sizes


@inner_kernel
def rounding_of(sizes: Array, phi: Array, c: Array) -> float:
    """Return what rounding can do to an entry of ``A(s)'c``, given the sizes of A's entries."""
    total = 0.0
    for k in range(phi.size):
        for j in range(c.size):
            total += abs(phi[k] * c[j]) * sizes[k, j]
    return SUM_ROUNDING * total


@inner_kernel
def _simplex(q: Array, tolerance: float, g: Array, z: Array) -> bool:
    limit = q[0]
    for k in range(q.size):
        limit = min(limit, q[k])
    limit += tolerance
    best, tied = -1, 0
    for k in range(q.size):
        z[k] = 0.0
        if q[k] <= limit:
            tied += 1
            if best < 0 or g[k] < g[best]:
                best = k
    z[best] = 1.0
    return tied > 1


@inner_kernel
def _l1_ball(q: Array, tolerance: float, g: Array, z: Array) -> bool:
    largest = 0.0
    for k in range(q.size):
        z[k] = 0.0
        largest = max(largest, abs(q[k]))
    everything = largest <= tolerance
    best, sign, least, tied = -1, 1.0, np.inf, 0
    for k in range(q.size):
        if everything:
            direction = -1.0 if g[k] > 0.0 else 1.0
        elif abs(q[k]) >= largest - tolerance:
            direction = -1.0 if q[k] > 0.0 else 1.0
        else:
            continue
        tied += 1
        if direction * g[k] < least:
            best, sign, least = k, direction, direction * g[k]
    z[best] = sign
    return everything or tied > 1


@inner_kernel
def _length(v: Array) -> float:
    total = 0.0
    for k in range(v.size):
        total += v[k] * v[k]
    return float(np.sqrt(total))


@inner_kernel
def _l2_ball(q: Array, tolerance: float, g: Array, z: Array) -> bool:
    norm = _length(q)
    tied = norm <= tolerance
    if tied:
        norm = _length(g)
    for k in range(q.size):
        z[k] = 0.0 if norm == 0.0 else -(g[k] if tied else q[k]) / norm
    return tied


@inner_kernel
def _box(q: Array, tolerance: float, g: Array, lower: Array, upper: Array, z: Array) -> bool:
    tied = False
    for k in range(q.size):
        if q[k] > tolerance:
            z[k] = lower[k]
        elif q[k] < -tolerance:
            z[k] = upper[k]
        else:
            z[k] = upper[k] if g[k] < 0.0 else lower[k]
            tied = tied or lower[k] < upper[k]
    return tied


@inner_kernel
def _kth_smallest(q: Array, count: int, taken: Array) -> float:
    """Return the ``count``-th smallest entry; ``taken`` is overwritten."""
    taken[:] = 0.0
    smallest = 0
    for _ in range(count):
        smallest = -1
        for k in range(q.size):
            if taken[k] == 0.0 and (smallest < 0 or q[k] < q[smallest]):
                smallest = k
        taken[smallest] = 1.0
    return float(q[smallest])


@inner_kernel
def _hypersimplex(q: Array, tolerance: float, g: Array, count: int, z: Array) -> bool:
    threshold = _kth_smallest(q, count, z)
    left, tied = count, 0
    for k in range(q.size):
        z[k] = 0.0
        if q[k] < threshold - tolerance:
            z[k] = 1.0
            left -= 1
        elif q[k] <= threshold + tolerance:
            tied += 1
    for _ in range(left):
        best = -1
        for k in range(q.size):
            within = threshold - tolerance <= q[k] <= threshold + tolerance
            if within and z[k] == 0.0 and (best < 0 or g[k] < g[best]):
                best = k
        z[best] = 1.0
    return tied > left


@inner_kernel
def _points(q: Array, tolerance: float, g: Array, points: Array, z: Array) -> bool:
    lowest, largest = np.inf, 1.0
    for i in range(points.shape[0]):
        value = 0.0
        for k in range(q.size):
            value += points[i, k] * q[k]
            largest = max(largest, abs(points[i, k]))
        lowest = min(lowest, value)
    limit = lowest + tolerance * largest
    best, least, tied = -1, np.inf, 0
    for i in range(points.shape[0]):
        value, second = 0.0, 0.0
        for k in range(q.size):
            value += points[i, k] * q[k]
            second += points[i, k] * g[k]
        if value <= limit:
            tied += 1
            if best < 0 or second < least:
                best, least = i, second
    for k in range(q.size):
        z[k] = points[best, k]
    return tied > 1


@inner_kernel
def minimize_twice(code: SetCode, q: Array, tolerance: float, g: Array, z: Array) -> bool:
    """Write into ``z`` the minimiser of ``g'z`` over the minimisers of ``q'z``; say if q ties.

    ``tolerance`` is absolute. Remaining ties go to the lowest index.
    """
    tied = False
    for j in range(code.kinds.size):
        kind = code.kinds[j]
        block = slice(code.starts[j], code.starts[j + 1])
        if kind == SIMPLEX:
            ties = _simplex(q[block], tolerance, g[block], z[block])
        elif kind == L1_BALL:
            ties = _l1_ball(q[block], tolerance, g[block], z[block])
        elif kind == L2_BALL:
            ties = _l2_ball(q[block], tolerance, g[block], z[block])
        elif kind == BOX:
            lower, upper = code.lower[block], code.upper[block]
            ties = _box(q[block], tolerance, g[block], lower, upper, z[block])
        elif kind == HYPERSIMPLEX:
            ties = _hypersimplex(q[block], tolerance, g[block], code.counts[j], z[block])
        else:
            rows = slice(code.point_starts[j], code.point_starts[j + 1])
            ties = _points(q[block], tolerance, g[block], code.points[rows, block], z[block])
        tied = tied or ties
    return tied


@kernel
def minimize_rows(
    code: SetCode, Q: Array, relative_tolerance: float, Z: Array, tied: NDArray[np.bool_]
) -> None:
    """Write into each row of ``Z`` a minimiser of that row of ``Q``, ties to the lowest index.

    ``tied`` says where there are several.
    """
    nothing = np.zeros(Q.shape[1])
    for i in range(Q.shape[0]):
        largest = 0.0
        for k in range(Q.shape[1]):
            largest = max(largest, abs(Q[i, k]))
        tied[i] = minimize_twice(code, Q[i], relative_tolerance * largest, nothing, Z[i])
