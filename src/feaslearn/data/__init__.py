"""Signals and decisions: validated once, then trusted."""

from __future__ import annotations

from feaslearn.data.checks import Names
from feaslearn.data.chunks import Chunks
from feaslearn.data.decisions import Decisions, Solves
from feaslearn.data.matrix import as_matrix, column_names
from feaslearn.data.samples import Block, Samples, Summary
from feaslearn.data.source import BLOCK_ROWS, Chunk, Source

__all__ = [
    "BLOCK_ROWS",
    "Block",
    "Chunk",
    "Chunks",
    "Decisions",
    "Names",
    "Samples",
    "Solves",
    "Source",
    "Summary",
    "as_matrix",
    "column_names",
]
