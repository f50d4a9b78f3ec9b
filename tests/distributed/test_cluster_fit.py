"""The same fit in memory, from chunks and on a cluster, also when a worker is lost on the way."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data import Chunk
from feaslearn.distributed import ClusterChunks

da = pytest.importorskip("dask.array")

DATA = fl.datasets.make_power5(6000, noise=0.1, random_state=0)
X, Y = DATA.signals, DATA.decisions
PAIR = (da.from_array(X, (1000, X.shape[1])), da.from_array(Y, (1000, Y.shape[1])))
CONVEX = fl.trainers.Convex(ridge=0.0, sparsity=0.0)
ANNEALING = fl.trainers.Annealing(n_starts=1, ridge=0.1, ridge_floor=1.0, max_iter=6)


class Killing(ClusterChunks):
    """Kills the worker that answers first in the second pass, while others are at work."""

    passes = 0

    def map(self, function: Any, *options: Any, **others: Any) -> Any:
        self.passes += 1
        kills = self.passes == 2
        for place, (process, answer) in enumerate(super().map(_Slow(function, kills), *options)):
            if kills and place == 0:
                os.kill(process, signal.SIGKILL)
            yield answer


class _Slow:
    def __init__(self, function: Any, slow: bool) -> None:
        self.function, self.slow = function, slow

    def __call__(self, chunk: Chunk) -> tuple[int, Any]:
        time.sleep(0.1 * self.slow)
        return os.getpid(), self.function(chunk)


@pytest.mark.parametrize(
    ("hypothesis", "trainer", "close"),
    [
        (fl.Minkowski.hypersimplices(3), CONVEX, 1e-9),
        (fl.Affine(fl.Simplex(1)), CONVEX, 1e-9),
        pytest.param(fl.Affine(fl.Simplex(3)), ANNEALING, 1e-6, marks=pytest.mark.soak),
    ],
    ids=["minkowski", "policy", "annealing"],
)
def test_fits_are_equal(client: Any, hypothesis: Any, trainer: Any, close: float) -> None:
    def fitted(*data: Any) -> fl.RegionRegressor:
        model = fl.RegionRegressor(hypothesis, cost=DATA.cost, trainer=trainer, random_state=0)
        return model.fit(*data)

    memory, cluster = fitted(X, Y), fitted(ClusterChunks(PAIR, client))
    size = np.abs(Y).max()
    for other in (fitted(fl.Chunks((X, Y))), cluster):
        assert other.result_.objective == pytest.approx(memory.result_.objective, rel=close)
        if close == 1e-9:
            expected = memory.predict(X)
            np.testing.assert_allclose(other.predict(X), expected, rtol=0, atol=close * size)
    if trainer is CONVEX and hypothesis.get_params(deep=False).get("primitive"):
        return  # one pass
    lossy = Killing(PAIR, client)
    np.testing.assert_array_equal(fitted(lossy).theta_, cluster.theta_)
    assert lossy.passes >= 2


def test_the_linear_policy_of_a_cluster(client: Any) -> None:
    """The baseline, which goes through the chunks once."""
    memory = fl.baselines.LinearPolicy().fit(X, Y)
    cluster = fl.baselines.LinearPolicy().fit(ClusterChunks(PAIR, client))
    size = np.abs(Y).max()
    np.testing.assert_allclose(cluster.predict(X), memory.predict(X), rtol=0, atol=1e-9 * size)
