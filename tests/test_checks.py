"""The checks that users run on their own sets and losses: right ones pass, broken ones are told."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import feaslearn as fl
from feaslearn import Affine, Predictability, Suboptimality
from feaslearn.checks import check_gradient, check_primitive_set
from feaslearn.exceptions import CheckError, FeaslearnError
from feaslearn.sets import AffineImage, Box, Cone, ConicForm, L2Ball, PrimitiveSet, Simplex
from feaslearn.solvers.oracle_kernels import SIMPLEX, single
from registry import NAMES, example

Array = NDArray[np.float64]


@pytest.mark.parametrize("name", NAMES)
def test_every_set_of_the_library_is_right(name: str) -> None:
    check_primitive_set(example(name), n_cases=8)


class AtMost(PrimitiveSet):
    """At most m of p switches: 0 <= z <= 1, sum(z) <= m. Says nothing but its conic form."""

    def __init__(self, p: int, m: int) -> None:
        self.p = p
        self.m = m

    @property
    def dimension(self) -> int:
        return self.p

    def conic_form(self) -> ConicForm:
        H = np.vstack([np.eye(self.p), -np.eye(self.p), -np.ones(self.p)])
        h = np.concatenate([np.zeros(self.p), -np.ones(self.p), [-self.m]])
        return ConicForm(H, h, (Cone("nonnegative", 2 * self.p + 1),))


def test_a_set_that_says_nothing_but_its_conic_form_is_right() -> None:
    check_primitive_set(AtMost(4, 2))
    assert len(AtMost(4, 2).vertices()) == 11


def test_a_set_of_a_user_learns() -> None:
    hypothesis = Affine(AtMost(3, 2))
    assert check_gradient(Predictability(), hypothesis, n_cases=3) < 1e-5
    assert check_gradient(Suboptimality(), hypothesis, n_cases=3) < 1e-5


class ForgetsTheSum(AtMost):
    """Takes every switch that pays."""

    def argmin(self, Q: ArrayLike, ties: str = "first") -> Array:
        return (np.asarray(Q) < 0).astype(float)


class Rounds(Simplex):
    """Changes its parameter when it is made."""

    def __init__(self, p: float) -> None:
        self.p = round(p) + 1


def broken(kind: type[PrimitiveSet] = Simplex, p: int = 3, **members: Any) -> PrimitiveSet:
    """Return a set of which some members are wrong."""
    return type("Broken", (kind,), members)(p)  # type: ignore[call-arg]


def centre_elsewhere(self: Simplex, Q: ArrayLike, ties: str = "first") -> Array:
    return np.full(np.shape(Q), 1.0 / 3) if ties == "center" else Simplex.argmin(self, Q, ties)


def one_at_a_time(self: Simplex, Q: ArrayLike, ties: str = "first") -> Array:
    return Simplex.argmin(self, -np.asarray(Q) if np.ndim(Q) == 1 else Q, ties)


def by_scaling(self: Simplex, Z: ArrayLike) -> Array:
    """In the set, but not the nearest point of it."""
    positive = np.maximum(np.asarray(Z, dtype=float), 1e-3)
    return positive / positive.sum(axis=-1, keepdims=True)


def refuse(self: Simplex) -> None:
    raise fl.exceptions.SetError("no")


WRONG_MINIMUM = {"minimum": lambda self, Q: Simplex.minimum(self, Q) + 0.1}
NO_CENTRE = {"center": lambda self: np.zeros(3)}
ONE_SHORT = {"vertices": lambda self, limit=10_000: np.eye(3)[1:]}
BROKEN: list[tuple[PrimitiveSet, str]] = [
    (ForgetsTheSum(3, 1), "argmin is optimal: q="),
    (ForgetsTheSum(3, 1), "argmin with ties='center' is optimal"),
    (broken(argmin=centre_elsewhere), "argmin with ties='center' is optimal"),
    (broken(argmin=one_at_a_time), "argmin answers row by row as it does together"),
    (broken(**WRONG_MINIMUM), "minimum is the least cost"),
    (
        broken(face=lambda self, q, tolerance=None: AffineImage(Simplex(3), np.eye(3), [0, 0, 0])),
        "face holds only minimisers",
    ),
    (
        broken(face=lambda self, q, tolerance=None: AffineImage.point(Simplex(3).argmin(q))),
        "face holds all minimisers",
    ),
    (
        broken(contains=lambda self, Z, tolerance=0.0: np.ones(len(np.atleast_2d(Z)), dtype=bool)),
        "contains agrees with the conic form",
    ),
    (broken(project=by_scaling), "project returns the nearest point"),
    (broken(project=lambda self, Z: 1 / 0), "project returns the nearest point: raised ZeroDivis"),
    (broken(**NO_CENTRE), "center is in the set"),
    (broken(**ONE_SHORT), "vertices are those of the set"),
    (broken(Box, 2, code=lambda self: single(SIMPLEX, 2)), "code agrees with the conic form"),
    (broken(L2Ball, turn=lambda self, q, d: np.zeros(3)), "turn is the derivative of argmin"),
    (broken(check=refuse), "check accepts the set: raised SetError: no"),
    (Rounds(2), "parameters survive a clone"),
    (broken(Box, 2, absorbs_offset=True), "absorbs_offset is right"),
]


@pytest.mark.parametrize(("primitive", "told"), BROKEN, ids=str)
def test_a_broken_set_is_told_by_its_property(primitive: PrimitiveSet, told: str) -> None:
    with pytest.raises(CheckError, match=re.escape(told)):
        check_primitive_set(primitive, n_cases=20)


def test_all_broken_properties_are_told_at_once() -> None:
    hopeless = broken(**WRONG_MINIMUM, **NO_CENTRE, **ONE_SHORT)
    with pytest.raises(CheckError) as caught:
        check_primitive_set(hopeless, n_cases=20)
    lines = str(caught.value).splitlines()
    assert lines[0] == "Broken(p=3):"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "  - minimum is the least cost",
        "  - center is in the set",
        "  - vertices are those of the set",
    ]
    assert "more)" in lines[1]
    assert isinstance(caught.value, FeaslearnError)
    assert isinstance(caught.value, AssertionError)


def form_of(H: object, h: object, cones: tuple[Cone, ...]) -> Callable[[PrimitiveSet], ConicForm]:
    return lambda self: ConicForm(H, h, cones)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (
            form_of(np.eye(3), np.zeros(3), (Cone("zero", 3),)),
            "H has 3 columns, but dimension is 2",
        ),
        (form_of(np.eye(2), np.zeros(2), (Cone("zero", 1),)), "its cones take 1 rows, but H has 2"),
        (form_of(np.eye(2), np.zeros(2), (Cone("free", 2),)), "cones of kind ['free']"),  # type: ignore[arg-type]
        (form_of(np.eye(2), np.full(2, np.nan), (Cone("zero", 2),)), "not finite"),
        (form_of(np.eye(2), np.zeros(2), (Cone("nonnegative", 2),)), "UnboundedSetError"),
    ],
)
def test_a_conic_form_that_is_none(form: Callable[[PrimitiveSet], ConicForm], told: str) -> None:
    broken = type("Broken", (AtMost,), {"conic_form": form})
    with pytest.raises(CheckError, match=re.escape(told)) as caught:
        check_primitive_set(broken(2, 1))
    assert "conic_form is a conic form" in str(caught.value)
