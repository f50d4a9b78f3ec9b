"""Deadlines and Ctrl-C at any moment of a search with a lower bound: the best so far."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from feaslearn import Box, Simplex
from feaslearn.paper.bilinear_program import bilinear
from feaslearn.paper.losses import Predictability
from feaslearn.paper.milp import mixed_integer
from feaslearn.paper.problem import Clock, Found, Problem, Samples
from feaslearn.paper.regions import Affine, Ternary
from feaslearn.paper.ternary_map import ternary


def noisy(rows: int) -> Samples:
    random = np.random.default_rng(0)
    costs = random.normal(size=(rows, 2))
    decisions = np.eye(2)[costs.argmin(axis=1)] + 0.3 * random.normal(size=costs.shape)
    return Samples(np.ones((rows, 1)), costs, decisions, np.full(rows, 1 / rows))


SEARCHES: dict[str, Any] = {
    "binary": (8, Affine(Simplex(2, binary=True)), partial(mixed_integer, n_starts=2)),
    "ternary": (4, Ternary(Box(2)), partial(ternary, n_starts=1)),
    "bilinear": (4, Affine(Simplex(2)), partial(bilinear, n_starts=1, tol=0.1)),
}


@pytest.fixture(autouse=True)
def _usual_handler() -> Iterator[None]:
    # A process that a shell put into the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


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


@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("name", SEARCHES)
def test_any_moment(name: str, share: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        looks = count_looks(patch)
        whole = search(name, max_seconds=None)
    assert whole.status == "optimal"
    moment = 1 + int(share * (looks[0] - 1))
    with pytest.MonkeyPatch.context() as patch:
        count_looks(patch, press_at=moment)
        pressed = search(name, max_seconds=None)
    with pytest.MonkeyPatch.context() as patch:
        count_looks(patch, late_at=moment)
        late = search(name, max_seconds=1e6)
    assert pressed.status == "interrupted"
    assert late.status == "time limit"
    for found in (pressed, late):
        assert found.objective == found.problem.value(found.theta)
        assert 0.0 <= found.lower_bound <= whole.objective * (1.0 + 1e-6) <= found.objective + 1e-6
