"""Data, problems, true problems, what is measured of a region, and searches that end early."""

from __future__ import annotations

import signal
from functools import partial
from typing import Any

import numpy as np
import pytest

import feaslearn.paper as paper
from feaslearn.exceptions import DataError
from feaslearn.paper.algorithm_1 import algorithm1
from feaslearn.paper.algorithm_2 import algorithm2
from feaslearn.paper.bilinear_program import bilinear
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.milp import mixed_integer
from feaslearn.paper.problem import Clock, Data, Found, Problem, Samples
from feaslearn.paper.regions import Affine, Scaled, Ternary
from feaslearn.paper.ternary_map import ternary
from feaslearn.paper.truth import KnownRegion
from feaslearn.sets import Box, L1Ball, Simplex

S = np.linspace(0.05, 0.95, 10)[:, None]
SWITCH = Data(S, np.hstack([S < 0.5, S >= 0.5]), np.hstack([S, 1.0 - S]), [0])


# Data and problems.


def test_every_name_of_the_table_of_contents() -> None:
    for name in paper.__all__:
        value = getattr(paper, name)
        module = getattr(value, "__module__", value.__name__)
        assert module.startswith(("feaslearn.paper.", "feaslearn.sets.")), name
        assert name in dir(paper)
    with pytest.raises(AttributeError, match="algorithm3"):
        _ = paper.algorithm3


def test_slices_of_data() -> None:
    for rows in (slice(3), np.array([2, 1, 0]), SWITCH.signals[:, 0] < 0.3):
        part = SWITCH[rows]
        assert len(part) == 3
        assert part.cost_columns == (0,)
    assert SWITCH[:3].costs.tolist() == SWITCH.costs[:3].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signals": S[:3]}, "one row for each sample"),
        ({"signals": S * np.nan}, "signals is not a table"),
        ({"signals": S[:, 0]}, "signals is not a table"),
        ({"costs": SWITCH.costs[:, :1]}, "each decision needs a cost"),
        ({"costs": SWITCH.costs * np.inf}, "costs is not a table"),
        ({"decisions": np.full((10, 2), np.nan)}, "decisions is not a table"),
    ],
)
def test_wrong_data(change: dict[str, Any], message: str) -> None:
    whole = {"signals": S, "decisions": SWITCH.decisions, "costs": SWITCH.costs}
    with pytest.raises(DataError, match=message):
        Data(**{**whole, **change})


def test_features_and_weights() -> None:
    signals = np.hstack([S, 2.0 * S, 3.0 * S])
    data = Data(signals, SWITCH.decisions, SWITCH.costs, [1])
    few = Problem.of(Affine(Simplex(2)), data, weights=np.arange(1.0, 11.0))
    assert few.samples.features[0].tolist() == [1.0, *signals[0, [0, 2]]]
    assert few.samples.weights == pytest.approx(np.arange(1.0, 11.0) / 55.0)
    every = Problem.of(Affine(Simplex(2)), data, features="all")
    assert (every.n_features, every.n_decisions, every.n_samples) == (4, 2, 10)
    assert every.size == 16
    for wrong in ({"features": "some"}, {"weights": np.zeros(10)}, {"weights": np.ones(9)}):
        with pytest.raises(DataError):
            Problem.of(Affine(Simplex(2)), data, **wrong)
    with pytest.raises(DataError, match="as many entries"):
        Problem.of(Scaled(Box(3)), data)


def test_weights_are_copies_of_samples() -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(6), rng.normal(size=6)])
    whole = Samples(features, *rng.normal(size=(2, 6, 2)), np.array([3.0, 1, 1, 1, 1, 1]) / 8.0)
    copies = whole.rows(np.array([0, 0, 0, 1, 2, 3, 4, 5]))._replace(weights=np.full(8, 1 / 8))
    for loss in (Predictability(), Suboptimality()):
        problem = Problem(Affine(Box(3)), loss, whole)
        theta = rng.normal(size=problem.size)
        value, gradient = problem.value_and_gradient(theta)
        other = problem.with_samples(copies).value_and_gradient(theta)
        assert (value, gradient.tolist()) == (
            pytest.approx(other[0]),
            pytest.approx(other[1].tolist()),
        )
        assert value == problem.value(theta)


def test_what_was_found() -> None:
    problem = Problem.of(Affine(Simplex(2)), SWITCH)
    found = Found(problem, np.eye(2).ravel(), 0.0, "optimal")
    assert found.predict(SWITCH).tolist() == SWITCH.decisions.tolist()
    assert found.maps().A.shape == (1, 2, 2)
    bare = Problem(problem.region, problem.loss, problem.samples)
    with pytest.raises(DataError, match="stated without data"):
        Found(bare, found.theta, 0.0, "optimal").predict(SWITCH)


def test_the_share_of_ties() -> None:
    problem = Problem.of(Affine(Simplex(3)), SWITCH)
    apart = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])  # two columns are one decision
    assert problem.tied_share(apart.ravel()) == 0.0
    equal = Problem(problem.region, problem.loss, problem.samples._replace(costs=np.ones((10, 2))))
    assert equal.tied_share(apart.ravel()) == pytest.approx(1.0)


# What tables show.


def ball(radius: float) -> KnownRegion:
    """The l1 ball around (1, 1)."""
    theta = np.array([radius, 1.0, 1.0])
    return KnownRegion(Scaled(L1Ball(2)), theta, lambda s: np.ones((len(s), 1)))


def test_losses_of_a_ball_that_is_too_large() -> None:
    """Learned radius 1.5, true radius 1: every loss by hand."""
    rng = np.random.default_rng(0)
    costs = rng.uniform(-1.0, 1.0, size=(40, 2))
    truth, signals = ball(1.0), costs
    data = Data(signals, truth.solve(signals, costs), costs, [0, 1], truth)
    large = ball(1.5)
    problem = Problem.of(large.region, data)
    measured = paper.evaluate(Found(problem, large.theta, 0.0, "optimal"), data)
    dear = 0.5 * np.abs(costs).max(axis=1)
    assert measured.returned == pytest.approx(0.25)
    assert measured.predictability == pytest.approx(0.25)
    assert measured.suboptimality == pytest.approx((dear**2).mean())
    assert measured.true_predictability == pytest.approx(0.25)
    # Too cheap is no excess: the returned decision is off the true ball by 0.5 in one entry.
    off = [
        ball(1.0).distance_to_feasible(x[None], s[None])[0]
        for x, s in zip(large.solve(signals, costs), signals, strict=True)
    ]
    assert measured.true_suboptimality == pytest.approx(np.square(off).mean())
    unit = paper.evaluate(
        Found(problem, large.theta, 0.0, "optimal"), data, normalize_cost=True
    ).suboptimality
    assert unit == pytest.approx((dear**2 / (costs**2).sum(axis=1)).mean())


def test_decisions_without_a_region() -> None:
    measured = paper.evaluate(SWITCH.decisions[:, ::-1], SWITCH)
    assert (measured.returned, measured.predictability, measured.true_suboptimality) == (
        2.0,
        None,
        None,
    )
    with pytest.raises(DataError, match="predictions have shape"):
        paper.evaluate(SWITCH.decisions[:3], SWITCH)


# Deadlines and Ctrl-C at any moment of a search: the best so far.

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
