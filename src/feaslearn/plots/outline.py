"""The outline of a region seen along two of its decisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Points that stick out less than this, relative to the size of the region, are on the outline.
TOLERANCE = 3e-4
#: Each quarter of a curved outline is halved so often: 4 * 2**6 points at most.
DEPTH = 6
#: Points closer than this, relative to the size of the numbers, are one.
SAME = 1e-7
#: An extent below this, relative to the largest number, is a rounding error.
ROUNDING = 1e-12


def outline(minimize: Callable[[Array], Array], n: int, i: int, j: int) -> Array:
    r"""Return the corners of the projection of a region onto decisions i and j.

    Points are found where they stick out, by their support :math:`\max_{x \in R} d'x`: first
    along the axes, then across each edge between two points until nothing sticks out by a
    thousandth of the size of the region. All corners are points of the region.

    Parameters
    ----------
    minimize : callable
        Returns a decision (n,) of least cost for a cost (n,).
    n : int
        Number of decisions.
    i, j : int
        The decisions that are seen.

    Returns
    -------
    ndarray of shape (m, 2)
        Corners counter-clockwise; two for a segment, one for a point.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Box
    >>> from feaslearn.plots.outline import outline
    >>> outline(Box(3).argmin, 3, 0, 2) + 0.0
    array([[-1., -1.],
           [ 1., -1.],
           [ 1.,  1.],
           [-1.,  1.]])
    """

    def reach(direction: Array) -> Array:
        cost = np.zeros(n)
        cost[i], cost[j] = -direction
        return np.asarray(minimize(cost))[[i, j]]

    axes = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    first = np.array([reach(axis) for axis in axes])
    span = np.ptp(first, axis=0)
    # Each decision has units of its own; what is next to nothing beside the other is rounding.
    flat = SAME * np.abs(first).max(axis=0) + ROUNDING * np.abs(first).max()
    # Both decisions count alike, whatever their units.
    scale = np.where(span > flat, span, 1.0)
    corners: list[Array] = []
    for start, end in zip(first, np.roll(first, -1, axis=0), strict=True):
        corners += [start, *_between(reach, start, end, scale, DEPTH)]
    return _tidy(np.array(corners), scale, flat)


def _between(
    reach: Callable[[Array], Array], start: Array, end: Array, scale: Array, depth: int
) -> list[Array]:
    """Return the points of the outline from one of its points to the next, without these."""
    edge = (end - start) / scale
    length = float(np.hypot(*edge))
    if length < SAME or depth == 0:
        return []
    normal = np.array([edge[1], -edge[0]]) / length
    found = reach(normal / scale)
    if normal @ ((found - start) / scale) <= TOLERANCE:
        return []
    before = _between(reach, start, found, scale, depth - 1)
    return [*before, found, *_between(reach, found, end, scale, depth - 1)]


def _tidy(corners: Array, scale: Array, flat: Array) -> Array:
    """Drop corners that repeat the one before, or lie on the line between their neighbours."""
    kept: list[Array] = []
    for corner in corners:
        if not kept or np.abs((corner - kept[-1]) / scale).max() > SAME:
            kept.append(corner)
    if len(kept) > 1 and np.abs((kept[0] - kept[-1]) / scale).max() <= SAME:
        kept.pop()
    if (np.ptp(corners, axis=0) <= flat).all():
        return np.asarray(kept[:1])
    points = np.array(kept)
    if len(points) > 2:
        ahead, behind = np.roll(points, -1, axis=0) - points, points - np.roll(points, 1, axis=0)
        ahead, behind = ahead / scale, behind / scale
        turn = behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]
        size = np.hypot(*ahead.T) * np.hypot(*behind.T)
        back = (ahead * behind).sum(axis=1) < 0.0
        points = points[(turn > SAME * size) | back]
    return points
