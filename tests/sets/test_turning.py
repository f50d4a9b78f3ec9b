"""How minimisers over curved sets move with the cost, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn import ConicSet
from feaslearn.sets import Cone, ConicForm
from feaslearn.sets.conic_faces import turn
from feaslearn.solvers.conic import minimize_linear
from feaslearn.solvers.conic_form import stack
from registry import POLYHEDRAL, example


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


def test_cones_without_a_multiplier_do_not_hide_those_after_them() -> None:
    wide = ConicForm(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array([-9.0, 0, 0]), ())
    unit = wide._replace(h=np.array([-1.0, 0, 0]))
    cones = (Cone("second-order", 3), Cone("second-order", 3))
    form = ConicForm(np.vstack([wide.H, unit.H]), np.append(wide.h, unit.h), cones)
    q, direction = np.array([0.6, 0.8]), np.array([0.3, -0.2])
    turned = turn(form, minimize_linear(form, q), q, direction)
    np.testing.assert_allclose(turned, -(direction - q * (q @ direction)), atol=1e-6)
