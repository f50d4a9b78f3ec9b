"""Known constraints travel with the region, and move with the signal."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import feaslearn as fl
from exported_optima import largest_difference
from feaslearn.exceptions import EmptySetError, UnsupportedError
from feaslearn.sets import AffineImage
from feaslearn.sets.half_spaces import HalfSpaces

from .conftest import FEW_STEPS, POWER

DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
KNOWN = {
    "balance": fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), DEMAND)),
    "rows": fl.Known(G=[[1.0, -1.0, 0.0]], g=[-3.0], bounds=(None, [None, 4.0, 3])),
}
HYPOTHESES = {
    "facets": (fl.Facets(3), "auto"),
    "minkowski": (fl.Minkowski.hypersimplices(3, scale="constant"), "auto"),
    "ball": (fl.Affine(fl.L2Ball(3)), FEW_STEPS),
    "pairs": (fl.Minkowski.pairs(3), "auto"),
}
CASES = [("facets", "balance"), ("minkowski", "rows"), ("ball", "balance"), ("pairs", "rows")]


@cache
def fitted(name: str, known: str) -> fl.RegionRegressor:
    hypothesis, trainer = HYPOTHESES[name]
    model = fl.RegionRegressor(
        hypothesis, cost=POWER.cost, trainer=trainer, known=KNOWN[known], random_state=0
    )
    model.fit(POWER.signals, POWER.decisions)
    return model


@pytest.mark.parametrize(("name", "known"), CASES)
def test_the_map_of_a_model_and_a_region(name: str, known: str, tmp_path: Path) -> None:
    pytest.importorskip("pyomo", reason="needs pyomo")
    model = fitted(name, known)
    exported, signals = fl.export.to_cvxpy(model), list[np.ndarray]()
    for signal in POWER.signals[:10]:
        with suppress(EmptySetError):
            exported.set_signal(signal)
            signals.append(signal)
    signals = signals[:3]
    tools = ["cvxpy"] if name == "ball" else ["cvxpy", "pyomo"]
    for tool in tools:
        assert largest_difference(model, tool, signals, n_problems=3) <= 1e-6
    fl.save(model, tmp_path / "model.json")
    region = fl.load(tmp_path / "model.json").region(signals[0])
    assert region.known is not None
    tools = ["cvxpy"] if name == "ball" else ["cvxpy", "mps", "halfspaces"]
    assert max(largest_difference(region, tool) for tool in tools) <= 1e-6


def test_known_rows_cut() -> None:
    half = HalfSpaces(np.array([[1.0, 0.0]]), np.array([0.5]), np.zeros((0, 2)), np.zeros(0))
    region = fl.Region(AffineImage(fl.Box(2), np.eye(2), np.zeros(2)), known=half)
    exported = fl.export.to_cvxpy(region)
    problem = cp.Problem(cp.Maximize(exported.x[0]), exported.constraints)
    assert problem.solve(solver="HIGHS") == pytest.approx(0.5)


def test_a_bound_that_comes_and_goes() -> None:
    def upper(signals: np.ndarray) -> np.ndarray:
        return np.where(signals[:, 3:4] > 1.0, np.inf, 50.0) * np.ones((1, 3))

    known = fl.Known(bounds=(None, upper))
    model = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"), cost=POWER.cost, known=known
    )
    exported = fl.export.to_cvxpy(model.fit(POWER.signals, POWER.decisions))
    small, large = POWER.signals[0].copy(), POWER.signals[0].copy()
    small[3], large[3] = 0.5, 1.2
    exported.set_signal(small)
    with pytest.raises(UnsupportedError, match=r"export model\.region\(signal\)"):
        exported.set_signal(large)
    assert largest_difference(model.region(large), "mps") <= 1e-6
