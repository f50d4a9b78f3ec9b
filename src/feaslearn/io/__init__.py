"""Files: models and tables."""

from __future__ import annotations

from feaslearn.io.frame import Frame
from feaslearn.io.model_file import load, save
from feaslearn.io.table import Table
from feaslearn.io.table_file import read_table, write_table

__all__ = ["Frame", "Table", "load", "read_table", "save", "write_table"]
