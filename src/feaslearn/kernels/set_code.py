"""What kernels read of a primitive set: a product of blocks, each of a known kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
