from __future__ import annotations

import pytest

from cluster import client

__all__ = ["client"]

pytest.importorskip("dask")
pytest.importorskip("distributed")
