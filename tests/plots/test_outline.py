"""Outlines hold what a region reaches, no more and no less."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

import feaslearn as fl
from feaslearn.plots.region_panels import outline
from feaslearn.sets import AffineImage

Array = NDArray[np.float64]
DIRECTIONS = np.column_stack([np.cos(np.arange(0, 6.3, 0.1)), np.sin(np.arange(0, 6.3, 0.1))])


def region(primitive: fl.sets.PrimitiveSet, matrix: object, offset: object = 0.0) -> fl.Region:
    A = np.asarray(matrix, dtype=float)
    return fl.Region(AffineImage(primitive, A, np.broadcast_to(offset, len(A)).astype(float)))


def reach(found: fl.Region, i: int, j: int) -> Array:
    """Return the true support of the projection in many directions."""
    directions = np.zeros((len(DIRECTIONS), found.n))
    directions[:, [i, j]] = DIRECTIONS
    return np.array([found.support(d) for d in directions])


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 4),
    p=st.integers(1, 9),
    scales=st.sampled_from([(1.0, 1.0), (1e-4, 1e4), (1e6, 1.0)]),
)
def test_corners_of_polygons(seed: int, n: int, p: int, scales: tuple[float, float]) -> None:
    A = np.random.default_rng(seed).normal(size=(n, p))
    A[0] *= scales[0]
    A[1] *= scales[1]
    points = A.T[:, :2]
    corners = outline(region(fl.Simplex(p), A).minimize, n, 0, 1)
    size = np.ptp(points, axis=0)
    if p >= 3:
        exact = points[ConvexHull(points / size).vertices]
        assert (DIRECTIONS @ (exact / size).T).max(axis=1) == pytest.approx(
            (DIRECTIONS @ (corners / size).T).max(axis=1), abs=1e-3
        )
    assert len(corners) <= p
    assert all((np.abs(points - corner) <= 1e-9 * size).all(axis=1).any() for corner in corners)


def test_a_curved_outline_is_followed() -> None:
    disc = region(fl.L2Ball(3), [[2.0, 0, 0], [0, 1, 0.5], [1, 0, 0]], [1.0, 2.0, 0.0])
    corners = outline(disc.minimize, 3, 0, 1)
    assert 20 < len(corners) < 300
    assert (DIRECTIONS @ corners.T).max(axis=1) == pytest.approx(reach(disc, 0, 1), abs=2e-3)


def test_flat_regions() -> None:
    segment = region(fl.Simplex(2), [[0.0, 1], [0, 2], [1, 0]])
    assert len(outline(segment.minimize, 3, 0, 1)) == 2
    point = region(fl.Simplex(1), [[3.0], [4.0]])
    assert outline(point.minimize, 2, 0, 1).tolist() == [[3.0, 4.0]]
    along_an_axis = region(fl.Box(1), [[2.0], [0.0]], [1e5, 7.0])
    assert len(outline(along_an_axis.minimize, 2, 0, 1)) == 2
