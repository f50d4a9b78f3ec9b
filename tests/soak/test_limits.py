"""Trainers whose deadline is too short for their problem stop searching when it is over.

A deadline is kept if the search looks at its clock at most a tenth of the limit and two seconds
after it; measuring the result comes on top. Kernels are compiled on a small problem first: the time
of that is not counted.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest

import feaslearn as fl
from feaslearn.exceptions import FeaslearnError
from feaslearn.runs import Run
from feaslearn.trainers import Annealing, Convex, FacetLearning

SECONDS = 5.0


def power(count: int, noise: float = 0.1) -> Any:
    return fl.datasets.make_power5(count, noise=noise, random_state=1)


def ball(count: int, n: int = 3) -> Any:
    return fl.datasets.make_l1_ball(count, n=n, noise=0.2, random_state=1)


def plant(count: int) -> Any:
    return fl.datasets.make_flexible_plant(count, random_state=0)


SIX, AUTO, FACETS = fl.Affine(fl.Simplex(6)), fl.Minkowski("auto"), fl.Facets()
PAIRS, SEARCH = fl.Minkowski.pairs(60, scale="constant"), Annealing(10**6, tol=0.0)
SHORT, FEW = Annealing(40, n_starts=1, ridge=0.1), Annealing(20, n_starts=1, ridge=0.1)
KNOWN = {"known": fl.Known(bounds=(0.0, 3.5), contradictions="keep")}
#: Data, their sizes in a long and in a short fit, hypothesis, trainer, other parameters.
CASES: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...], Any, Any, dict[str, Any]]] = {
    "annealing": (power, (20_000,), (100,), SIX, SEARCH, {}),
    "annealing on threads": (power, (20_000,), (100,), SIX, SEARCH, {"n_jobs": 2}),
    "annealing of many samples": (ball, (300_000,), (21_000,), fl.Affine(fl.L1Ball(3)), SHORT, {}),
    "facets": (power, (50_000,), (100, 0.0), FACETS, FacetLearning(), {}),
    "facets under noise": (ball, (3_000, 6), (60,), FACETS, FacetLearning(), {}),
    "chosen hypothesis": (power, (200_000, 0.3), (60, 0.3), None, "auto", {}),
    "known constraints": (power, (500,), (60,), fl.Affine(fl.Simplex(9)), Annealing(200), KNOWN),
    "moments from chunks": (power, (10_000,), (10_000,), AUTO, Convex(), {}),
    "annealing from chunks": (power, (10_000,), (10_000,), SIX, FEW, {}),
    "chosen hypothesis from chunks": (power, (10_000,), (10_000,), None, "auto", {}),
    "convex": (plant, (400,), (20,), fl.Minkowski.pairs(24), Convex(), {}),
    "convex with ties": (power, (5_000,), (30,), AUTO, Convex(), {"cost": [1.0, 1.0, 2.0]}),
    "convex of many terms": (ball, (2_000, 60), (30, 60), PAIRS, Convex(), {}),
    "robust": (power, (20_000,), (30,), AUTO, Convex(robust=True), {}),
}


def fit(name: str, long: bool, max_seconds: float) -> None:
    """Fit a case; chunks are two million rows where it is long, made anew in each pass."""
    make, large, small, hypothesis, trainer, others = CASES[name]
    data = make(*(large if long else small))
    options = {"cost": data.cost, "random_state": 5, "max_seconds": max_seconds} | others
    model = fl.RegionRegressor(hypothesis, trainer=trainer, **options)

    def rows() -> Any:
        for _ in range(200 if long else 3):
            yield data.signals, data.decisions

    if name.endswith("from chunks"):
        model.fit(fl.Chunks(rows))
    else:
        model.fit(data.signals, data.decisions)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_deadlines_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fit(name, False, 20.0)
    stopped: list[float] = []
    began, look = time.monotonic(), Run.late

    def looked(run: Run) -> bool:
        if late := look(run):
            stopped.append(time.monotonic() - began)
        return late

    monkeypatch.setattr(Run, "late", looked)
    with contextlib.suppress(FeaslearnError):  # no model yet at the deadline
        fit(name, True, SECONDS)
    stopped.append(time.monotonic() - began)
    assert stopped[0] <= 1.1 * SECONDS + 2.0
