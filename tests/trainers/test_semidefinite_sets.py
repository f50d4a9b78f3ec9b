"""Trainers and model files serve sets with semidefinite cones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.trainers import AdaptiveSmoothing, Convex, GradientDescent, Trainer
from registry import example

COSTS = np.random.default_rng(0).normal(size=(10, 2))


def decisions() -> np.ndarray:
    """Return what is optimal in a cap of a parabola that was turned and moved."""
    A, b = np.array([[1.5, 0.4], [-0.3, 1.0]]), np.array([2.0, -1.0])
    return np.asarray(example("conic-parabola-cap").argmin(COSTS @ A) @ A.T + b)


@pytest.mark.parametrize("loss", ["predictability", "suboptimality"])
@pytest.mark.parametrize(
    "trainer", [AdaptiveSmoothing(max_iter=3), GradientDescent(max_iter=3, n_starts=1)], ids=repr
)
def test_affine_maps_are_trained_and_saved(trainer: Trainer, loss: str, tmp_path: Path) -> None:
    model = fl.RegionRegressor(
        fl.Affine(example("conic-parabola-cap")),
        cost=[0, 1],
        loss=loss,
        trainer=trainer,
        random_state=0,
    ).fit(COSTS, decisions())
    history = model.result_.history
    assert model.result_.returned_loss < history["returned_loss"][0]
    fl.save(model, tmp_path / "model.json")
    loaded = fl.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(COSTS), model.predict(COSTS))


def test_scaled_sets_are_recovered() -> None:
    cap = example("conic-parabola-cap")
    seen = 1.7 * cap.argmin(COSTS) + np.array([0.5, -2.0])
    for loss in ("predictability", "suboptimality"):
        model = fl.RegionRegressor(
            fl.Scaled(cap), cost=[0, 1], loss=loss, trainer=Convex(), random_state=0
        ).fit(COSTS, seen)
        assert model.predict(COSTS) == pytest.approx(seen, abs=1e-3)
