from __future__ import annotations

from cluster import client

__all__ = ["client"]
