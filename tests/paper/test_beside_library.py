"""Beside the modules that paper was made of: the same numbers, as long as both are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
import feaslearn.paper as paper
from feaslearn.data import Block
from feaslearn.paper.losses import Loss
from paper.cases import CONIC, LOSSES, NORMS, ODD, SERVED, example, make_loss, sample

DATA: dict[str, tuple[fl.Decisions, range, Any]] = {
    "switch": (fl.datasets.make_switch(50, random_state=0), range(1), fl.Simplex(2)),
    "l1 ball": (fl.datasets.make_l1_ball(100, random_state=1), range(5), fl.Simplex(5)),
    "noisy ball": (
        fl.datasets.make_l1_ball(100, n=2, low=-1.0, noise=0.2, random_state=1),
        range(2),
        fl.L1Ball(2),
    ),
    "ellipsoid": (fl.datasets.make_ellipsoid(60, n=2, random_state=0), range(2), fl.L2Ball(2)),
    "power5": (fl.datasets.make_power5(100, random_state=0), range(3), fl.Simplex(6)),
}


def both_losses(loss: str, published: bool) -> tuple[Loss, fl.losses.Loss]:
    if loss == "predictability":
        return paper.Predictability(), fl.Predictability()
    return (
        paper.Suboptimality(normalize_cost=not published),
        fl.Suboptimality(normalize_cost=not published),
    )


def truth_of(data: fl.Decisions) -> Any:
    program = data.forward
    if not isinstance(program, fl.datasets.LinearProgram):
        return None
    sides = (program.row_lower, program.row_upper)
    rows = [paper.AffineRows(side.constant, side.slope) for side in sides]
    limits = program.lower, program.upper, program.n_decisions
    return paper.LinearProgram(program.matrix, *rows, *limits)


@pytest.mark.parametrize("algorithm", [1, 2])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("published", [False, True])
def test_algorithms(algorithm: int, name: str, loss: str, published: bool) -> None:
    data, columns, Z = DATA[name]
    ours, theirs = both_losses(loss, published)
    features = "all" if published else "non-cost"
    trainer: Any = fl.trainers.GradientDescent(max_iter=40, n_starts=2)
    if algorithm == 2:
        trainer = fl.trainers.AdaptiveSmoothing(max_iter=25, normalize_cost=not published)
    model = fl.RegionRegressor(
        fl.Affine(Z),
        cost=data.cost,
        features=features,
        loss=theirs,
        trainer=trainer,
        random_state=3,
    ).fit(data.signals, data.decisions)
    table = paper.Data(data.signals, data.decisions, data.cost_matrix, columns, truth_of(data))
    problem = paper.Problem.of(paper.Affine(Z), table, ours, features=features)  # type: ignore[arg-type]
    if algorithm == 1:
        found = paper.algorithm1(problem, max_iter=40, n_starts=2, seed=3)
    else:
        found = paper.algorithm2(problem, max_iter=25, normalize_cost=not published, seed=3)
    assert found.objective == pytest.approx(model.result_.objective, rel=1e-9, abs=1e-9)
    assert found.n_iter == model.result_.n_iter
    np.testing.assert_allclose(found.theta, model.theta_, rtol=1e-6, atol=1e-7)
    measured = paper.evaluate(found, table)
    expected = fl.evaluate(model, data, normalize_cost=False, losses="all")
    for label in ("returned", "predictability", "suboptimality"):
        assert getattr(measured, label) == pytest.approx(
            getattr(expected, label).mean, rel=1e-6, abs=1e-9
        )
    if table.truth is not None:
        for label in ("true_predictability", "true_suboptimality"):
            assert getattr(measured, label) == pytest.approx(
                getattr(expected, label).mean, rel=1e-6, abs=1e-9
            )


@pytest.mark.parametrize("name", [*SERVED, *ODD, *CONIC])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("tied", [False, True])
def test_losses_and_gradients(name: str, loss: str, tied: bool) -> None:
    old = example(name)
    if name in CONIC:
        old = fl.ConicSet(old.H, old.h, old.cones)  # type: ignore[attr-defined]
    norms = ["squared-l2", "l1"] if name in CONIC else list(NORMS)
    for norm in norms:
        problem, theta = sample(name, make_loss(loss, norm), tied=tied, rows=3)
        kinds = {"predictability": fl.Predictability, "suboptimality": fl.Suboptimality}
        theirs = kinds[loss](*(problem.loss.norm, problem.loss.squared))
        found = problem.rows(theta)
        expected = theirs.rows(fl.Affine(old), theta, Block(*problem.samples))
        exact = {"rtol": 1e-12, "atol": 1e-12}
        if norm == "linf" or name in CONIC:
            exact = {"rtol": 1e-6, "atol": 1e-6}  # through a solver
        np.testing.assert_allclose(found.values, expected.values, **exact)
        assert found.tied.tolist() == expected.tied.tolist()
        for ours, other in zip(found.gradient, expected.gradient, strict=True):
            np.testing.assert_allclose(ours, other, **exact)
        np.testing.assert_allclose(
            problem.decisions(theta),
            fl.Affine(old).predict(theta, problem.samples.features, problem.samples.costs),
            atol=1e-12 if name not in CONIC else 1e-6,
        )
