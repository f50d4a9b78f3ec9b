"""Known constraints in model files, pickles and on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.cli import main
from feaslearn.exceptions import DataError, ModelFileError, UnsupportedError

DATA = fl.datasets.make_power5(40, random_state=0)


def demand(signals: np.ndarray) -> np.ndarray:
    return signals[:, 3:].sum(axis=1)


def fitted(known: fl.Known) -> fl.RegionRegressor:
    model = fl.RegionRegressor(fl.Facets(), cost=DATA.cost, known=known, random_state=0)
    return model.fit(DATA.signals, DATA.decisions)


def test_functions_are_left_out_and_given_again(tmp_path: Path) -> None:
    known = fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), demand))
    model, path = fitted(known), tmp_path / "model.json"
    with pytest.raises(UnsupportedError, match=r"known.balance.*leave_out=\['known'\]"):
        fl.save(model, path)
    fl.save(model, path, leave_out=["known"])
    with pytest.raises(ModelFileError, match="written without known"):
        fl.load(path)
    loaded = fl.load(path, known=known)
    assert (loaded.predict(DATA.signals) == model.predict(DATA.signals)).all()
    with pytest.raises(DataError, match=r"expected \(rows, 3\)"):
        fl.load(path, known=fl.Known(balance=(np.ones(2), 1.0)))
    whole = fitted(fl.Known(bounds=(0.0, 3.5)))
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
    np.testing.assert_allclose(limits.e[:, 0], demand(DATA.signals))
    np.testing.assert_array_equal(limits.upper[0], [3.5, np.inf, 3.5])
    capsys.readouterr()
    assert run(*fit, "--balance", "demnd_1") != 0
    assert "did you mean 'demand_1'" in capsys.readouterr().err
    assert run(*fit, "--upper", "1.0") != 0
    assert "violates the upper bound of plant_" in capsys.readouterr().err
