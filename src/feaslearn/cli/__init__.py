"""The command line: ``feaslearn demo | fit | predict | evaluate | report | export | ...``."""

from __future__ import annotations

from feaslearn.cli.app import main

__all__ = ["main"]
