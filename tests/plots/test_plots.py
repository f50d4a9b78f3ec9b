"""The pictures of regions and facets; outlines hold what a region reaches, no more and no less."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import feaslearn as fl
from feaslearn.exceptions import DataError
from feaslearn.plots import FacetsDisplay, RegionDisplay
from feaslearn.plots.region_panels import outline
from feaslearn.sets import AffineImage
from registry import Array

SIGNALS = [*(f"price {j}" for j in range(3)), *(f"demand_{j}" for j in range(5))]
PLANTS = ["hydro", "$gas$", "coal"]


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    data = fl.datasets.make_power5(80, line_capacity=1.5, random_state=0)
    return (
        pd.DataFrame(data.signals, columns=SIGNALS),
        pd.DataFrame(data.decisions, columns=PLANTS),
    )


@pytest.fixture(scope="module")
def model(frames: tuple[pd.DataFrame, pd.DataFrame]) -> fl.RegionRegressor:
    return fl.RegionRegressor(fl.Facets(), cost=SIGNALS[:3], random_state=0).fit(*frames)


def star(ax: Any) -> list[float]:
    """Return where the optimum is drawn."""
    (line,) = (line for line in ax.lines if line.get_marker() == "*")
    return [float(part[0]) for part in line.get_data()]


def test_a_plane(model: fl.RegionRegressor, frames: Any, tmp_path: Path) -> None:
    X, y = frames
    units = {"hydro": "MW", "$gas$": "GW"}
    display = RegionDisplay.from_estimator(
        model, X.iloc[0], y=y, decisions=["hydro", "$gas$"], units=units
    )
    (ax,) = display.axes_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("hydro (MW)", "$gas$ (GW)")
    best = model.predict(X.iloc[:1]).to_numpy()[0]
    assert star(ax) == pytest.approx(best[:2])
    dots = ax.lines[0].get_xydata()
    assert dots == pytest.approx(y.to_numpy()[:, :2])
    polygon = ax.patches[0].get_xy()
    lower, upper = model.region(X.iloc[0]).bounding_box()
    assert polygon.min(axis=0) == pytest.approx(lower[:2], abs=1e-6)
    assert polygon.max(axis=0) == pytest.approx(upper[:2], abs=1e-6)
    display.figure_.savefig(tmp_path / "plane.png")


def test_what_if_prices_move_the_optimum(model: fl.RegionRegressor, frames: Any) -> None:
    _, ax = plt.subplots()
    display = RegionDisplay.from_estimator(
        model, frames[0].iloc[0], costs=[9.0, 1.0, 1.0], decisions=[0, 1], ax=ax
    )
    assert display.axes_[0] is ax
    assert star(ax)[0] == pytest.approx(model.region(frames[0].iloc[0]).bounding_box()[0][0])


def test_an_empty_region_is_drawn_relaxed(model: fl.RegionRegressor, frames: Any) -> None:
    far = frames[0].iloc[0].copy()
    far.iloc[3:] *= 10.0
    display = RegionDisplay.from_estimator(model, far)
    assert "no decision satisfies everything" in display.figure_.get_suptitle()


def test_bad_arguments_of_a_region(model: fl.RegionRegressor, frames: Any) -> None:
    X, y = frames
    draw = RegionDisplay.from_estimator
    for match, options in {
        "did you mean 'hydro'": {"decisions": ["hydra", "coal"]},
        "no column is listed": {"decisions": []},
        "ax holds one panel": {"ax": object()},
        "y has 2 columns for 3": {"y": y.iloc[:, :2]},
        "units: there is no column 'gas'": {"units": {"gas": "MW"}},
    }.items():
        with pytest.raises(DataError, match=match):
            draw(model, X.iloc[0], **options)  # type: ignore[arg-type]
    many = fl.Region(fl.sets.AffineImage(fl.Box(9), np.eye(9), np.zeros(9)))
    with pytest.raises(DataError, match="36 pairs; choose up to 8"):
        RegionDisplay(many).plot()


def test_facets_are_rows_in_the_form_of_their_text(
    model: fl.RegionRegressor, tmp_path: Path
) -> None:
    display = FacetsDisplay.from_estimator(model)
    decisions, features, bars = display.axes_
    coefficients, m = decisions.images[0].get_array(), len(model.facets_)
    assert m > 0
    assert coefficients.shape == (m, 3)
    assert np.abs(coefficients).max() == pytest.approx(1.0)
    assert features.images[0].get_array().shape == (m, 5)
    assert [bar.get_width() for bar in bars.patches] == [facet.binds for facet in model.facets_]
    assert [label.get_text() for label in decisions.get_xticklabels()] == PLANTS
    names = [label.get_text() for label in decisions.get_yticklabels()]
    assert names == [facet.name for facet in model.facets_]
    # A text without a decision has no colour there, and signs are those of the text.
    for facet, row in zip(model.facets_, coefficients, strict=True):
        left = re.split(" [<>]= ", facet.text)[0]
        for name, value in zip(PLANTS, row, strict=True):
            assert (name in left) == (abs(value) > 1e-3), (facet.text, row)
            minus = re.search(rf"-[ 0-9.]*{re.escape(name)}", left) is not None
            assert minus == (value < -1e-3)
    display.figure_.savefig(tmp_path / "facets.png")
    long = FacetsDisplay(model.facets_, ["a" * 30, "b", "c"], SIGNALS[3:]).plot()
    assert long.axes_[0].get_xticklabels()[0].get_text() == "a" * 17 + "…"


# Outlines.

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
