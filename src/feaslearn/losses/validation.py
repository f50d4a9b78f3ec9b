"""Samples that are not trained on."""

from __future__ import annotations

from typing import NamedTuple

from feaslearn.data import Decisions, Shard


class Validation(NamedTuple):
    """Samples on which a search is watched.

    ``rows`` is what a loss reads of them, ``data`` holds their signals and, where it is known, the
    true problem; ``sign`` is -1 where decisions maximise their cost.
    """

    rows: Shard
    data: Decisions
    sign: float = 1.0
