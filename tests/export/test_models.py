"""A fitted model is exported once and moves with the signal."""

from __future__ import annotations

import sys
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from exported_optima import largest_difference
from feaslearn.exceptions import (
    DataError,
    EmptySetError,
    MissingExtraError,
    NotFittedError,
    UnsupportedError,
)

from .conftest import CURVED_MODELS, MODELS, POWER, fitted, signals_of


@pytest.mark.parametrize("name", MODELS)
def test_cvxpy_is_disciplined_in_phi_and_right_at_many_signals(name: str) -> None:
    model = fitted(name)
    exported = fl.export.to_cvxpy(model)
    cost = cp.Parameter(exported.x.size)
    problem = cp.Problem(cp.Minimize(cost @ exported.x), exported.constraints)
    assert problem.is_dcp(dpp=True)
    assert any(each is exported.phi for each in problem.parameters())
    solver = "CLARABEL" if name in CURVED_MODELS else "HIGHS"
    rng = np.random.default_rng(0)
    for signal in signals_of(name, 3):
        exported.set_signal(signal)
        cost.value = rng.normal(size=cost.size)
        with warnings.catch_warnings():
            # Compiled once: a problem that is not disciplined would say so here.
            warnings.simplefilter("error")
            problem.solve(solver=solver)
        region = model.region(signal)
        assert problem.value == pytest.approx(
            cost.value @ region.minimize(cost.value), rel=1e-6, abs=1e-6
        )


@pytest.mark.parametrize("name", ["affine-switch", "minkowski-index", "facets"])
def test_pyomo_moves_with_the_signal(name: str) -> None:
    assert largest_difference(fitted(name), "pyomo", signals_of(name, 2), n_problems=2) <= 1e-6


def test_a_clipped_scale_is_what_the_region_says() -> None:
    """Where an affine scale is negative it counts as zero, which is not affine in phi."""
    model = fitted("minkowski")
    signs = np.sign(model.parameters_["alpha"][model.parameters_["alpha"].any(axis=1)][0, 1:])
    far = POWER.signals[0].copy()
    far[3:] = -100.0 * signs
    scales = fl.export.to_cvxpy(model).coefficients(far)[6:]
    assert scales[0] == 0.0
    assert largest_difference(model, "cvxpy", [far]) < 1e-6


def test_names_of_features_and_frames() -> None:
    pytest.importorskip("pyomo", reason="needs pyomo")
    X = pd.DataFrame(POWER.signals, columns=[f"s {j}" for j in range(8)])
    y = pd.DataFrame(POWER.decisions, columns=["hydro", "gas [MW]", "Öl"])
    model = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Box(3))], scale="constant"), cost=POWER.cost
    ).fit(X, y)
    exported = fl.export.to_pyomo(model)
    assert list(exported.model.x) == ["hydro", "gas [MW]", "Öl"]
    assert list(exported.phi) == ["1", "s 3", "s 4", "s 5", "s 6", "s 7"]
    exported.set_signal(X.iloc[[4]])
    assert exported.phi["s 3"].value == X.iloc[4, 3]
    rows = [X.iloc[[i]] for i in range(3)]
    assert largest_difference(model, "cvxpy", rows) < 1e-6
    with pytest.raises(DataError, match="2 signals were given"):
        exported.set_signal(X[:2])


def test_where_the_learned_rows_leave_no_point() -> None:
    model = fitted("facets")
    exported = fl.export.to_cvxpy(model)
    far = POWER.signals[0].copy()
    far[3:] = 1e3
    with pytest.raises(EmptySetError, match=r"model\.region\(signal\) relaxes them"):
        exported.set_signal(far)
    with pytest.warns(fl.exceptions.FeaslearnWarning):
        region = model.region(far)
    assert largest_difference(region, "mps") < 1e-6


def test_what_cannot_be_exported() -> None:
    with pytest.raises(NotFittedError):
        fl.export.to_cvxpy(fl.RegionRegressor(fl.Facets()))
    with pytest.raises(UnsupportedError, match="not ndarray"):
        fl.export.to_cvxpy(np.zeros(3))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="does not move"):
        fl.export.to_cvxpy(fitted("scaled").region(POWER.signals[0])).set_signal(POWER.signals[0])
    with pytest.raises(UnsupportedError, match=r"to_mps holds a region .* model\.region\(signal\)"):
        fl.export.to_mps(fitted("scaled"), "region.mps")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match=r"vertices|half-spaces|region\(signal\)"):
        fl.export.to_csv(fitted("scaled"), "region.csv", "vertices")


def test_pyomo_may_not_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    region = fitted("scaled").region(POWER.signals[0])
    for module in ("pyomo", "pyomo.environ"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"needs pyomo.*feaslearn\[pyomo\]"):
        fl.export.to_pyomo(region)
