"""Known constraints in training: refits, facets, the automatic choice."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.exceptions import DataError
from feaslearn.known import KnownShape
from feaslearn.trainers import known_refit

DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
BALANCE = (np.ones(3), DEMAND)
KNOWN = fl.Known(bounds=(0.0, 3.5), balance=BALANCE)
DATA = fl.datasets.make_power5(160, random_state=0)
TRAIN, TEST = DATA[:60], DATA[60:]


def fitted(hypothesis: Any, known: fl.Known | None = KNOWN, **options: Any) -> fl.RegionRegressor:
    options = {"cost": DATA.cost, "random_state": 0, **options}
    model = fl.RegionRegressor(hypothesis, known=known, **options)
    return model.fit(TRAIN.signals, TRAIN.decisions)


def loss(model: fl.RegionRegressor) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        errors = model.predict(TEST.signals) - TEST.decisions
    return float((errors**2).sum(axis=1).mean())


def test_what_is_known_makes_minkowski_sums_much_better() -> None:
    model = fitted(fl.Minkowski.pairs(3))
    assert loss(model) < 0.1 * loss(fitted(fl.Minkowski.pairs(3), None))
    assert model.result_.returned_loss < 0.02
    assert model.result_.lower_bound in (None, 0.0)  # nothing but zero is proved
    assert "training loss of the region alone" in model.result_.details
    measured = model.sample_losses(fl.Predictability(), TRAIN.signals, TRAIN.decisions)
    assert measured.mean() == pytest.approx(model.result_.objective, abs=1e-9)


def refit_problem(hypothesis: Any, rng: np.random.Generator) -> tuple[known_refit._Refit, Block]:
    shape = KnownShape(np.array([[1.0, 0.0, 0.5]]), np.ones((1, 3)))
    count, k = 8, 3
    phi = np.column_stack([np.ones(count), rng.uniform(0.5, 1.5, (count, k - 1))])
    total = rng.uniform(2.0, 4.0, (count, 1))
    sides = [np.full((count, 1), 0.4), np.zeros((count, 3)), np.full((count, 3), 2.0), total]
    samples = Block(
        np.hstack([phi, *sides]),
        rng.normal(size=(count, 3)),
        rng.uniform(0.0, 1.5, (count, 3)),
        np.full(count, 1 / count),
    )
    problem = known_refit._Refit(hypothesis, shape, np.zeros(3), 1.0)
    return problem, samples


@pytest.mark.parametrize(
    "hypothesis",
    [
        fl.Affine(fl.Simplex(3)),
        fl.Affine(fl.Polytope([[1, 1], [1, -1], [-1, 1], [-1, -1]], -np.ones(4))),
        fl.Scaled(fl.L1Ball(3)),
        fl.Minkowski.pairs(3, scale="tents", n_knots=3),
        fl.Minkowski.box(3, scale="shared"),
    ],
    ids=repr,
)
def test_the_gradient_of_the_refit_is_that_of_its_value(hypothesis: Any) -> None:
    rng = np.random.default_rng(1)
    problem, samples = refit_problem(hypothesis, rng)
    size = hypothesis.layout(3, 3).size
    theta = np.abs(rng.normal(size=size)) + 0.1
    layout = hypothesis.layout(3, 3)
    if "knots" in layout.shapes:
        blocks = layout.unpack(theta)
        blocks["knots"][:] = np.linspace(0.4, 1.6, 3)[:, None]
    value, gradient = problem.value_and_gradient(theta, samples)
    assert value > 0.0
    free = np.ones(size)
    if "knots" in layout.shapes:
        layout.unpack(free)["knots"][:] = 0.0
    moves = rng.normal(size=(3, size)) * free
    for move in moves:
        ends = [
            problem.value_and_gradient(theta + step * move, samples)[0] for step in (2e-5, -2e-5)
        ]
        assert gradient @ move == pytest.approx((ends[0] - ends[1]) / 4e-5, rel=2e-4, abs=2e-5)


def test_facets_do_not_learn_what_is_known() -> None:
    rng = np.random.default_rng(0)
    prices, signals = rng.uniform(1, 2, (80, 3)), rng.uniform(1.0, 2.0, (80, 2))
    decisions = np.empty((80, 3))
    truth = fl.Polytope(np.vstack([np.eye(3), -np.eye(3), [[-1.0, -1.0, 0.0]]]), np.zeros(7))
    for i in range(80):
        h = np.array([0.0, 0.0, 0.0, -2.0, -2.0, -2.0, -signals[i, 0]])
        at = fl.Polytope(truth.H, h, np.ones((1, 3)), [signals[i, 0] + signals[i, 1]])
        decisions[i] = at.argmin(prices[i])
    known = fl.Known(
        G=[[-1.0, -1.0, 0.0]], g=lambda s: -s[:, 3], balance=(np.ones(3), lambda s: s[:, 3:].sum(1))
    )
    table = np.hstack([prices, signals])
    options: dict[str, Any] = {"cost": [0, 1, 2], "random_state": 0}
    blind = fl.RegionRegressor(fl.Facets(), **options).fit(table, decisions)
    model = fl.RegionRegressor(fl.Facets(), known=known, **options).fit(table, decisions)
    assert len(blind.facets_.facets) > len(model.facets_.facets) == 0
    assert model.result_.returned_loss < 1e-12
    assert not model.parameters_["E"].any()


def test_availability_of_each_sample_is_a_bound() -> None:
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [rng.uniform(1, 2, (60, 2)), rng.uniform(0.5, 1.5, 60), np.full(60, 2.0)]
    )
    cheap = table[:, 0] < table[:, 1]
    first = np.where(cheap, table[:, 2], 2.0 - np.minimum(2.0, 1.8))
    decisions = np.column_stack([first, 2.0 - first])
    known = fl.Known(bounds=(0.0, [2, None]), balance=(np.ones(2), [3]))
    for hypothesis in (fl.Facets(), fl.Minkowski("auto"), fl.Scaled(fl.Simplex(2))):
        model = fl.RegionRegressor(hypothesis, cost=[0, 1], known=known, random_state=0)
        x = model.fit(table, decisions).predict(table)
        assert (x[:, 0] <= table[:, 2] + 1e-9).all()
        assert np.abs(x.sum(axis=1) - 2.0).max() <= 1e-9


def test_a_balance_that_no_region_of_the_class_satisfies_is_refused() -> None:
    with pytest.raises(DataError, match=r"no region with the bounds .* at row 0; row 1;"):
        fitted(fl.Facets(bounds=(0.0, 0.1)))


def test_a_sum_without_terms_is_refitted() -> None:
    known = fl.Known(G=[[1.0, -1.0, 0.0]], g=[-0.5], contradictions="keep")
    x = fitted(fl.Minkowski([]), known).predict(TRAIN.signals)
    assert (x[:, 0] - x[:, 1] >= -0.5 - 1e-9).all()
