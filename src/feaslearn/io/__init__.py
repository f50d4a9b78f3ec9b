"""Files: models here, tables in `feaslearn.io.tables`, which loads pandas."""

from __future__ import annotations

from feaslearn.io.model_file import load, save

__all__ = ["load", "save"]
