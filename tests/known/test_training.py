"""Known constraints in training, in model files and on the command line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.cli import main
from feaslearn.exceptions import DataError, ModelFileError, UnsupportedError
from registry import fit_rows, fit_to

DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
BALANCE = (np.ones(3), DEMAND)
KNOWN = fl.Known(bounds=(0.0, 3.5), balance=BALANCE)
DATA = fl.datasets.make_power5(160, random_state=0)
TRAIN, TEST = DATA[:60], DATA[60:]


def fitted(hypothesis: Any, known: fl.Known | None = KNOWN, **options: Any) -> fl.RegionRegressor:
    return fit_to(TRAIN, hypothesis, known=known, **options)


def loss(model: fl.RegionRegressor) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        errors = model.predict(TEST.signals) - TEST.decisions
    return float((errors**2).sum(axis=1).mean())


def test_what_is_known_makes_minkowski_sums_better() -> None:
    model = fitted(fl.Minkowski.pairs(3))
    assert loss(model) < 0.5 * loss(fitted(fl.Minkowski.pairs(3), None))
    decisions = model.predict(TEST.signals)
    assert ((decisions >= -1e-9) & (decisions <= 3.5 + 1e-9)).all()
    assert np.abs(decisions.sum(axis=1) - TEST.signals[:, 3:].sum(axis=1)).max() <= 1e-9
    assert model.result_.lower_bound in (None, 0.0)  # nothing but zero is proved
    assert "training loss of the region alone" in model.result_.details
    measured = ((model.predict(TRAIN.signals) - TRAIN.decisions) ** 2).sum(axis=1)
    assert measured.mean() == pytest.approx(model.result_.objective, abs=1e-9)


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
    blind = fit_rows(table, decisions, fl.Facets())
    model = fit_rows(table, decisions, fl.Facets(), known=known)
    assert len(blind.facets_.facets) > len(model.facets_.facets) == 0
    assert model.result_.objective < 1e-12
    assert not model.parameters_["E"].any()


def test_a_balance_that_no_region_of_the_class_satisfies_is_refused() -> None:
    with pytest.raises(DataError, match=r"no region with the bounds .* at row 0; row 1;"):
        fitted(fl.Facets(bounds=(0.0, 0.1)))


def test_a_sum_without_terms_keeps_what_is_known() -> None:
    known = fl.Known(G=[[1.0, -1.0, 0.0]], g=[-0.5], contradictions="keep")
    x = fitted(fl.Minkowski([]), known).predict(TRAIN.signals)
    assert (x[:, 0] - x[:, 1] >= -0.5 - 1e-9).all()


# In model files and on the command line.


def total(signals: np.ndarray) -> np.ndarray:
    return signals[:, 3:].sum(axis=1)


def test_functions_are_left_out_and_given_again(tmp_path: Path) -> None:
    known = fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), total))
    model, path = fitted(fl.Facets(), known), tmp_path / "model.json"
    with pytest.raises(UnsupportedError, match=r"known.balance.*leave_out=\['known'\]"):
        fl.save(model, path)
    fl.save(model, path, leave_out=["known"])
    with pytest.raises(ModelFileError, match="written without known"):
        fl.load(path)
    loaded = fl.load(path, known=known)
    assert (loaded.predict(DATA.signals) == model.predict(DATA.signals)).all()
    with pytest.raises(DataError, match=r"expected \(rows, 3\)"):
        fl.load(path, known=fl.Known(balance=(np.ones(2), 1.0)))
    whole = fitted(fl.Facets(), fl.Known(bounds=(0.0, 3.5)))
    fl.save(whole, path)
    with pytest.raises(DataError, match="known was given, but the file holds it"):
        fl.load(path, known=known)


def test_bounds_and_balance_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["feaslearn", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        assert isinstance(caught.value.code, int)
        return caught.value.code

    fit = ["fit", "power.csv", "--signals", "cost_*,demand_*", "--decisions", "plant_*"]
    fit += ["--cost", "cost_*", "--hypothesis", "facets", "-o", "m.json", "--quiet"]
    known = ["--lower", "0", "--upper", "3.5,none,3.5", "--balance", "demand_*"]
    assert run("demo", "--data", "power.csv", "--samples", "40", "--quiet") == 0
    assert run(*fit, *known) == 0
    model = fl.load("m.json")
    limits = model.known_.at(DATA.signals)
    np.testing.assert_allclose(limits.e[:, 0], total(DATA.signals))
    np.testing.assert_array_equal(limits.upper[0], [3.5, np.inf, 3.5])
    capsys.readouterr()
    assert run(*fit, "--balance", "demnd_1") != 0
    assert "did you mean 'demand_1'" in capsys.readouterr().err
    assert run(*fit, "--upper", "1.0") != 0
    assert "violates the upper bound of plant_" in capsys.readouterr().err
