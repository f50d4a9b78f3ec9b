"""How minimisers over curved sets move with the cost, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from feaslearn import ConicSet
from feaslearn.sets import Cone, ConicForm
from feaslearn.sets.primitive_set import turn
from feaslearn.solvers.conic import ConicSolution, minimize_linear
from feaslearn.solvers.conic_form import stack
from registry import CURVED, POLYHEDRAL, example, generators, size_of

STEP = 1e-4


@pytest.mark.parametrize("name", CURVED)
@given(rng=generators())
def test_turn_is_the_derivative_of_the_minimiser(name: str, rng: np.random.Generator) -> None:
    primitive = example(name)
    q, direction = rng.normal(size=(2, primitive.dimension))
    before, here, after = (primitive.argmin(q + t * direction) for t in (-STEP, 0.0, STEP))
    if np.linalg.norm(after - 2.0 * here + before) > 1e-2 * STEP * size_of(name):
        return  # the minimiser goes over an edge just here, or turns very fast
    moved = (after - before) / (2.0 * STEP)
    turned = primitive.turn(q, direction)
    assert turned == pytest.approx(moved, abs=2e-2 * max(1.0, np.abs(moved).max()))


@pytest.mark.parametrize("name", CURVED)
@given(rng=generators())
def test_turn_is_symmetric_and_never_uphill(name: str, rng: np.random.Generator) -> None:
    """The minimiser is the gradient of a concave function, the least cost."""
    primitive = example(name)
    q, first, second = rng.normal(size=(3, primitive.dimension))
    turned, other = primitive.turn(q, first), primitive.turn(q, second)
    size = max(1.0, np.abs(turned).max(), np.abs(other).max())
    assert first @ other == pytest.approx(second @ turned, abs=1e-4 * size)
    assert first @ turned <= 1e-6 * size
    # Only the direction of the cost counts.
    assert primitive.turn(q, q) == pytest.approx(np.zeros(len(q)), abs=1e-4 * size)


@pytest.mark.parametrize("name", POLYHEDRAL)
def test_corners_do_not_turn(name: str) -> None:
    primitive = example(name)
    q, direction = np.random.default_rng(0).normal(size=(2, primitive.dimension))
    np.testing.assert_array_equal(primitive.turn(q, direction), np.zeros(primitive.dimension))


def test_turn_on_a_ball_in_closed_form() -> None:
    q, direction = np.array([3.0, 0.0, 4.0]), np.array([1.0, 2.0, -1.0])
    expected = -(direction - q * (q @ direction) / 25.0) / 5.0
    assert example("l2-ball-3").turn(q, direction) == pytest.approx(expected, abs=1e-6)


def test_turn_stops_at_the_rim_of_a_lid() -> None:
    """On the rim of the ice-cream cone the minimiser moves around it and nowhere else."""
    q = np.array([-3.0, 1.0, 0.0])
    turned = example("conic-ice-cream").turn(q, np.array([1.0, 0.0, 1.0]))
    assert turned == pytest.approx([0.0, 0.0, -1.0], abs=1e-5)


def test_turn_where_the_limit_of_a_norm_depends_on_the_point() -> None:
    """An ellipse by its focus, ``|z| <= 1 - z_0 / 2``, against the minimiser in closed form."""
    ellipse = ConicSet([[-0.5, 0.0], [1.0, 0.0], [0.0, 1.0]], [-1.0, 0, 0], [("second-order", 3)])
    axes, middle = np.array([4.0 / 3.0, np.sqrt(4.0 / 3.0)]), np.array([-2.0 / 3.0, 0.0])
    q, direction = np.array([0.7, -1.1]), np.array([0.4, 0.9])
    far = np.linalg.norm(axes * q)
    assert ellipse.argmin(q) == pytest.approx(middle - axes**2 * q / far, abs=1e-7)
    expected = -(axes**2) * (direction / far - q * (axes**2 * q @ direction) / far**3)
    assert ellipse.turn(q, direction) == pytest.approx(expected, abs=1e-5)


def test_an_apex_stays_while_another_part_turns() -> None:
    """A cone beside a ball: only the ball turns."""
    cone = ConicForm(np.eye(2), np.zeros(2), (Cone("second-order", 2),))
    form = stack([cone, example("l2-ball-3").conic_form()])
    q = np.array([1.0, 0.2, 3.0, 0.0, 4.0])
    direction = np.array([1.0, -1.0, 1.0, 2.0, -1.0])
    turned = turn(form, minimize_linear(form, q), q, direction)
    alone = example("l2-ball-3").turn(q[2:], direction[2:])
    np.testing.assert_allclose(turned, [0.0, 0.0, *alone], atol=1e-6)


@pytest.mark.parametrize("size", [1.0, 1e3])
def test_how_near_to_an_apex_a_point_is_at_it(size: float) -> None:
    """The cone ``|z_1, z_2| <= z_0 - size`` from points beside its apex."""
    form = ConicForm(np.eye(3), size * np.array([1.0, 0, 0]), (Cone("second-order", 3),))
    q, direction = np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    for share, stays in ((0.9e-5, True), (1.5e-5, False)):
        point = size * np.array([1.0 + share, share, 0.0])
        turned = turn(form, ConicSolution(point, q, 0.0), q, direction)
        # Away from the apex the point moves around the cone, as far as its distance to the axis.
        np.testing.assert_allclose(turned, [0.0, 0.0, 0.0 if stays else -size * share], atol=1e-12)


@pytest.mark.parametrize(("multiplier", "active"), [(1e-6, False), (1.5e-6, True)])
@pytest.mark.parametrize("size", [1.0, 4.0])
def test_rows_and_norms_without_a_multiplier_do_not_hold_a_point(
    size: float, multiplier: float, active: bool
) -> None:
    """A ball and one row (or a second ball) that touch its point, with hardly a multiplier."""
    q, direction, point = np.array([size, 0.0]), np.array([0.0, size]), np.array([-1.0, 0.0])
    ball = ConicForm(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array([-1.0, 0, 0]), ())
    for kind, rows, right, dual in (
        ("nonnegative", [[0.0, 1.0]], [0.0], [multiplier]),
        ("second-order", [[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0], [multiplier, 0.0]),
        ("semidefinite", [[0.0, 1.0]], [0.0], [multiplier]),
    ):
        cones = (Cone("second-order", 3), Cone(kind, len(rows)))
        form = ConicForm(np.vstack([ball.H, rows]), np.append(ball.h, right), cones)
        solution = ConicSolution(point, size * np.array([1.0, 1.0, 0.0, *dual]), -size)
        turned = turn(form, solution, q, direction)
        np.testing.assert_allclose(turned, [0.0, 0.0 if active else -1.0], atol=1e-9)


def test_cones_without_a_multiplier_do_not_hide_those_after_them() -> None:
    wide = ConicForm(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array([-9.0, 0, 0]), ())
    unit = wide._replace(h=np.array([-1.0, 0, 0]))
    cones = (Cone("second-order", 3), Cone("second-order", 3))
    form = ConicForm(np.vstack([wide.H, unit.H]), np.append(wide.h, unit.h), cones)
    q, direction = np.array([0.6, 0.8]), np.array([0.3, -0.2])
    turned = turn(form, minimize_linear(form, q), q, direction)
    np.testing.assert_allclose(turned, -(direction - q * (q @ direction)), atol=1e-6)


def test_semidefinite_rows_that_touch_zero_twice_do_not_bend() -> None:
    """Slack and multipliers are zero in one direction: eigenvalues up to a share count as zero."""
    for least, bends in ((0.9e-5, False), (1.5e-5, True)):
        # The matrix [[z_0, z_1], [z_1, z_2]] with slack diag(least, 0) and multiplier diag(0, 1).
        root = np.sqrt(2.0)
        form = ConicForm(np.diag([1.0, root, 1.0]), np.zeros(3), (Cone("semidefinite", 3),))
        solution = ConicSolution(np.array([least, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]), 0.0)
        turned = turn(form, solution, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
        # z_2 = z_1^2 / z_0 on the edge: the cost moves z_1 by -z_0 / 2.
        np.testing.assert_allclose(turned, [0.0, -least / 2.0 if bends else 0.0, 0.0], atol=1e-12)
