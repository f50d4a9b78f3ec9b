"""Signals and decisions: validated once, then trusted."""

from __future__ import annotations

from feaslearn.data.checks import Names
from feaslearn.data.chunk_source import Chunk, ChunkSource
from feaslearn.data.chunks import Chunks
from feaslearn.data.decisions import Decisions, Solves
from feaslearn.data.matrix import as_matrix, column_names
from feaslearn.data.shard import SHARD_ROWS, Shard, shards
from feaslearn.data.shard_list import ShardList, Shards, shards_of
from feaslearn.data.shard_source import ShardSource
from feaslearn.data.table_shards import TableShards

__all__ = [
    "SHARD_ROWS",
    "Chunk",
    "ChunkSource",
    "Chunks",
    "Decisions",
    "Names",
    "Shard",
    "ShardList",
    "ShardSource",
    "Shards",
    "Solves",
    "TableShards",
    "as_matrix",
    "column_names",
    "shards",
    "shards_of",
]
