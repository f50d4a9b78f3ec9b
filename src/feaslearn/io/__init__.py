"""Files: models and tables."""

from __future__ import annotations

from feaslearn.io.model_file import load, save

__all__ = ["load", "save"]
