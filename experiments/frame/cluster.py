"""Cells on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from joblib import parallel_config

import feaslearn as fl


@contextmanager
def cluster(address: str) -> Iterator[int]:
    """Send what joblib does to the workers of a Dask scheduler; yield for how many jobs."""
    try:
        from distributed import Client
    except ImportError:
        raise fl.exceptions.MissingExtraError("distributed", "dask") from None
    with Client(address) as client, parallel_config(backend="dask"):
        yield sum(client.nthreads().values())
