"""Optimal faces of sets, and conic sets."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.exceptions import TooManyVerticesError, UnsupportedError
from feaslearn.region.latent_set import latent_set
from feaslearn.sets import Box, L1Ball, L2Ball, Polytope, Simplex
from feaslearn.sets.product import Product
from registry import conic_set, example

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


def test_a_conic_triangle_is_the_polytope() -> None:
    conic, plain = example("conic-polyhedral"), example("polytope-triangle")
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(6, 2))
    assert conic.argmin(Q) == pytest.approx(plain.argmin(Q), abs=1e-9)
    assert conic.minimum(Q) == pytest.approx(plain.minimum(Q), abs=1e-9)
    assert conic.tied([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]).tolist() == [True, False, True]
    assert sorted(map(tuple, conic.vertices())) == sorted(map(tuple, plain.vertices()))
    with pytest.raises(TooManyVerticesError, match="curved"):
        example("conic-half-disc").vertices()


def test_regions_of_rows_take_no_semidefinite_cone() -> None:
    with pytest.raises(UnsupportedError, match="second-order cones alone"):
        latent_set(example("semidefinite-elliptope"))
