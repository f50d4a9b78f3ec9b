"""Ctrl-C at any moment: the best model so far, or none at all, and later fits as ever."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.runs import Run
from feaslearn.trainers import Annealing, Convex, FacetLearning

POWER = fl.datasets.make_power5(40, noise=0.05, random_state=1)
BALL = fl.datasets.make_l1_ball(60, n=3, noise=0.1, random_state=1)
SWITCH = fl.datasets.make_switch(30, noise=0.1, random_state=1)
MANY = fl.datasets.make_l1_ball(20_100, n=2, noise=0.1, random_state=1)
KNOWN = fl.Known(bounds=(0.0, 3.6), contradictions="keep")

#: Data, hypothesis, trainer and other parameters of fits.
FITS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "annealing": (POWER, fl.Affine(fl.Simplex(3)), Annealing(20, n_starts=1), {}),
    "annealing of many": (MANY, fl.Affine(fl.L1Ball(2)), Annealing(9, n_starts=1, ridge=0.1), {}),
    "facets under noise": (BALL, fl.Facets(), FacetLearning(), {}),
    "facets": (POWER, fl.Facets(), "auto", {}),
    "convex": (POWER, fl.Minkowski("auto"), Convex(), {}),
    "robust": (POWER, fl.Minkowski.pairs(3), Convex(robust=True), {}),
    "known": (POWER, fl.Minkowski.pairs(3), "auto", {"known": KNOWN}),
    "chosen": (SWITCH, None, "auto", {}),
}


@pytest.fixture(autouse=True)
def _usual_handler() -> Iterator[None]:
    # A process that a shell put into the background ignores the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def model_of(name: str) -> fl.RegionRegressor:
    data, hypothesis, trainer, others = FITS[name]
    return fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=5, **others)


def fitted(name: str) -> fl.RegionRegressor:
    return model_of(name).fit(FITS[name][0].signals, FITS[name][0].decisions)


@contextmanager
def looks_at_the_clock(press_at: int | None = None) -> Iterator[list[int]]:
    """Count how often a fit looks at its clock, and press Ctrl-C at one of these moments."""
    looks, out = [0], Run.late

    def looked(run: Run) -> bool:
        looks[0] += 1
        if looks[0] == press_at:
            signal.raise_signal(signal.SIGINT)
        return out(run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "late", looked)
        yield looks


#: Those in `make test`, at one moment (a share of the looks at the clock); all in `make soak`.
QUICK = ("annealing", "facets under noise", "convex")
MOMENTS = [
    pytest.param(name, share, marks=[] if share == 0.4 and name in QUICK else [pytest.mark.soak])
    for name in FITS
    for share in (0.0, 0.4, 0.9)
]


@pytest.mark.parametrize(("name", "share"), MOMENTS)
def test_any_moment(name: str, share: float, caplog: pytest.LogCaptureFixture) -> None:
    with looks_at_the_clock() as looks:
        whole = fitted(name)
    assert whole.result_.status != "interrupted"
    with looks_at_the_clock(1 + int(share * (looks[0] - 1))):
        try:
            model = fitted(name)
            ended = model.result_.status
            assert np.isfinite(model.predict(FITS[name][0].signals)).all()
        except KeyboardInterrupt:
            ended = "nothing yet"
    # A later fit ends as if none had ever been stopped.
    np.testing.assert_array_equal(fitted(name).theta_, whole.theta_)
    assert ended in ("interrupted", "nothing yet")
    assert ended == "interrupted" or share < 0.9
    assert "Ctrl-C again" in caplog.text


def test_a_second_time_gives_it_up() -> None:
    model = fl.RegionRegressor(cost=POWER.cost, trainer=PressedTwice())
    with pytest.raises(KeyboardInterrupt):
        model.fit(POWER.signals, POWER.decisions)


class PressedTwice(Convex):
    def search(self, objective: Any, random: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        return super().search(objective, random)


def test_a_handler_of_the_user_is_left_alone() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("pressed"))
    with looks_at_the_clock(3):
        model = fitted("convex")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == ["pressed"]
    assert model.result_.status in ("optimal", "converged")
