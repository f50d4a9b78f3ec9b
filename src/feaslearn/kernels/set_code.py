"""What kernels read of a primitive set: a product of blocks, each of a known kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inner_kernel

SIMPLEX = 0
L1_BALL = 1
L2_BALL = 2
BOX = 3
HYPERSIMPLEX = 4
POINTS = 5
#: As `POINTS`, but the set holds the points alone and not their mixtures.
BINARY_POINTS = 6

#: Two latent costs tie when they differ by less than this, relative to the largest ``|q|``.
TIE_TOLERANCE = 1e-9

Array = NDArray[np.float64]

#: Rounding changes a sum by less than this share of the sum of its terms' sizes.
ROUNDING = 1e-14


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
    return ROUNDING * total
