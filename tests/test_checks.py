"""The checks that users run on their own sets and losses: right ones pass, broken ones are told."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import feaslearn as fl
from feaslearn import Affine, Predictability, Suboptimality
from feaslearn.checks import check_gradient, check_primitive_set
from feaslearn.exceptions import CheckError, FeaslearnError
from feaslearn.sets import AffineImage, Box, Cone, ConicForm, L2Ball, PrimitiveSet, Simplex
from feaslearn.solvers.oracle_kernels import SIMPLEX, SetCode, single
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


class TakesDearest(Simplex):
    def argmin(self, Q: ArrayLike, ties: str = "first") -> Array:
        return super().argmin(-np.asarray(Q), ties)


class CentreElsewhere(Simplex):
    def argmin(self, Q: ArrayLike, ties: str = "first") -> Array:
        if ties == "center":
            return np.full(np.shape(Q), 1.0 / self.p)
        return super().argmin(Q, ties)


class OneAtATime(Simplex):
    """Answers a single cost with the last row's answer of another set of ties."""

    def argmin(self, Q: ArrayLike, ties: str = "first") -> Array:
        if np.ndim(Q) == 1:
            return super().argmin(-np.asarray(Q), ties)
        return super().argmin(Q, ties)


class WrongMinimum(Simplex):
    def minimum(self, Q: ArrayLike) -> Array:
        return super().minimum(Q) + 0.1


class WholeSetAsFace(Simplex):
    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        return AffineImage(Simplex(self.p), np.eye(self.p), np.zeros(self.p))


class OneVertexAsFace(Simplex):
    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        return AffineImage.point(Simplex(self.p).argmin(np.asarray(q, dtype=float)))


class HoldsEverything(Simplex):
    def contains(self, Z: ArrayLike, tolerance: float = 1e-9) -> NDArray[np.bool_]:
        return np.ones(len(np.atleast_2d(Z)), dtype=bool)


class HoldsNothing(Simplex):
    def contains(self, Z: ArrayLike, tolerance: float = 1e-9) -> NDArray[np.bool_]:
        return np.zeros(len(np.atleast_2d(Z)), dtype=bool)


class ProjectsByScaling(Simplex):
    """In the set, but not the nearest point of it."""

    def project(self, Z: ArrayLike) -> Array:
        positive = np.maximum(np.asarray(Z, dtype=float), 1e-3)
        return positive / positive.sum(axis=-1, keepdims=True)


class ProjectsOutside(Simplex):
    def project(self, Z: ArrayLike) -> Array:
        return np.asarray(Z, dtype=float)


class CentreOutside(Simplex):
    def center(self) -> Array:
        return np.zeros(self.p)


class OneVertexShort(Simplex):
    def vertices(self, limit: int = 10_000) -> Array:
        return super().vertices(limit)[1:]


class OneVertexMore(Simplex):
    def vertices(self, limit: int = 10_000) -> Array:
        return np.vstack([super().vertices(limit), np.full(self.p, 1.0 / self.p)])


class CodeOfAnother(Box):
    def code(self) -> SetCode:
        return single(SIMPLEX, self.p)


class NeverTurns(L2Ball):
    def turn(self, q: Array, direction: Array) -> Array:
        return np.zeros(self.p)


class RefusesItself(Simplex):
    def check(self) -> None:
        raise fl.exceptions.SetError("no")


class Rounds(Simplex):
    """Changes its parameter when it is made."""

    def __init__(self, p: float) -> None:
        self.p = round(p) + 1


class AbsorbsNothing(Box):
    absorbs_offset = True


class Raises(Simplex):
    def project(self, Z: ArrayLike) -> Array:
        raise ZeroDivisionError("division by zero")


BROKEN: list[tuple[PrimitiveSet, str]] = [
    (ForgetsTheSum(3, 1), "argmin is optimal: q="),
    (ForgetsTheSum(3, 1), "argmin with ties='center' is optimal"),
    (TakesDearest(3), "argmin is optimal"),
    (CentreElsewhere(3), "argmin with ties='center' is optimal"),
    (OneAtATime(3), "argmin answers row by row as it does together"),
    (WrongMinimum(3), "minimum is the least cost"),
    (WholeSetAsFace(3), "face holds only minimisers"),
    (OneVertexAsFace(3), "face holds all minimisers"),
    (HoldsEverything(3), "contains agrees with the conic form"),
    (HoldsNothing(3), "contains agrees with the conic form"),
    (ProjectsByScaling(3), "project returns the nearest point"),
    (ProjectsOutside(3), "project returns the nearest point"),
    (CentreOutside(3), "center is in the set"),
    (OneVertexShort(3), "vertices are those of the set"),
    (OneVertexMore(3), "vertices are those of the set"),
    (CodeOfAnother(2, 0.0, 1.0), "code agrees with the conic form"),
    (NeverTurns(3), "turn is the derivative of argmin"),
    (RefusesItself(3), "check accepts the set: it raised SetError: no"),
    (Rounds(2), "parameters survive a clone"),
    (AbsorbsNothing(2), "absorbs_offset is right"),
    (Raises(2), "project returns the nearest point: raised ZeroDivisionError"),
]


@pytest.mark.parametrize(("primitive", "told"), BROKEN, ids=lambda value: type(value).__name__)
def test_a_broken_set_is_told_by_its_property(primitive: PrimitiveSet, told: str) -> None:
    with pytest.raises(CheckError, match=re.escape(told)):
        check_primitive_set(primitive, n_cases=20)


def test_all_broken_properties_are_told_at_once() -> None:
    class Hopeless(WrongMinimum, CentreOutside, OneVertexShort):
        pass

    with pytest.raises(CheckError) as caught:
        check_primitive_set(Hopeless(3), n_cases=20)
    lines = str(caught.value).splitlines()
    assert lines[0] == "Hopeless(p=3):"
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
        (form_of(np.eye(2), np.zeros(3), (Cone("zero", 2),)), "H has shape (2, 2) and h (3,)"),
        (
            form_of(np.eye(3), np.zeros(3), (Cone("zero", 3),)),
            "H has 3 columns, but dimension is 2",
        ),
        (form_of(np.eye(2), np.zeros(2), (Cone("zero", 1),)), "its cones take 1 rows, but H has 2"),
        (form_of(np.eye(2), np.zeros(2), (Cone("free", 2),)), "cones of kind ['free']"),  # type: ignore[arg-type]
        (form_of(np.eye(2), np.full(2, np.nan), (Cone("zero", 2),)), "not finite"),
        (form_of([[1, 0], [0, 1]], [0, 0], (Cone("zero", 2),)), "both must hold floats"),
        (form_of(np.eye(2), np.zeros(2), (Cone("nonnegative", 2),)), "UnboundedSetError"),
    ],
)
def test_a_conic_form_that_is_none(form: Callable[[PrimitiveSet], ConicForm], told: str) -> None:
    broken = type("Broken", (AtMost,), {"conic_form": form})
    with pytest.raises(CheckError, match=re.escape(told)) as caught:
        check_primitive_set(broken(2, 1))
    assert "conic_form is a conic form" in str(caught.value)
