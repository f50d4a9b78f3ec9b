"""The paper's convex class on its own example, from its experiment."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "experiments" / "scaled_l1_ball.py"


@pytest.fixture(scope="module")
def experiment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scaled_l1_ball_experiment", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("loss", ["predictability", "suboptimality"])
def test_without_noise_every_metric_is_zero(experiment: ModuleType, loss: str) -> None:
    scale, *metrics = experiment.scores(experiment.fit(loss, 100, 0.0, 0), 0)
    assert scale == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(metrics, 0.0, atol=1e-8)


def test_predictability_is_consistent_and_suboptimality_biased(experiment: ModuleType) -> None:
    scales = {
        loss: [
            float(experiment.fit(loss, 1000, 0.5, seed).parameters_["alpha"][0]) for seed in (0, 1)
        ]
        for loss in ("predictability", "suboptimality")
    }
    assert np.mean(scales["predictability"]) == pytest.approx(1.0, abs=0.04)
    assert min(scales["suboptimality"]) > 1.08
