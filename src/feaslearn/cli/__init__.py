"""The command line: ``feaslearn demo | reproduce | bench``."""

from __future__ import annotations

from feaslearn.cli.app import main

__all__ = ["main"]
