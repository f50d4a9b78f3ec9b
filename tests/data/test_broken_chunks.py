"""Sources that are damaged or yield nonsense: our own errors, which name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError, FileError

COLUMNS: dict[str, Any] = {"signals": ["price"], "decisions": ["power"]}
X, Y = np.arange(6.0).reshape(3, 2), np.arange(3.0)


def all_rows(chunks: fl.Chunks) -> int:
    return sum(chunks.map(lambda chunk: chunk.n_rows))


def damaged(folder: Path) -> Path:
    """Two files; the pages of the second are not what its end says."""
    columns = {"price": np.arange(50.0), "power": np.arange(50.0)}
    for i in range(2):
        pq.write_table(pa.table(columns), folder / f"{i}.parquet", compression="zstd")
    path = folder / "1.parquet"
    contents = bytearray(path.read_bytes())
    contents[8:200] = b"\xff" * 192
    path.write_bytes(bytes(contents))
    return folder


def test_damage_inside_a_file_is_our_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        all_rows(fl.Chunks(damaged(tmp_path), **COLUMNS))


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([(X, Y), (X.astype(str), Y)], "chunk 1: signals: 6 values are not numbers"),
        ([(X, Y), ([[1.0], [2.0, 3.0]], Y)], "chunk 1: the rows do not all have the same length"),
        ([(X, Y), (X[:, :1], Y)], "chunk 1 has the columns s0, x0"),
        ([(X, Y), (X[:2], Y)], "2 rows of signals and 3"),
        ([(X, Y), (X, 1e200 * Y)], r"chunk 1: decisions: 2 values are beyond 1e\+100.*row 1"),
        ([(X, Y), (np.where(X == 3.0, np.nan, X), Y)], "chunk 1: .* NaN or infinite: row 1"),
        ([(pd.DataFrame(index=[0, 1, 2]), Y)], "a frame without columns"),
    ],
)
def test_nonsense_from_an_iterator_is_named_by_its_chunk(items: list[Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        all_rows(fl.Chunks(lambda: iter(items)))


def test_a_function_that_returns_the_same_iterator_again_is_refused() -> None:
    items = iter([(X, Y), (X, Y)])
    with pytest.raises(DataError, match=r"same iterator twice.*returns a fresh iterator"):
        fl.Chunks(lambda: items)


def test_numbers_beyond_single_precision_are_refused_there() -> None:
    with pytest.raises(DataError, match="1 value is NaN or infinite: row 1, column"):
        all_rows(fl.Chunks((np.where(X == 2.0, 1e50, X), Y), dtype="float32"))


@pytest.mark.parametrize("path", ["a**b/*.parquet", "\0", "x" * 300])
def test_what_is_no_path_is_our_error(path: str) -> None:
    with pytest.raises(FileError, match="Chunks: "):
        fl.Chunks(path, **COLUMNS)


def test_structures_and_endless_integers_are_no_numbers() -> None:
    nested = pl.DataFrame({"p": [1.0, 2.0], "q": [0.5, 0.25], "a": [{}, {}], "b": [1.0, 2.0]})
    columns: dict[str, Any] = {"signals": ["p", "q"], "decisions": ["a", "b"]}
    with pytest.raises(DataError, match="column 'a' holds several values in a row"):
        all_rows(fl.Chunks(lambda: iter([nested]), **columns))
    model = fl.RegionRegressor(
        fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"), cost=[0, 1]
    )
    with pytest.raises(DataError, match="y: column 'a' holds several values in a row"):
        model.fit(nested[["p", "q"]], nested[["a", "b"]])
    endless = np.full((2, 2), 10**400, dtype=object)
    with pytest.raises(DataError, match="4 values are not numbers"):
        all_rows(fl.Chunks(lambda: iter([(endless, Y[:2])])))
