"""Linear minimisation over coded sets, with ties.

A coded set is a product of blocks, each of a known kind. `minimize_twice` minimises a second cost
over the minimisers of a first: with a zero first cost it is plain linear minimisation, with a zero
second cost ties break to the lowest index, and with both it walks on an optimal face.

`predict_rows` gives the predictions ``A(s) z* + b(s)`` of a map with the least work a sample needs:
the latent cost ``q = A(s)'c`` is a sum of the rows of all ``A_k`` weighted by ``phi_k c_j``, and
only the columns that ``z*`` uses are evaluated. The hot path is a simplex: its rows are taken a
block at a time and laid out side by side, so that the inner loops run over rows and the processor
works on several of them in one instruction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inlined, inner_kernel, kernel

Array = NDArray[np.float64]

#: As in tolerances.py: what is compiled is defined here, where Numba sees a change.
SUM_ROUNDING = 1e-14
#: Rows in a block: their latent costs fit in the processor's first cache.
BLOCK = 128

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
    code: SetCode, Q: Array, tolerances: Array, Z: Array, tied: NDArray[np.bool_]
) -> None:
    """Write into each row of ``Z`` a minimiser of that row of ``Q``, ties to the lowest index.

    ``tied`` says where there are several. Tolerances are absolute, one for each row.
    """
    nothing = np.zeros(Q.shape[1])
    for i in range(Q.shape[0]):
        tied[i] = minimize_twice(code, Q[i], tolerances[i], nothing, Z[i])


class RowBlock(NamedTuple):
    """Some rows side by side: entry ``[j, i]`` belongs to row i of the block.

    ``rounding`` is what rounding may have done to each row's latent costs (``sizes`` are those of
    the map's entries), ``chosen`` its first column of least cost, ``ties`` how many are as cheap.
    """

    features: Array
    costs: Array
    latent: Array
    sizes: Array
    rounding: Array
    chosen: NDArray[np.int64]
    ties: NDArray[np.int64]


@inlined
def new_block(A: Array) -> RowBlock:
    """Return an empty block for rows of a map."""
    K, n, p = A.shape
    return RowBlock(
        np.empty((K, BLOCK)),
        np.empty((n, BLOCK)),
        np.empty((p, BLOCK)),
        entry_sizes(A),
        np.empty(BLOCK),
        np.empty(BLOCK, dtype=np.int64),
        np.empty(BLOCK, dtype=np.int64),
    )


@inlined
def columns_with_offset(A: Array, b: Array) -> Array:
    """Return the columns of A with b added to each: the weights of a simplex sum to one."""
    K, n, p = A.shape
    columns = np.empty((K, n, p))
    for k in range(K):
        for j in range(n):
            for column in range(p):
                columns[k, j, column] = A[k, j, column] + b[k, j]
    return columns


@inlined
def choose_columns(
    A: Array, Phi: Array, C: Array, start: int, relative_tolerance: float, block: RowBlock
) -> int:
    """Fill a block with the rows from ``start`` on and choose their columns; return its size."""
    size: int = min(BLOCK, Phi.shape[0] - start)
    for i in range(size):
        for k in range(Phi.shape[1]):
            block.features[k, i] = Phi[start + i, k]
        for j in range(C.shape[1]):
            block.costs[j, i] = C[start + i, j]
    _latent_costs(A, size, block)
    _cheapest(relative_tolerance, size, block)
    return size


@inlined
def _latent_costs(A: Array, size: int, block: RowBlock) -> None:
    """Write ``q = A(s)'c`` of each row, and what rounding may have done to it."""
    K, n, p = A.shape
    weights = np.empty(size)
    for i in range(size):
        block.rounding[i] = 0.0
        for column in range(p):
            block.latent[column, i] = 0.0
    for k in range(K):
        for j in range(n):
            for i in range(size):
                weights[i] = block.features[k, i] * block.costs[j, i]
            unit = SUM_ROUNDING * block.sizes[k, j]
            for i in range(size):
                block.rounding[i] += unit * abs(weights[i])
            for column in range(p):
                entry = A[k, j, column]
                for i in range(size):
                    block.latent[column, i] += entry * weights[i]


@inlined
def _cheapest(relative_tolerance: float, size: int, block: RowBlock) -> None:
    latent, chosen, ties = block.latent, block.chosen, block.ties
    limit, largest = np.empty(size), np.zeros(size)
    for i in range(size):
        limit[i] = np.inf
        chosen[i] = 0
        ties[i] = 0
    for column in range(latent.shape[0]):
        for i in range(size):
            q = latent[column, i]
            limit[i] = q if q < limit[i] else limit[i]
            largest[i] = abs(q) if abs(q) > largest[i] else largest[i]
    for i in range(size):
        margin = relative_tolerance * largest[i]
        limit[i] += margin if margin > block.rounding[i] else block.rounding[i]
    for column in range(latent.shape[0] - 1, -1, -1):
        for i in range(size):
            cheap = latent[column, i] <= limit[i]
            chosen[i] = column if cheap else chosen[i]
            ties[i] += 1 if cheap else 0


@inlined
def images_of_chosen(columns: Array, size: int, block: RowBlock, images: Array) -> None:
    """Write the chosen column of each row, ``sum_k phi_k columns[k, :, chosen]``."""
    K, n, _ = columns.shape
    for j in range(n):
        for i in range(size):
            images[j, i] = 0.0
        for k in range(K):
            for i in range(size):
                images[j, i] += block.features[k, i] * columns[k, j, block.chosen[i]]


@inner_kernel
def latent_cost(A: Array, phi: Array, c: Array, q: Array) -> float:
    """Write ``q = A(s)'c`` and return the largest ``|q|``."""
    K, n, p = A.shape
    q[:] = 0.0
    for k in range(K):
        for j in range(n):
            weight = phi[k] * c[j]
            if weight != 0.0:
                for column in range(p):
                    q[column] += weight * A[k, j, column]
    largest = 0.0
    for column in range(p):
        largest = max(largest, abs(q[column]))
    return largest


@inner_kernel
def image_of(A: Array, b: Array, phi: Array, z: Array, x: Array) -> None:
    """Write ``x = A(s) z + b(s)``."""
    K, n, p = A.shape
    x[:] = 0.0
    for k in range(K):
        for j in range(n):
            x[j] += phi[k] * b[k, j]
    for column in range(p):
        if z[column] != 0.0:
            for k in range(K):
                weight = phi[k] * z[column]
                for j in range(n):
                    x[j] += weight * A[k, j, column]


def predict_rows(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    relative_tolerance: float,
    X: Array,
    tied: NDArray[np.bool_],
) -> None:
    """Write the prediction of each row into ``X``, and where there are others as good.

    A simplex has a kernel of its own, so that users of simplices wait for no other to compile.
    """
    if is_simplex(code):
        _predict_columns(A, b, Phi, C, relative_tolerance, X, tied)
    else:
        _predict_any(code, A, b, Phi, C, relative_tolerance, X, tied)


@kernel
def _predict_columns(
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    relative_tolerance: float,
    X: Array,
    tied: NDArray[np.bool_],
) -> None:
    """Predict with a simplex: every row is one column of its map."""
    n = A.shape[1]
    block, images = new_block(A), np.empty((n, BLOCK))
    columns = columns_with_offset(A, b)
    for start in range(0, Phi.shape[0], BLOCK):
        size = choose_columns(A, Phi, C, start, relative_tolerance, block)
        images_of_chosen(columns, size, block, images)
        for i in range(size):
            tied[start + i] = block.ties[i] > 1
            for j in range(n):
                X[start + i, j] = images[j, i]


@kernel
def _predict_any(
    code: SetCode,
    A: Array,
    b: Array,
    Phi: Array,
    C: Array,
    relative_tolerance: float,
    X: Array,
    tied: NDArray[np.bool_],
) -> None:
    """Predict with any coded set."""
    p = A.shape[2]
    q, z, zero = np.empty(p), np.empty(p), np.zeros(p)
    sizes = entry_sizes(A)
    for i in range(Phi.shape[0]):
        tolerance = relative_tolerance * latent_cost(A, Phi[i], C[i], q)
        tolerance = max(tolerance, rounding_of(sizes, Phi[i], C[i]))
        tied[i] = minimize_twice(code, q, tolerance, zero, z)
        image_of(A, b, Phi[i], z, X[i])
