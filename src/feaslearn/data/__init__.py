"""Signals and decisions: validated once, then trusted."""

from __future__ import annotations

from feaslearn.data.block import BLOCK_ROWS, Block, blocks_of
from feaslearn.data.block_list import BlockList, Blocks, as_blocks
from feaslearn.data.block_source import BlockSource
from feaslearn.data.checks import Names
from feaslearn.data.chunk_source import Chunk, ChunkSource
from feaslearn.data.chunks import Chunks
from feaslearn.data.decisions import Decisions, Solves
from feaslearn.data.matrix import as_matrix, column_names
from feaslearn.data.table_blocks import TableBlocks

__all__ = [
    "BLOCK_ROWS",
    "Block",
    "BlockList",
    "BlockSource",
    "Blocks",
    "Chunk",
    "ChunkSource",
    "Chunks",
    "Decisions",
    "Names",
    "Solves",
    "TableBlocks",
    "as_blocks",
    "as_matrix",
    "blocks_of",
    "column_names",
]
