"""Global optima beside the trainers that they were made of, as long as both are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
import feaslearn.paper as paper
from feaslearn.data import Block
from feaslearn.data import Samples as Stored
from feaslearn.losses import Objective
from feaslearn.paper.problem import Found

BALL = fl.datasets.make_l1_ball(60, n=2, low=-1.0, noise=0.5, random_state=0)
POWER = fl.datasets.make_power5(60, noise=0.1, random_state=0)
FIVE = fl.datasets.make_l1_ball(60, random_state=0)

LOSSES: dict[str, tuple[Any, Any]] = {
    "predictability": (fl.Predictability(), paper.Predictability()),
    "suboptimality": (fl.Suboptimality(), paper.Suboptimality()),
    "as published": (
        fl.Suboptimality(normalize_cost=False),
        paper.Suboptimality(normalize_cost=False),
    ),
    "l1": (fl.Predictability("l1"), paper.Predictability("l1")),
    "linf": (fl.Suboptimality("linf"), paper.Suboptimality("linf")),
}


def block(data: fl.Decisions, signals: bool = True) -> Block:
    N = len(data.signals)
    features = np.column_stack([np.ones(N), data.signals] if signals else [np.ones(N)])
    return Block(features, data.cost_matrix, data.decisions, np.full(N, 1 / N))


def both(
    block: Block, hypothesis: Any, region: Any, loss: str, trainer: Any, find: Any
) -> tuple[Any, Found]:
    old, new = LOSSES[loss]
    objective = Objective(old, hypothesis, Stored.of(block))
    result = trainer.train(objective, np.random.default_rng(0)).result
    return result, find(paper.Problem(region, new, paper.Samples(*block)))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["l1 ball", "simplex", "policy"])
def test_convex(name: str, loss: str) -> None:
    data, hypothesis, region = {
        "l1 ball": (BALL, fl.Scaled(fl.L1Ball(2)), paper.Scaled(fl.L1Ball(2))),
        "simplex": (POWER, fl.Scaled(fl.Simplex(3)), paper.Scaled(fl.Simplex(3))),
        "policy": (POWER, fl.Affine(fl.Simplex(1)), paper.Affine(fl.Simplex(1))),
    }[name]
    old, new = both(block(data), hypothesis, region, loss, fl.trainers.Convex(), paper.convex)
    assert new.status == old.status == "optimal"
    assert new.objective == pytest.approx(old.objective, abs=1e-9)
    assert new.lower_bound == pytest.approx(old.lower_bound, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_mixed_integer(loss: str) -> None:
    Z = fl.Simplex(4, binary=True)
    parts = block(FIVE, signals=False), fl.Affine(Z), paper.Affine(Z), loss
    old, new = both(*parts, fl.trainers.MixedInteger(), paper.mixed_integer)
    assert new.status == old.status == "optimal"
    assert new.objective == pytest.approx(old.objective, abs=1e-9)
    assert new.lower_bound == pytest.approx(old.lower_bound, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_ternary(loss: str) -> None:
    rows, Z = block(BALL[:6], signals=False), fl.Box(2, -1.0, [1.0, 2.0])
    parts = rows, fl.Ternary(Z), paper.Ternary(Z), loss
    old, new = both(*parts, fl.trainers.MixedInteger(), paper.ternary)
    assert new.status == old.status == "optimal"
    assert new.objective == pytest.approx(old.objective, rel=1e-9)
    # Rounds of tangents end within the gap.
    assert new.lower_bound == pytest.approx(old.lower_bound, rel=1e-4)
