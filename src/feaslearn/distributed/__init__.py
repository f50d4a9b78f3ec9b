"""Data that stay on the workers of a Dask cluster, and fits that go to them."""

from __future__ import annotations

from feaslearn.distributed.cluster_chunks import ClusterChunks

__all__ = ["ClusterChunks"]
