"""Trainers and model files serve sets with semidefinite cones."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.trainers import Convex
from registry import example

COSTS = np.random.default_rng(0).normal(size=(10, 2))


def test_scaled_sets_are_recovered() -> None:
    cap = example("conic-parabola-cap")
    seen = 1.7 * cap.argmin(COSTS) + np.array([0.5, -2.0])
    for loss in ("predictability", "suboptimality"):
        model = fl.RegionRegressor(
            fl.Scaled(cap), cost=[0, 1], loss=loss, trainer=Convex(), random_state=0
        ).fit(COSTS, seen)
        assert model.predict(COSTS) == pytest.approx(seen, abs=1e-3)
