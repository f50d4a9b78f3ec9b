"""The same rows and fits in memory, from chunks and on a cluster, also when a worker is lost."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import distributed
import feaslearn as fl
from experiments.frame.cluster import cluster
from experiments.frame.experiment import Experiment, Row, Settings
from experiments.frame.runner import run, unfinished
from experiments.frame.store import Store
from feaslearn.data import Chunk
from feaslearn.distributed import ClusterChunks
from feaslearn.exceptions import DataError, MissingExtraError

#: Workers of tests: no dashboard, nothing but the loopback, and time for a busy machine.
SETTINGS = {
    "distributed.comm.timeouts.connect": "60s",
    "distributed.comm.timeouts.tcp": "120s",
    "distributed.scheduler.allowed-failures": 10,
    "distributed.deploy.lost-worker-timeout": "5s",
    "distributed.worker.memory.terminate": False,
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Return a client of two workers, each a process of its own."""
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=50,
        ) as workers,
        distributed.Client(workers, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


COUNT = 900
TABLE = np.random.default_rng(0).normal(size=(COUNT, 6))
FRAME = pd.DataFrame(TABLE, columns=["p0", "p1", "load", "x0", "x1", "weight"])
FRAME["weight"] = FRAME["weight"].abs()
COLUMNS = {"signals": ["p*", "load"], "decisions": ["x0", "x1"]}


def looked_at(chunk: Chunk) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    return chunk.first, chunk.signals, chunk.decisions, chunk.weights


def sources(folder: Path) -> dict[str, Any]:
    FRAME.to_parquet(folder / "a.parquet", row_group_size=250)
    X, y = TABLE[:, :3], TABLE[:, 3:5]
    return {
        "arrays": ((da.from_array(X, (200, 2)), da.from_array(y, (90, 1))), {}),
        "memory": ((X, y), {}),
        "frame": (dd.from_pandas(FRAME, npartitions=4), COLUMNS),
        "weighted": (dd.from_pandas(FRAME, npartitions=3), {**COLUMNS, "weights": "weight"}),
        "files": (str(folder / "*.parquet"), COLUMNS),
        "chunks": (fl.Chunks(str(folder / "a.parquet"), **COLUMNS), {}),
    }


def test_every_source_has_the_rows_in_order(client: Any, tmp_path: Path) -> None:
    for name, (source, columns) in sources(tmp_path).items():
        chunks = ClusterChunks(source, client, **columns)
        answers = list(chunks.map(looked_at))
        firsts, signals, decisions, weights = zip(*answers, strict=True)
        assert chunks.n_rows == COUNT, name
        assert list(firsts) == list(np.cumsum([0, *map(len, signals)])[:-1]), name
        np.testing.assert_array_equal(np.vstack(signals), TABLE[:, :3])
        np.testing.assert_array_equal(np.vstack(decisions), TABLE[:, 3:5])
        expected = FRAME["weight"] if name == "weighted" else np.ones(COUNT)
        np.testing.assert_array_equal(np.concatenate(weights), expected)
        assert len(chunks.names.signals) == 3


def test_what_is_wrong_with_the_data_is_said_by_place(client: Any) -> None:
    broken = FRAME.copy()
    broken.loc[700, "load"] = np.inf
    frame = dd.from_pandas(broken, npartitions=3)
    with pytest.raises(DataError, match=r"partition 2: .*\n?.*inf.*row 100"):
        ClusterChunks(frame, client, **COLUMNS)
    with pytest.raises(DataError, match="'z'"):
        ClusterChunks(frame, client, signals=["z"], decisions=["x0"])
    pair = (da.ones((10, 2)), da.ones((9, 2)))
    with pytest.raises(DataError, match=r"shapes \(10, 2\) and \(9, 2\)"):
        ClusterChunks(pair, client)
    with pytest.raises(DataError, match="not for a pair"):
        ClusterChunks((da.ones((9, 2)), da.ones((9, 2))), client, signals=["s0"])
    with pytest.raises(DataError, match="say themselves"):
        ClusterChunks(fl.Chunks((TABLE, TABLE)), client, signals=["s0"])
    with pytest.raises(DataError, match="no rows"):
        ClusterChunks(dd.from_pandas(FRAME[:0], npartitions=1), client, **COLUMNS)
    with pytest.raises(DataError, match="client=3"):
        ClusterChunks(pair, 3)


def test_the_extra_is_named_where_dask_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"feaslearn\[dask\]"):
        ClusterChunks((TABLE, TABLE))


DATA = fl.datasets.make_power5(3000, noise=0.1, random_state=0)
X, Y = DATA.signals, DATA.decisions
PAIR = (da.from_array(X, (500, X.shape[1])), da.from_array(Y, (500, Y.shape[1])))
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


def measured(seed: int, *, size: int) -> dict[str, Any]:
    """Return the loss of a policy on some data; one cell is broken."""
    if seed == 2:
        raise ValueError("a broken cell")
    data = fl.datasets.make_switch(size, random_state=seed)
    return {"returned": float(data.decisions.sum() + data.signals.sum())}


@pytest.mark.soak
def test_cells_of_experiments_run_on_the_cluster(client: Any, tmp_path: Path) -> None:
    toy = Experiment(
        name="toy",
        title="A toy",
        about="Nothing.",
        rows=lambda _: [Row("small", {"size": 5}), Row("large", {"size": 9})],
        measure=measured,
        columns={"returned": "loss"},
    )
    found = []
    for folder in ("here", "there"):
        store = Store(tmp_path / folder)
        cells, pace = unfinished([toy], Settings(seeds=(0, 1, 2)), store)
        if folder == "here":
            failed = run(cells, pace, store, Console(quiet=True))
        else:
            # On a machine with much else to do, a worker may have been lost and started again.
            client.wait_for_workers(2, timeout=60)
            with cluster(client.scheduler.address) as n_jobs:
                assert n_jobs == 2
                failed = run(cells, pace, store, Console(quiet=True), n_jobs)
        assert sorted(failed) == [
            f"toy: {name}, seed 2: ValueError: a broken cell" for name in ("large", "small")
        ]
        rows = [store.finished(toy, row) for row in toy.rows(Settings(seeds=(0, 1)))]
        found.append([[cell["values"] for _, cell in sorted(row.items())] for row in rows])
    assert found[0] == found[1]
