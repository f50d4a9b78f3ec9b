"""Every answer of every set, compared with its conic form through a conic solver."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from feaslearn.exceptions import TooManyVerticesError
from feaslearn.sets import AffineImage, PrimitiveSet
from feaslearn.sets.half_spaces import extreme_points
from feaslearn.solvers.conic import minimize_linear, nearest_by_solver
from feaslearn.solvers.conic_form import ConicForm
from feaslearn.tolerances import ACCEPT_TOL, SAME_TOL
from registry import EVERY_SET, Array, example

#: Random costs and points of each set.
COUNT = 8
#: How far from a face a point may be that costs no more than the tolerance: curved sets bend
#: away from it with the square of the distance.
FACE_TOLERANCE = 1e-3
EVERY = tuple(EVERY_SET)


class Case(NamedTuple):
    """A set, its conic form, costs with least values, and points inside and around."""

    primitive: PrimitiveSet
    form: ConicForm
    costs: Array
    minima: Array
    extremes: Array
    inside: Array
    around: Array

    @property
    def size(self) -> float:
        return max(1.0, float(np.abs(self.extremes).max()))

    def slack(self, costs: Array) -> Array:
        """Return how much more than the least a minimiser may cost."""
        return ACCEPT_TOL * self.size * np.abs(costs).max(axis=-1)

    def assert_inside(self, Z: Array) -> None:
        limit = ACCEPT_TOL * max(1.0, float(np.abs(self.form.H).max()) * self.size)
        assert (self.form.violation(np.atleast_2d(Z)) <= limit).all()

    def assert_minimisers(self, Z: Array) -> None:
        assert Z.shape == self.costs.shape
        self.assert_inside(Z)
        assert ((self.costs * Z).sum(axis=1) <= self.minima + self.slack(self.costs)).all()

    def assert_nearest(self, points: Array, projected: Array) -> None:
        """``(z - Pz)'(v - Pz) <= 0`` for all v in the set."""
        self.assert_inside(projected)
        for z, nearest in zip(points, projected, strict=True):
            away = z - nearest
            excess = -minimize_linear(self.form, -away).value - away @ nearest
            # A projection that is off by d looks wrong by up to d times the size of the set.
            limit = max(float(np.abs(away).max()), 0.1 * self.size)
            assert excess <= ACCEPT_TOL * self.size * limit


@cache
def case(name: str) -> Case:
    rng, primitive = np.random.default_rng(0), example(name)
    form, p = primitive.conic_form(), primitive.dimension
    # The first costs are zero and small integers, so that there are ties.
    whole = rng.integers(-2, 3, size=(COUNT // 2, p)).astype(float)
    costs = np.vstack([np.zeros(p), whole, rng.normal(size=(COUNT // 2, p))])
    minima = np.array([minimize_linear(form, q).value for q in costs])
    directions = np.vstack([np.eye(p), -np.eye(p), rng.normal(size=(COUNT, p))])
    extremes = np.array([minimize_linear(form, q).point for q in directions])
    inside = rng.dirichlet(np.ones(len(extremes)), size=COUNT) @ extremes
    if primitive.discrete:
        inside = rng.choice(primitive.vertices(), size=COUNT)
    width = np.maximum(np.ptp(extremes, axis=0), 1.0)
    around = extremes.mean(axis=0) + width * rng.normal(size=(COUNT, p))
    return Case(primitive, form, costs, minima, extremes, inside, around)


@pytest.mark.parametrize("name", EVERY)
def test_form_and_parameters_stay_as_they_are(name: str) -> None:
    of = case(name)
    of.primitive.check()
    again, copied = of.primitive.conic_form(), clone(of.primitive)
    np.testing.assert_array_equal(of.form.H, again.H)
    np.testing.assert_array_equal(of.form.h, again.h)
    assert of.form.H.dtype == of.form.h.dtype == np.float64
    assert of.form.H.shape == (len(of.form.h), of.primitive.dimension)
    assert sum(cone.size for cone in of.form.cones) == len(of.form.h)
    assert repr(copied) == repr(of.primitive)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("ties", ["first", "center"])
def test_argmin_is_of_least_cost(name: str, ties: str) -> None:
    of = case(name)
    together = of.primitive.argmin(of.costs, ties=ties)
    of.assert_minimisers(together)
    for q, z in zip(of.costs, together, strict=True):
        alone = of.primitive.argmin(q, ties=ties)
        assert alone.shape == q.shape
        assert abs(q @ alone - q @ z) <= of.slack(q)
    assert (np.abs(of.primitive.minimum(of.costs) - of.minima) <= of.slack(of.costs)).all()


@pytest.mark.parametrize("name", EVERY)
def test_a_face_holds_the_minimisers_and_no_other_point(name: str) -> None:
    of, rng = case(name), np.random.default_rng(1)
    discrete = of.primitive.discrete
    for q, least in zip(of.costs, of.minima, strict=True):
        face = of.primitive.face(q)
        assert of.primitive.tied(q)[0] != face.is_point
        ends = face.primitive.argmin(rng.normal(size=(4, face.primitive.dimension)))
        mixed = rng.dirichlet(np.ones(4), size=0 if discrete else 3) @ ends
        for z in (*ends, *mixed):
            of.assert_inside(face.at(z))
            assert q @ face.at(z) <= least + of.slack(q)
        # Minimisers are found by moving the cost a little, or in the list of a discrete set.
        moves = 1e-5 * np.abs(q).max() * rng.normal(size=(4, len(q)))
        near = [minimize_linear(of.form, q + move).point for move in moves]
        for z in of.primitive.vertices() if discrete else near:
            if q @ z <= least + SAME_TOL * of.size * np.abs(q).max():
                assert face.distance(z) <= FACE_TOLERANCE * of.size


@pytest.mark.parametrize("name", EVERY)
def test_membership(name: str) -> None:
    of, rng = case(name), np.random.default_rng(2)
    tolerance = ACCEPT_TOL * of.size
    assert of.primitive.contains(of.inside, tolerance).all()
    if of.primitive.discrete:
        V = of.primitive.vertices()
        assert np.isin(V, (0.0, 1.0)).all()
        mixed = rng.dirichlet(np.ones(len(V)), size=COUNT) @ V
        far = np.array([np.abs(V - z).max(axis=1).min() > 1e-3 for z in mixed])
        assert not (far & of.primitive.contains(mixed, ACCEPT_TOL)).any()
        return
    held = of.primitive.contains(of.around, tolerance)
    for z in of.around[held]:
        nearest = nearest_by_solver(of.form, np.eye(len(z)), z)
        assert np.linalg.norm(nearest - z) <= 1e-3 * of.size


@pytest.mark.parametrize("name", EVERY)
def test_projections_are_the_nearest_points(name: str) -> None:
    of = case(name)
    for points in (of.around, of.inside):
        p = of.primitive.dimension
        projected = AffineImage(of.primitive, np.eye(p), np.zeros(p)).project(points)
        if not of.primitive.discrete:
            of.assert_nearest(points, projected)
            continue
        V = of.primitive.vertices()
        for z, nearest in zip(points, projected, strict=True):
            assert (np.abs(V - nearest).max(axis=1) <= ACCEPT_TOL).any()
            best = np.linalg.norm(V - z, axis=1).min()
            assert np.linalg.norm(z - nearest) <= best + ACCEPT_TOL


@pytest.mark.parametrize("name", EVERY)
def test_centre_and_vertices(name: str) -> None:
    of = case(name)
    center = of.primitive.center()
    of.assert_inside(center)
    assert of.primitive.contains(center, ACCEPT_TOL * of.size).all()
    try:
        V = of.primitive.vertices()
    except TooManyVerticesError:
        return
    of.assert_inside(V)
    assert len(extreme_points(V)) == len(V)
    assert ((of.costs @ V.T).min(axis=1) <= of.minima + of.slack(of.costs)).all()
