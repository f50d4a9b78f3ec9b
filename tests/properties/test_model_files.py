"""A model that was saved and loaded predicts the same, bit for bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given

import feaslearn as fl
from properties.tiny import Tiny, fitted, models, tiny


@given(tiny(), models)
def test_model_files(problem: Tiny, model: str) -> None:
    before = fitted(problem, model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        fl.save(before, path)
        after = fl.load(path)
    np.testing.assert_array_equal(before.predict(problem.new), after.predict(problem.new))
    np.testing.assert_array_equal(before.theta_, after.theta_)
