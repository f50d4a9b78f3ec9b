"""Minimisers, membership, centre, faces and parameters of every set of the registry."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import EmptySetError, SetError, TooManyVerticesError, UnsupportedError
from feaslearn.region.latent_set import latent_set
from feaslearn.sets import AffineImage, Box, Hypersimplex, L1Ball, L2Ball, Polytope, Simplex
from feaslearn.sets.product import Product
from feaslearn.solvers.oracle_kernels import minimize_rows, predict_rows
from feaslearn.tolerances import TIE_TOL
from registry import BINARY_SETS, NAMES, POLYHEDRAL, conic_set, cube, example, fit_to, mixtures


@pytest.mark.parametrize("name", [name for name in NAMES if example(name).code() is not None])
def test_kernels_answer_like_sets_and_see_the_ties_that_faces_show(name: str) -> None:
    primitive, code = example(name), example(name).code()
    p = primitive.dimension
    Q = np.vstack([np.zeros(p), np.random.default_rng(0).integers(-1, 2, size=(20, p))])
    identity, nothing = np.eye(p)[None], np.zeros((1, p))
    found = np.empty_like(Q), np.empty(len(Q), dtype=bool)
    minimize_rows(code, Q, TIE_TOL * np.abs(Q).max(axis=1), *found)
    np.testing.assert_array_equal(found[0], primitive.argmin(Q))
    for q in Q:
        x, tied = np.empty((1, p)), np.empty(1, dtype=bool)
        predict_rows(code, identity, nothing, np.ones((1, 1)), q[None, :], TIE_TOL, x, tied)
        np.testing.assert_array_equal(x[0], primitive.argmin(q))
        assert tied[0] == primitive.tied(q)[0]
        assert tied[0] != primitive.face(q).is_point


@pytest.mark.parametrize("name", ["simplex-5", "conic-half-disc"])
@pytest.mark.parametrize("kind", ["float32", "int64", "fortran", "strided", "list"])
def test_any_kind_of_array_is_read(name: str, kind: str) -> None:
    primitive = example(name)
    p = primitive.dimension
    Q = np.random.default_rng(0).integers(-3, 4, size=(4, p)).astype(float)
    given_as = {
        "float32": Q.astype(np.float32),
        "int64": Q.astype(np.int64),
        "fortran": np.asfortranarray(Q),
        "strided": np.repeat(Q, 2, axis=1)[:, ::2],
        "list": Q.tolist(),
    }[kind]
    np.testing.assert_array_equal(primitive.argmin(given_as), primitive.argmin(Q))


@pytest.mark.parametrize("name", [name for name in POLYHEDRAL if example(name).code() is not None])
def test_first_minimiser_of_no_cost_is_the_first_vertex(name: str) -> None:
    primitive = example(name)
    np.testing.assert_array_equal(
        primitive.argmin(np.zeros(primitive.dimension)), primitive.vertices()[0]
    )


@pytest.mark.parametrize("name", NAMES)
def test_centre_is_in_the_relative_interior(name: str) -> None:
    primitive = example(name)
    center = primitive.center()
    assert primitive.contains(center, 1e-7).all()
    # From the centre every point of the set can be overshot a little without leaving it.
    inside = mixtures(primitive, np.random.default_rng(0), 20)
    assert primitive.contains(center - 0.02 * (inside - center), 1e-6).all()


def test_which_sets_take_up_an_offset() -> None:
    """Those whose points all have the same sum of entries, which is not zero."""
    names = {name for name in NAMES if example(name).absorbs_offset}
    assert names == {name for name in NAMES if name.startswith(("simplex", "hypersimplex"))}
    for name in names:
        sums = example(name).vertices().sum(axis=1)
        assert sums[0] != 0.0
        assert (sums == sums[0]).all()


def test_a_changed_parameter_changes_every_answer() -> None:
    square = np.vstack([np.eye(2), -np.eye(2)])
    polytope = Polytope(square, [0.0, 0.0, -1.0, -1.0])
    assert polytope.argmin([-1.0, -1.0]).tolist() == [1.0, 1.0]
    polytope.set_params(h=[0.0, 0.0, -3.0, -1.0])
    assert polytope.argmin([-1.0, -1.0]).tolist() == [3.0, 1.0]
    assert len(polytope.vertices()) == 4
    polytope.vertices()[:] = 7.0  # a caller's copy is a caller's
    assert polytope.vertices().max() == 3.0


@pytest.mark.parametrize(
    ("primitive", "shown"),
    [
        (Simplex(9), "Simplex(p=9)"),
        (Hypersimplex(5, 2), "Hypersimplex(p=5, m=2)"),
        (Box(2, 0.0, [1.0, 2.0]), "Box(p=2, lower=0.0, upper=[1.0, 2.0])"),
        (Box(2, np.zeros(2), np.ones(2)), "Box(p=2, lower=<2>, upper=<2>)"),
        (
            Product([Simplex(2), Box(1)]),
            "Product(sets=[Simplex(p=2), Box(p=1, lower=-1.0, upper=1.0)])",
        ),
        (Polytope(np.eye(2), [0.0, 0.0]), "Polytope(H=<2x2>, h=[0.0, 0.0])"),
        (Polytope([[1.0], [1.0, 2.0]], [0.0]), "Polytope(H=[[1.0], [1.0, 2.0]], h=[0.0])"),
    ],
)
def test_repr_is_honest(primitive: Simplex, shown: str) -> None:
    assert repr(primitive) == shown


# Sets that hold binary points alone: answers against a list made by hand.


def test_the_points_of_a_knapsack_are_those_that_fit() -> None:
    found = BINARY_SETS["binary-knapsack"]().vertices()
    fitting = [z for z in product((1.0, 0.0), repeat=4) if np.dot(z, [2, 3, 4, 1]) <= 5.0]
    np.testing.assert_array_equal(found, fitting)


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


def test_regions_and_hypotheses_are_convex() -> None:
    points = fl.Simplex(2, binary=True)
    region = fl.Region(AffineImage(points, np.eye(2), np.zeros(2)))
    with pytest.raises(UnsupportedError, match=r"feaslearn\.paper"):
        _ = region.form
    data = fl.datasets.make_switch(20, random_state=0)
    for hypothesis in (fl.Affine(points), fl.Minkowski([fl.Term(points)])):
        with pytest.raises(fl.exceptions.FeaslearnError, match=r"feaslearn\.paper"):
            fit_to(data, hypothesis)


def test_a_region_of_points() -> None:
    corners = np.array([[0.0, 2.0, 0.5], [0.0, 0.0, 0.5]])
    region = fl.Region(AffineImage(fl.Simplex(3, binary=True), corners, np.zeros(2)))
    assert region.contains([[0.5, 0.5], [1.0, 0.0]]).tolist() == [True, False]
    assert region.project([1.2, 0.1]).tolist() == [0.5, 0.5]
    assert len(region.vertices()) == 3
    assert region.distance([1.25, 0.0]) == pytest.approx(0.75)


# Faces and conic sets.

#: Sets, costs, the box of the face where they are least, and how near it is found.
FACES = [
    ("conic-half-disc", [0.0, 2.0], [-1.0, 0.0], [1.0, 0.0], 1e-7),
    *(
        ("conic-half-disc", [-x, -y], [x, y], [x, y], 1e-6)
        for x, y in ((np.cos(angle), np.sin(angle)) for angle in (0.3, np.pi / 2, 2.9))
    ),
    ("conic-ice-cream", [1.0, 1.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], 1e-6),
    ("semidefinite-elliptope", [1.0, 0, 0], [-1.0, -1, -1], [-1.0, 1, 1], 1e-6),
    ("semidefinite-elliptope", [1.0, 1, 1], [-0.5] * 3, [-0.5] * 3, 1e-6),
    ("semidefinite-elliptope", [-1.0, -1, -1], [1.0, 1, 1], [1.0, 1, 1], 1e-6),
    # Here neither slack nor multipliers are positive in one direction.
    ("semidefinite-elliptope", [2.0, 1, 2], [-1.0, 1, -1], [-1.0, 1, -1], 1e-6),
    ("semidefinite-elliptope", [1.0, 1, 0], [-1.0, -1, 1], [-1.0, -1, 1], 1e-6),
]


@pytest.mark.parametrize(("name", "cost", "lower", "upper", "near"), FACES)
def test_faces_by_hand(
    name: str, cost: list[float], lower: list[float], upper: list[float], near: float
) -> None:
    face = example(name).face(cost)
    found = face.bounding_box()
    assert found[0] == pytest.approx(lower, abs=near)
    assert found[1] == pytest.approx(upper, abs=near)
    assert face.is_point == (lower == upper)


def test_the_edge_of_a_cone_holds_the_line_from_its_apex_to_its_rim() -> None:
    face = example("conic-ice-cream").face([1.0, 1.0, 0.0])
    assert face.contains([[0.5, -0.5, 0.0]], 1e-6).all()
    assert not face.contains([[0.5, 0.0, 0.0]], 1e-3).any()


def test_tolerance_decides_what_ties() -> None:
    for primitive, q in (
        (Simplex(2), [1.0, 1.001]),
        (L1Ball(2), [1.0, -1.001]),
        (Box(2), [1.0, 0.001]),
        (L2Ball(2), [1e-4, 1e-4]),
        (Polytope([[1, 0], [0, 1], [-1, -1]], [0, 0, -1]), [-1.0, -1.001]),
        (example("conic-half-disc"), [1e-4, 1e-4]),
    ):
        assert primitive.face(q).is_point, primitive
        assert not primitive.face(q, tolerance=0.01).is_point, primitive


def test_a_block_that_costs_next_to_nothing_ties_in_a_product() -> None:
    q = [1.0, 1e-12, -1e-12]
    for second in (L2Ball(2), example("conic-half-disc")):
        pair = Product([Box(1), second])
        face = pair.face(q)
        assert face.contains([[-1.0, 0.1, 0.2], [-1.0, -0.9, 0.1]], 1e-7).all()
        assert pair.tied(q)[0]


def test_a_single_point_never_ties() -> None:
    nothing = np.zeros(2)
    point = [[1.0, 0], [0, 1], [1, 0], [0, 1]]
    cones = [("nonnegative", 2), ("zero", 2)]
    for primitive in (
        Box(2, 1.0, 1.0),
        Polytope(np.eye(2), [0.0, 0.0], [[1.0, 1.0]], [0.0]),
        conic_set(point, [0.0, 0, 1, 2], *cones),
    ):
        assert not primitive.tied(nothing)[0], primitive


# Conic sets.


def test_which_points_a_set_holds() -> None:
    cap = example("semidefinite-parabola-cap")
    points = np.array([[0.5, 0.25], [0.5, 0.5], [0.0, -0.5], [0.0, 3.0]])
    assert cap.contains(points).tolist() == [True, True, False, False]
    assert not cap.conic_form().polyhedral


def test_regions_of_rows_take_no_semidefinite_cone() -> None:
    with pytest.raises(UnsupportedError, match="second-order cones alone"):
        latent_set(example("semidefinite-elliptope"))
