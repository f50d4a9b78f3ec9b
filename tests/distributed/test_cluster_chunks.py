from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.data import Chunk
from feaslearn.distributed import ClusterChunks
from feaslearn.exceptions import DataError, MissingExtraError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

COUNT = 900
TABLE = np.random.default_rng(0).normal(size=(COUNT, 6))
FRAME = pd.DataFrame(TABLE, columns=["p0", "p1", "load", "x0", "x1", "weight"])
FRAME["weight"] = FRAME["weight"].abs()
COLUMNS = {"signals": ["p*", "load"], "decisions": ["x0", "x1"]}


def looked_at(chunk: Chunk) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    return chunk.first, chunk.signals, chunk.decisions, chunk.weights


def slowly(chunk: Chunk) -> tuple[int, float]:
    time.sleep(0.05)
    return os.getpid(), float(chunk.signals.sum())


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


def test_a_lost_worker_changes_nothing(client: Any) -> None:
    pair = (da.from_array(TABLE[:, :3], (50, 3)), da.from_array(TABLE[:, 3:5], (50, 2)))
    chunks = ClusterChunks(pair, client)
    expected = [total for _, total in chunks.map(slowly)]
    running = chunks.map(slowly)
    process, first = next(running)
    os.kill(process, signal.SIGKILL)
    assert [first, *(total for _, total in running)] == expected


def test_what_is_wrong_with_the_data_is_said_by_place(client: Any) -> None:
    broken = FRAME.copy()
    broken.loc[700, "load"] = np.inf
    frame = dd.from_pandas(broken, npartitions=3)
    with pytest.raises(DataError, match=r"partition 2: .*\n?.*inf.*row 100"):
        ClusterChunks(frame, client, **COLUMNS)
    with pytest.raises(DataError, match="'z'"):
        ClusterChunks(frame, client, signals=["z"], decisions=["x0"])
    pair = (da.ones((10, 2)), da.ones((9, 2)))
    with pytest.raises(DataError, match="X has 10 rows and y has 9"):
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
