"""A cluster of two workers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

#: Workers of tests: no dashboard, nothing but the loopback, and time for a busy machine.
SETTINGS = {
    "distributed.comm.timeouts.connect": "60s",
    "distributed.comm.timeouts.tcp": "120s",
    "distributed.scheduler.allowed-failures": 10,
    "distributed.deploy.lost-worker-timeout": "5s",
    "distributed.worker.memory.terminate": False,
}


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Return a client of two workers, each a process of its own."""
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client
