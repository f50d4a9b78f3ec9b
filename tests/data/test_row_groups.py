"""Row groups and columns of Parquet files that would not fit are refused before they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, MemoryLimitError
from feaslearn.io.tables import read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 200_000
CODECS = ["none", "zstd"]


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def chunks(path: Path, memory: str = "10MB") -> fl.Chunks:
    return fl.Chunks(path, signals=["a"], decisions=["b"], memory=memory)


def zeros(path: Path, codec: str, others: int = 0, **options: Any) -> Path:
    """1.6 MB in each of two columns, and in others that nobody asks for."""
    names = ["a", "b", *(f"other{j}" for j in range(others))]
    columns = dict.fromkeys(names, np.zeros(ROWS))
    return write(path, columns, compression=codec, use_dictionary=False, **options)


@pytest.mark.parametrize("codec", CODECS)
def test_row_groups_that_do_not_fit_are_refused(codec: str, tmp_path: Path) -> None:
    path = zeros(tmp_path / "a.parquet", codec)
    said = "row group 0: its 200000 rows of 2 columns take 3.2 MB.*smaller row groups"
    with pytest.raises(MemoryLimitError, match=said):
        chunks(path, "3MB")
    assert chunks(path, "4MB").n_rows == ROWS


@pytest.mark.parametrize("kind", ["list", "struct"])
def test_rows_that_hold_any_number_of_values(kind: str, tmp_path: Path) -> None:
    rows = [[1.0] * 5] * 3 if kind == "list" else [{"x": 1.0}] * 3
    path = write(tmp_path / "a.parquet", {"a": [1.0, 2.0, 3.0], "b": rows})
    with pytest.raises(DataError, match=f"column 'b' holds {kind}.*, not numbers"):
        chunks(path)
    with pytest.raises(DataError, match=f"column 'b' holds {kind}.*leave it out"):
        read_table(path)
