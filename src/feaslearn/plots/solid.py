"""A region of three decisions as the pieces that are drawn: polygons, a segment or a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from feaslearn.exceptions import TooManyVerticesError
from feaslearn.region import Region

Array = NDArray[np.float64]

#: More vertices than this are not drawn one by one; the region counts as curved.
MOST_VERTICES = 500
#: Directions in which a curved region is looked for.
DIRECTIONS = 400
#: Spread across a direction below this, relative to the largest, is none.
FLAT = 1e-6


def solid(region: Region, decisions: tuple[int, int, int]) -> list[Array]:
    """Return the pieces of a region seen along three of its decisions.

    Parameters
    ----------
    region : Region
        The region.
    decisions : tuple of int
        The three decisions.

    Returns
    -------
    list of ndarray of shape (m, 3)
        Polygons, one for each side, or for a flat region one in all; one array of two rows for a
        segment and of one row for a point.
    """
    points = _points(region, decisions)
    center = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - center, full_matrices=False)
    size = max(1.0, float(np.abs(points).max()))
    d = int((sizes > FLAT * max(float(sizes[0]), size * 1e-3)).sum())
    if d == 0:
        return [center[None]]
    inside = (points - center) @ axes[:d].T
    if d == 1:
        return [points[[inside[:, 0].argmin(), inside[:, 0].argmax()]]]
    hull = ConvexHull(inside)
    if d == 2:
        return [points[hull.vertices]]
    return _sides(points, hull)


def _points(region: Region, decisions: tuple[int, int, int]) -> Array:
    """Return points whose hull is the region, or close to it where it is curved."""
    chosen = list(decisions)
    try:
        return region.vertices(MOST_VERTICES)[:, chosen]
    except TooManyVerticesError:
        directions = np.zeros((DIRECTIONS + 6, region.n))
        directions[:-6, chosen] = _sphere(DIRECTIONS)
        directions[-6:, chosen] = np.vstack([np.eye(3), -np.eye(3)])
        return np.array([region.minimize(direction)[chosen] for direction in directions])


def _sphere(count: int) -> Array:
    """Return directions that are spread evenly: points on a spiral from pole to pole."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    radius = np.sqrt(1.0 - height**2)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])


def _sides(points: Array, hull: ConvexHull) -> list[Array]:
    """Return the sides of a hull, the triangles that share a plane put together."""
    planes = hull.equations.round(6)
    sides = []
    for plane in np.unique(planes, axis=0):
        members = np.unique(hull.simplices[(planes == plane).all(axis=1)])
        corners = hull.points[members]
        middle = corners.mean(axis=0)
        # Around the middle, in the plane of the side.
        _, _, axes = np.linalg.svd(corners - middle)
        x, y = axes[:2] @ (corners - middle).T
        sides.append(points[members[np.argsort(np.arctan2(y, x))]])
    return sides
