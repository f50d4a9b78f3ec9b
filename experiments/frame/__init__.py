"""What all experiments share: cells, the store of finished ones, tables and the page."""

from __future__ import annotations
