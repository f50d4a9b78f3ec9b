"""Signals and decisions: validated once, then trusted."""

from __future__ import annotations

from feaslearn.data.checks import Names
from feaslearn.data.decisions import Decisions, Solves
from feaslearn.data.matrix import as_matrix, column_names
from feaslearn.data.shard import Shard, shards

__all__ = ["Decisions", "Names", "Shard", "Solves", "as_matrix", "column_names", "shards"]
