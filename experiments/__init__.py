"""The tables, figures and claims of the paper, one file each; run with ``feaslearn reproduce``."""

from __future__ import annotations
