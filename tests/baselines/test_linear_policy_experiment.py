"""The loss of the linear policy on the paper's networks, from its experiment."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "experiments" / "linear_policy.py"


def test_losses_are_those_of_the_paper_s_data(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("linear_policy_experiment", PATH)
    assert spec is not None
    assert spec.loader is not None
    experiment = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(experiment)
    losses = experiment.run(range(20))
    assert losses["power5"].mean() == pytest.approx(0.54, abs=0.08)
    assert losses["ieee14"].mean() == pytest.approx(0.39, abs=0.06)
    experiment.main()
    assert "power5" in capsys.readouterr().out
