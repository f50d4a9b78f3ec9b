"""Sets that hold binary points alone: answers against a list made by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.exceptions import (
    EmptySetError,
    SetError,
    TooManyVerticesError,
    UnsupportedError,
)
from feaslearn.formulations import PredictabilityProgram, SuboptimalityProgram
from feaslearn.sets import AffineImage, PrimitiveSet
from registry import BINARY_SETS, cube, generators

NORMS = {"l1": 1, "l2": 2, "linf": np.inf}


@pytest.mark.parametrize("name", BINARY_SETS)
def test_every_binary_set_is_discrete(name: str) -> None:
    assert BINARY_SETS[name]().discrete


def test_the_points_of_a_knapsack_are_those_that_fit() -> None:
    found = BINARY_SETS["binary-knapsack"]().vertices()
    fitting = [z for z in product((1.0, 0.0), repeat=4) if np.dot(z, [2, 3, 4, 1]) <= 5.0]
    np.testing.assert_array_equal(found, fitting)


def test_every_entry_of_a_binary_point_is_one_or_zero() -> None:
    square = fl.Polytope(*cube(2), binary=True)
    assert square.contains([[1.0, 0.5], [1.0, 0.0], [0.5, 0.5]]).tolist() == [False, True, False]


def test_the_hull_is_not_the_relaxation() -> None:
    knapsack = fl.Polytope([[-2.0, -2.0]], [-3.0], binary=True)
    assert knapsack.minimum([-1.0, -1.0])[0] == -1.0
    assert knapsack.conic_form().violation(np.array([[0.75, 0.75]]))[0] > 0.2


def test_bad_parameters() -> None:
    with pytest.raises(SetError, match="binary='yes' is not True or False"):
        fl.Simplex(3, binary="yes").check()
    with pytest.raises(EmptySetError, match="no point of zeros and ones"):
        fl.Polytope([[1.0, 1.0]], [3.0], binary=True).check()
    with pytest.raises(TooManyVerticesError, match="16384 binary points"):
        fl.Polytope(*cube(14), binary=True).check()
    with pytest.raises(TooManyVerticesError, match="too many binary points"):
        fl.Polytope(*cube(30), binary=True).check()


def listed_losses(
    primitive: PrimitiveSet, maps: tuple[np.ndarray, np.ndarray], block: Block, norm: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return predictability and suboptimality (raw cost) by going through the list."""
    (A, b), points = maps, primitive.vertices()
    near, cheap = [], []
    for c, x in zip(block.costs, block.decisions, strict=True):
        images = points @ A.T + b
        prices = points @ (A.T @ c)
        lengths = np.linalg.norm(images - x, NORMS[norm], axis=1)
        tied = prices <= prices.min() + 1e-9 * max(1.0, np.abs(A.T @ c).max())
        near.append(lengths[tied].min())
        excess = max(0.0, c @ x - (images @ c).min())
        cheap.append(np.linalg.norm([lengths.min(), excess], NORMS[norm]))
    return np.array(near), np.array(cheap)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", BINARY_SETS)
@given(random=generators())
def test_losses_are_those_of_the_list(name: str, norm: str, random: np.random.Generator) -> None:
    primitive, n, rows = BINARY_SETS[name](), 2, 3
    hypothesis = fl.Affine(primitive)
    # Small whole numbers, so that most rows tie.
    theta = random.integers(-2, 3, hypothesis.layout(n, 1).size).astype(float)
    costs = random.integers(-1, 2, (rows, n)).astype(float)
    decisions = random.normal(size=(rows, n))
    block = Block(np.ones((rows, 1)), costs, decisions, np.ones(rows))
    maps = hypothesis.maps(theta, n, 1)
    near, cheap = listed_losses(primitive, (maps.A[0], maps.b[0]), block, norm)
    found = fl.Predictability(norm, squared=False).samples(hypothesis, theta, block)
    np.testing.assert_allclose(found, near, atol=1e-9)
    loss = fl.Suboptimality(norm, squared=False, normalize_cost=False)
    np.testing.assert_allclose(loss.samples(hypothesis, theta, block), cheap, atol=1e-9)


def test_a_region_of_points() -> None:
    corners = np.array([[0.0, 2.0, 0.5], [0.0, 0.0, 0.5]])
    region = fl.Region(AffineImage(fl.Simplex(3, binary=True), corners, np.zeros(2)))
    assert region.contains([[0.5, 0.5], [1.0, 0.0]]).tolist() == [True, False]
    assert region.project([1.2, 0.1]).tolist() == [0.5, 0.5]
    assert len(region.vertices()) == 3
    assert region.distance([1.25, 0.0], "l1") == pytest.approx(0.75)


def test_convex_programs_refuse_binary_points() -> None:
    for program in (PredictabilityProgram, SuboptimalityProgram):
        with pytest.raises(UnsupportedError, match="holds binary points"):
            program(fl.Simplex(2, binary=True), 2)
