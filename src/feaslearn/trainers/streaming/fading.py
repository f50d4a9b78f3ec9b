"""Samples that count less the older they are."""

from __future__ import annotations

import numpy as np

from feaslearn.data import Shard


def faded(shard: Shard, forgetting: float) -> Shard:
    """Return samples in the order they came, each counting ``forgetting`` times the next one."""
    ages = np.arange(len(shard.weights) - 1.0, -1.0, -1.0)
    return shard._replace(weights=shard.weights * forgetting**ages)
