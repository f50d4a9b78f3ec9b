"""Every trainer says truthfully how its run ended."""

from __future__ import annotations

import pytest

import feaslearn as fl
from feaslearn.trainers import (
    Annealing,
    Convex,
    FacetLearning,
)

CASES = {
    "convex": (fl.Minkowski.hypersimplices(2), Convex()),
    "penalised": (fl.Minkowski.hypersimplices(2), Convex(ridge=0.1, sparsity=0.01)),
    "robust": (fl.Minkowski.hypersimplices(2), Convex(robust=True)),
    "scaled": (fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"), Convex()),
    "facets": (fl.Facets(max_facets=2), FacetLearning()),
    "annealing": (fl.Affine(fl.Simplex(2)), Annealing(n_starts=1)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_result_says_everything_and_nothing_that_is_not_so(name: str) -> None:
    hypothesis, trainer = CASES[name]
    data = fl.datasets.make_switch(40, noise=0.1, random_state=0)
    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=0)
    result = model.fit(data.signals, data.decisions).result_
    losses = ((model.predict(data.signals) - data.decisions) ** 2).sum(axis=1)
    assert result.objective == pytest.approx(losses.mean(), abs=1e-9)
    assert result.ties_met is not None
    assert result.ties_met >= result.tied_share * len(data) - 1e-9
    if result.is_global:
        assert result.lower_bound is not None
        penalised = "with" in result.optimum
        assert penalised or result.gap <= 1e-4 * result.objective + 1e-9
    held = result.details.get("ridge", 0.0) > 0.0
    assert ("ridge" in result.optimum) == (held and result.is_global)
    assert held or name != "penalised"
    for label in ("status", "optimum", "lower bound", "ties met", "predictions that tie"):
        assert label in str(result)
