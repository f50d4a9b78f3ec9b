"""Files: models and tables."""

from __future__ import annotations

from feaslearn.io.model_file import load, save
from feaslearn.io.table import Frame, Table
from feaslearn.io.table_file import read_table, write_table

__all__ = ["Frame", "Table", "load", "read_table", "save", "write_table"]
