"""Predictions within known constraints, against programs written down a second time."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn.hypotheses.hypothesis import Hypothesis

Array = NDArray[np.float64]

DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
#: A row that is neither a bound nor a balance: the first two plants deliver at least 1.
ROWS = {"G": [[1.0, 1.0, 0.0]], "g": 1.0}
KNOWN = fl.Known(bounds=(0.0, [3.5, 3.5, 3.5]), balance=(np.ones(3), DEMAND), **ROWS)
HYPOTHESES: dict[str, Hypothesis] = {
    "minkowski": fl.Minkowski("auto"),
    "facets": fl.Facets(),
    "scaled l1 ball": fl.Scaled(fl.L1Ball(3)),
    "ball": fl.Affine(fl.L2Ball(2)),
    "blend": fl.Blend([fl.Facets(), fl.Scaled(fl.Simplex(3))]),
}
TRAINERS = {
    "ball": fl.trainers.GradientDescent(max_iter=2),
    "blend": fl.trainers.Blending(n_folds=0),
}


@pytest.fixture(scope="module", params=list(HYPOTHESES))
def model(request: pytest.FixtureRequest) -> fl.RegionRegressor:
    name = request.param
    data = fl.datasets.make_power5(20 if name == "ball" else 50, random_state=0)
    trainer = TRAINERS.get(name, "auto")
    model = fl.RegionRegressor(
        HYPOTHESES[name], cost=data.cost, known=KNOWN, trainer=trainer, random_state=0
    )
    return model.fit(data.signals, data.decisions)


def violation(decisions: Array, signals: Array) -> Array:
    balance = np.abs(decisions.sum(axis=1) - signals[:, 3:].sum(axis=1))
    beyond = np.maximum(-decisions, decisions - 3.5).max(axis=1)
    return np.maximum(np.maximum(balance, beyond), 1.0 - decisions[:, :2].sum(axis=1))


def region_rows(region: fl.Region) -> tuple[cp.Variable, list[cp.Constraint]]:
    """Write a region down from its parts: an image of a set in conic form, and known rows."""
    form = region.image.primitive.conic_form()
    z, x = cp.Variable(form.H.shape[1]), cp.Variable(region.n)
    rows = [x == region.image.matrix @ z + region.image.offset]
    for cone, place in form.blocks():
        if not cone.size:
            continue
        value = form.H[place] @ z - form.h[place]
        if cone.kind == "second-order":
            rows.append(cp.SOC(value[0], value[1:]))
        else:
            rows.append(value == 0 if cone.kind == "zero" else value >= 0)
    known = region.known
    assert known is not None
    rows.append(known.A @ x <= known.b)
    if len(known.E):
        rows.append(known.E @ x == known.e)
    return x, rows


def test_predictions_satisfy_what_is_known(model: fl.RegionRegressor) -> None:
    unseen = fl.datasets.make_power5(12, random_state=7)
    prices = np.random.default_rng(0).normal(size=unseen.decisions.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        for costs in (None, prices):
            x = model.predict(unseen.signals, costs=costs)
            assert violation(x, unseen.signals).max() <= 1e-9


def test_predictions_are_the_cheapest_in_the_intersection(model: fl.RegionRegressor) -> None:
    unseen = fl.datasets.make_power5(12, random_state=8)
    compared = 0
    for signal, cost in zip(unseen.signals, unseen.cost_matrix, strict=True):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            x = model.predict(signal[None])[0]
            region = model.region(signal)
        if said:
            continue  # empty: the nearest decision is looked at below
        y, rows = region_rows(region)
        problem = cp.Problem(cp.Minimize(cost @ y), rows)
        problem.solve(solver="CLARABEL")
        assert problem.status in ("optimal", "optimal_inaccurate")
        assert cost @ x == pytest.approx(problem.value, abs=2e-5)
        assert region.contains(x, 1e-6).all()
        assert cost @ region.minimize(cost) == pytest.approx(problem.value, abs=2e-5)
        compared += 1
    assert compared or isinstance(model.hypothesis, fl.Affine)
