"""The command line: ``feaslearn demo | fit | predict | report | export | ...``."""

from __future__ import annotations

from feaslearn.cli.app import main

__all__ = ["main"]
