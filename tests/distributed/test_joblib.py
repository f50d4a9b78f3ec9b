"""Cells of experiments on the cluster, through joblib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import feaslearn as fl
from experiments.frame.cluster import cluster
from experiments.frame.experiment import Experiment, Row, Settings
from experiments.frame.runner import run, unfinished
from experiments.frame.store import Store

pytestmark = pytest.mark.soak


def measured(seed: int, *, size: int) -> dict[str, Any]:
    """Return the loss of a policy on some data; one cell is broken."""
    if seed == 2:
        raise ValueError("a broken cell")
    data = fl.datasets.make_switch(size, random_state=seed)
    return {"returned": float(data.decisions.sum() + data.signals.sum())}


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
