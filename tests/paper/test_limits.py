"""Deadlines and Ctrl-C at any moment of a search: the best so far."""

from __future__ import annotations

import signal
from functools import partial
from typing import Any

import numpy as np
import pytest

from feaslearn import Box, Simplex
from feaslearn.paper.algorithm_1 import algorithm1
from feaslearn.paper.algorithm_2 import algorithm2
from feaslearn.paper.bilinear_program import bilinear
from feaslearn.paper.losses import Predictability
from feaslearn.paper.milp import mixed_integer
from feaslearn.paper.problem import Clock, Found, Problem, Samples
from feaslearn.paper.regions import Affine, Ternary
from feaslearn.paper.ternary_map import ternary

pytestmark = pytest.mark.usefixtures("usual_handler")


def noisy(rows: int) -> Samples:
    random = np.random.default_rng(0)
    costs = random.normal(size=(rows, 2))
    decisions = np.eye(2)[costs.argmin(axis=1)] + 0.3 * random.normal(size=costs.shape)
    return Samples(np.ones((rows, 1)), costs, decisions, np.full(rows, 1 / rows))


#: Those with a lower bound, then descents.
SEARCHES: dict[str, Any] = {
    "binary": (8, Affine(Simplex(2, binary=True)), partial(mixed_integer, n_starts=2)),
    "ternary": (4, Ternary(Box(2)), partial(ternary, n_starts=1)),
    "bilinear": (4, Affine(Simplex(2)), partial(bilinear, n_starts=1, tol=0.1)),
    "algorithm 1": (20, Affine(Simplex(4)), partial(algorithm1, n_starts=2, max_iter=10)),
    "algorithm 2": (20, Affine(Simplex(4)), partial(algorithm2, n_starts=2, max_iter=10)),
    "as printed": (20, Affine(Simplex(3)), partial(algorithm2, printed=True, max_iter=5)),
}


def search(name: str, **limits: float | None) -> Found:
    rows, region, find = SEARCHES[name]
    return find(Problem(region, Predictability(), noisy(rows)), **limits)


def count_looks(patch: pytest.MonkeyPatch, press_at: int = 0, late_at: int = 0) -> list[int]:
    """Count how often a search looks at its clock; at one of them press Ctrl-C, or end its time."""
    looks, left = [0], Clock.left.fget

    def looked(clock: Clock) -> float:
        looks[0] += 1
        if looks[0] == press_at:
            signal.raise_signal(signal.SIGINT)
        return 0.0 if 0 < late_at <= looks[0] else left(clock)

    patch.setattr(Clock, "left", property(looked))
    return looks


@pytest.mark.parametrize("name", SEARCHES)
def test_any_moment(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        looks = count_looks(patch)
        whole = search(name, max_seconds=None)
    proves = whole.lower_bound is not None
    assert whole.status == "optimal" or not proves
    for share in (0.0, 0.4, 0.9):
        moment = 1 + int(share * (looks[0] - 1))
        with pytest.MonkeyPatch.context() as patch:
            after = count_looks(patch, press_at=moment)
            pressed = search(name, max_seconds=None)
        assert proves or after[0] <= moment + 2
        with pytest.MonkeyPatch.context() as patch:
            count_looks(patch, late_at=moment)
            late = search(name, max_seconds=1e6)
        assert pressed.status == "interrupted"
        assert late.status == "time limit"
        for found in (pressed, late):
            assert found.objective == pytest.approx(found.problem.value(found.theta), rel=1e-12)
            if proves:
                least = whole.objective * (1.0 + 1e-6)
                assert 0.0 <= found.lower_bound <= least <= found.objective + 1e-6


def test_the_second_ctrl_c_gives_up() -> None:
    with Clock() as clock:
        signal.raise_signal(signal.SIGINT)
        assert clock.late()
        assert clock.status == "interrupted"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_clocks() -> None:
    with Clock(1e-9) as clock:
        assert clock.late()
        assert clock.status == "time limit"
    assert Clock().left == np.inf
    assert Clock(60.0).left <= 60.0
