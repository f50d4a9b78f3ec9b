"""The paper's programs: known answers, certificates, both ways of solving, bad input."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from feaslearn import Box, Polytope
from feaslearn.exceptions import SolverError
from feaslearn.formulations import (
    PredictabilityProgram,
    SuboptimalityProgram,
    program,
)
from registry import CURVED, example

Array = NDArray[np.float64]
NAN = float("nan")

NAMES = ("simplex-5", "l1-ball-4", "polytope-flow", "product-polyhedral", *CURVED)


def solved(
    stated: PredictabilityProgram | SuboptimalityProgram, *pair: ArrayLike
) -> program.PairSolution:
    """Solve the program of a pair that is written as lists."""
    return stated.solve(*(np.array(part, dtype=float) for part in pair))


class Pair(NamedTuple):
    A: Array
    b: Array
    c: Array
    x: Array


def make_pair(name: str, seed: int, n: int = 3) -> Pair:
    rng = np.random.default_rng([seed, *name.encode()])
    A = rng.normal(size=(n, example(name).dimension))
    return Pair(A, *rng.normal(scale=1.5, size=(3, n)))


class TestKnownAnswers:
    """A unit square and the cost (1, 0): its left side is optimal."""

    @pytest.mark.parametrize(
        ("norm", "squared", "expected"),
        [("l2", True, 13.0), ("l2", False, 13.0**0.5), ("l1", False, 5.0), ("linf", False, 3.0)],
    )
    def test_distance_to_a_face(self, norm: str, squared: bool, expected: float) -> None:
        square = PredictabilityProgram(Box(2, 0.0, 1.0), 2, norm, squared)
        found = solved(square, np.eye(2), [0, 0], [1, 0], [3.0, -2.0])
        assert found.value == pytest.approx(expected, abs=1e-8)
        assert found.gamma == pytest.approx([-3.0, 2.0], abs=1e-7)
        assert found.z == pytest.approx([0.0, 0.0], abs=1e-7)

    @pytest.mark.parametrize(
        ("norm", "squared", "expected"),
        [("l2", True, 17.0), ("l2", False, 17.0**0.5), ("l1", False, 7.0), ("linf", False, 3.0)],
    )
    def test_infeasibility_and_excess_cost(self, norm: str, squared: bool, expected: float) -> None:
        square = SuboptimalityProgram(Box(2, 0.0, 1.0), 2, norm, squared)
        found = solved(square, np.eye(2), [0, 0], [1, 0], [3.0, -2.0])
        assert found.value == pytest.approx(expected, abs=1e-8)
        assert found.excess_cost == pytest.approx(3.0, abs=1e-7)

    def test_an_unobserved_entry_does_not_count(self) -> None:
        square = PredictabilityProgram(Box(2, 0.0, 1.0), 2)
        found = solved(square, np.eye(2), [0, 0], [1, 0], [NAN, -2.0])
        assert found.value == pytest.approx(4.0, abs=1e-8)
        assert found.decision == pytest.approx([0.0, -2.0], abs=1e-7)
        assert found.gamma == pytest.approx([0.0, 2.0], abs=1e-7)

    def test_an_unobserved_entry_is_completed_where_the_loss_is_least(self) -> None:
        # The region is the origin. With x = (1, u), g = |(1, u)| and J = 1 + u: best at u = -1/2.
        point = SuboptimalityProgram(Box(2, 0.0, 0.0), 2)
        found = solved(point, np.eye(2), [0, 0], [1, 1], [1.0, NAN])
        assert found.value == pytest.approx(1.5, abs=1e-7)
        assert found.decision == pytest.approx([1.0, -0.5], abs=1e-5)

    def test_cheaper_than_the_optimum_is_no_excess(self) -> None:
        square = SuboptimalityProgram(Box(2, 0.0, 1.0), 2)
        found = solved(square, np.eye(2), [0, 0], [1, 0], [-2.0, 0.5])
        assert found.value == pytest.approx(4.0, abs=1e-8)
        # The value is exact to 1e-12, so its square's small part only to 1e-6.
        assert found.excess_cost == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_predictability_optimum_satisfies_its_rows(name: str) -> None:
    H, h, _ = example(name).conic_form()
    stated = PredictabilityProgram(example(name), 3)
    for seed in range(2):
        pair = make_pair(name, seed)
        found = stated.solve(*pair)
        reached = pair.x + found.gamma
        assert reached == pytest.approx(pair.A @ found.z + pair.b, abs=1e-7)
        assert example(name).contains(found.z, 1e-7)
        assert H.T @ found.lam == pytest.approx(pair.A.T @ pair.c, abs=1e-7)
        assert pair.c @ (reached - pair.b) <= found.lam @ h + 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_the_suboptimality_optimum_satisfies_its_rows(name: str) -> None:
    H, h, _ = example(name).conic_form()
    stated = SuboptimalityProgram(example(name), 3)
    for seed in range(2):
        pair = make_pair(name, seed)
        found = stated.solve(*pair)
        assert pair.x + found.gamma == pytest.approx(pair.A @ found.z + pair.b, abs=1e-7)
        assert example(name).contains(found.z, 1e-7)
        assert H.T @ found.lam == pytest.approx(pair.A.T @ pair.c, abs=1e-6)
        assert pair.c @ (pair.x - pair.b) - found.lam @ h <= found.excess_cost + 1e-6
        assert found.excess_cost >= -1e-9


@pytest.mark.parametrize("stated", [PredictabilityProgram, SuboptimalityProgram])
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_an_empty_set(
    stated: type[PredictabilityProgram] | type[SuboptimalityProgram], norm: str
) -> None:
    empty = stated(Polytope([[1.0], [-1.0]], [1.0, 0.0]), 1, norm)
    with pytest.raises(SolverError, match=r"no solver solved the .* program .*CLARABEL: "):
        solved(empty, [[1.0]], [0.0], [1.0], [0.0])
