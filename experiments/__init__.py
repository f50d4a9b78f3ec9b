"""The tables, figures and claims of the paper, one file each: ``python -m experiments all``."""

from __future__ import annotations
