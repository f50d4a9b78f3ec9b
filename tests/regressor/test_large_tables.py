"""Large tables are not copied, and single precision is read as it is."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.trainers import Annealing

N = 24_000


@pytest.fixture(scope="module")
def arrays() -> tuple[Any, Any]:
    """Single-precision signals and decisions of a Minkowski sum."""
    rng = np.random.default_rng(0)
    signals = rng.uniform(0.2, 2.0, (N, 6)).astype(np.float32)
    features = np.hstack([np.ones((N, 1)), signals[:, 3:]])
    sums = fl.Minkowski.hypersimplices(3)
    theta = sums.layout(3, 4).pack(
        {"alpha": rng.uniform(size=(2, 4)), "b": rng.normal(size=(4, 3))}
    )
    decisions = sums.predict(theta, features, signals[:, :3].astype(float))
    return signals, (decisions + 0.1 * rng.normal(size=(N, 3))).astype(np.float32)


MODELS = {
    "minkowski": (fl.Minkowski.hypersimplices(3), "auto"),
    "annealing": (fl.Affine(fl.Simplex(2)), Annealing(max_iter=3, n_starts=1, ridge=0.1)),
}


@pytest.mark.parametrize("name", MODELS)
def test_single_precision_is_the_fit_to_the_same_numbers(name: str, arrays: Any) -> None:
    signals, decisions = arrays
    hypothesis, trainer = MODELS[name]
    model = fl.RegionRegressor(hypothesis, cost=[0, 1, 2], trainer=trainer, random_state=0)
    single = model.fit(signals, decisions).theta_
    in_columns = np.asfortranarray(signals, dtype=float), np.asfortranarray(decisions, dtype=float)
    double = model.fit(*in_columns).theta_
    np.testing.assert_allclose(single, double, rtol=1e-9, atol=1e-12)


def test_a_fit_makes_no_copy_of_the_data() -> None:
    rng = np.random.default_rng(2)
    signals, decisions = rng.uniform(size=(400_000, 8)), rng.uniform(size=(400_000, 3))
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2])
    model.fit(signals[:30_000], decisions[:30_000])
    tracemalloc.start()
    model.fit(signals, decisions)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.8 * (signals.nbytes + decisions.nbytes)
