"""Affine: layouts, maps, and predictions that agree however they are computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn import Affine, Minkowski, Term
from feaslearn.exceptions import DataError
from feaslearn.hypotheses import Hypothesis, Layout, Maps
from feaslearn.sets import Box, Simplex
from registry import NAMES, ONE_OF_EACH, example, generators, size_of

N_FEATURES = 3


def random_case(
    hypothesis: Affine, rng: np.random.Generator, n: int, whole: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return theta, features and costs; whole numbers make the columns tie."""
    size = hypothesis.layout(n, N_FEATURES).size
    if whole:
        theta = rng.integers(-2, 3, size=size).astype(float)
        features = rng.integers(0, 3, size=(5, N_FEATURES)).astype(float)
        costs = rng.integers(-1, 2, size=(5, n)).astype(float)
    else:
        theta, features, costs = (
            rng.normal(size=shape) for shape in (size, (5, N_FEATURES), (5, n))
        )
    features[:, 0] = 1.0
    return theta, features, costs


@pytest.mark.parametrize("name", ONE_OF_EACH)
@given(rng=generators(), whole=st.booleans())
def test_predictions_are_minimisers_of_the_image(
    name: str, rng: np.random.Generator, whole: bool
) -> None:
    hypothesis, n = Affine(example(name)), 2
    theta, features, costs = random_case(hypothesis, rng, n, whole)
    size = 10.0 * size_of(name) * max(1.0, np.abs(theta).max())
    image = hypothesis.image(theta, features[0], n)
    for ties in ("first", "center"):
        x = hypothesis.predict(theta, features[:1], costs[:1], ties=ties)[0]
        assert image.distance(x) <= 1e-6 * size
        allowed = 1e-6 * size * max(1.0, np.abs(costs).max())
        assert costs[0] @ x == pytest.approx(-image.support(-costs[0]), abs=allowed)
    tied = hypothesis.tied(theta, features[:1], costs[:1])
    latent_cost = image.matrix.T @ costs[0]
    assert tied[0] != hypothesis.latent(n).face(latent_cost).is_point


def test_affine_by_hand() -> None:
    """Two features: the second column moves with the signal."""
    A = np.array([[[0.0, 1.0]], [[0.0, 2.0]]])  # x = z_2 (1 + 2 s)
    hypothesis = Affine(Simplex(2))
    features = np.array([[1.0, 0.0], [1.0, 3.0]])
    for sign, expected in ((1.0, [[0.0], [0.0]]), (-1.0, [[1.0], [7.0]])):
        costs = np.full((2, 1), sign)
        assert hypothesis.predict(A.ravel(), features, costs).tolist() == expected


@pytest.mark.parametrize("name", NAMES)
def test_theta_of_maps_gives_the_same_region(name: str) -> None:
    """Also where a redundant offset has to go into the columns."""
    hypothesis, primitive = Affine(example(name)), example(name)
    rng, n = np.random.default_rng(0), 2
    maps = Maps(
        rng.normal(size=(N_FEATURES, n, primitive.dimension)), rng.normal(size=(N_FEATURES, n))
    )
    theta = hypothesis.theta_of(maps)
    phi = np.array([1.0, 0.3, -0.4])
    (A,), (b,) = maps.at(phi[None, :])
    image = hypothesis.image(theta, phi, n)
    z = primitive.center()
    assert image.at(z) == pytest.approx(A @ z + b)
    assert image.support([1.0, 2.0]) == pytest.approx(
        -primitive.minimum(-(A.T @ [1.0, 2.0]))[0] + b @ [1.0, 2.0], abs=1e-6
    )


def test_support_and_ends_of_regions() -> None:
    """Sums have a closed form, which is that of all other regions."""
    sums = Minkowski([Term(Simplex(2), [0, 1]), Term(Box(1, 0.0, 1.0), [2])])
    theta = sums.layout(3, 1).pack({"alpha": np.array([[2.0], [0.0]]), "b": np.ones((1, 3))})
    one = np.ones((1, 1))
    low, high = sums.ends(theta, one, 3)
    assert (low.tolist(), high.tolist()) == ([[1.0, 1.0, 1.0]], [[3.0, 3.0, 1.0]])
    directions = np.random.default_rng(0).normal(size=(5, 3))
    slow = Hypothesis.support(sums, theta, one, directions)
    assert sums.support(theta, one, directions) == pytest.approx(slow)
    assert sums.usage(theta, one, np.ones((1, 3))).tolist() == [2.0, 0.0]


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple),
        min_size=1,
        max_size=3,
    )
)
def test_blocks_of_parameters_are_packed_and_unpacked(shapes: dict[str, tuple[int, ...]]) -> None:
    layout = Layout(shapes)
    theta = np.arange(float(layout.size))
    blocks = layout.unpack(theta)
    assert {name: block.shape for name, block in blocks.items()} == shapes
    np.testing.assert_array_equal(layout.pack(blocks), theta)
    with pytest.raises(DataError, match=r"theta has shape \(.*,\); expected \(.*,\)"):
        layout.unpack(np.zeros(layout.size + 1))
