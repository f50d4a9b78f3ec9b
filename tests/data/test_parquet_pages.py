"""Small Parquet files that stand for very much are refused before they are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.data.sources import parquet_pages
from feaslearn.data.sources.parquet_pages import check_pages, column_chunks, page_sizes
from feaslearn.exceptions import DataError, MemoryLimitError
from feaslearn.io import read_table
from feaslearn.runs import memory as memory_of_the_machine

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 200_000
CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def chunks(path: Path, memory: str = "10MB") -> fl.Chunks:
    return fl.Chunks(path, signals=["a"], decisions=["b"], memory=memory)


def one_page(path: Path, codec: str) -> Path:
    """All rows in one page of 1.6 MB for each of two columns."""
    zeros = np.zeros(ROWS)
    options: dict[str, Any] = {"use_dictionary": False, "data_page_size": 2**30}
    try:
        return write(
            path, {"a": zeros, "b": zeros}, compression=codec, max_rows_per_page=ROWS, **options
        )
    except TypeError:  # older versions have no limit on rows
        return write(path, {"a": zeros, "b": zeros}, compression=codec, **options)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
def test_heads_of_pages_add_up(codec: str, version: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    columns = {"a": random.random(50_000), "b": random.integers(9, size=50_000)}
    path = write(
        tmp_path / "a.parquet",
        columns,
        compression=codec,
        data_page_version=version,
        data_page_size=10_000,
        row_group_size=20_000,
    )
    metadata, contents = pq.read_metadata(path), path.read_bytes()

    def read(at: int, count: int) -> bytes:
        return contents[at : at + count]

    groups = column_chunks(read, len(contents))
    assert len(groups) == metadata.num_row_groups == 3
    for group, chunks_of_group in enumerate(groups):
        for j, chunk in enumerate(chunks_of_group):
            told = metadata.row_group(group).column(j)
            assert chunk.name == told.path_in_schema
            assert chunk.values == told.num_values
            assert (chunk.large, chunk.small) == (
                told.total_uncompressed_size,
                told.total_compressed_size,
            )
            sizes = list(page_sizes(read, chunk))
            # The sizes that the end of the file tells have the heads in them.
            heads = chunk.large - sum(sizes)
            assert 10 * len(sizes) <= heads <= 300 * len(sizes)


@pytest.mark.parametrize("codec", CODECS)
def test_pages_that_do_not_fit_are_refused(codec: str, tmp_path: Path) -> None:
    path = one_page(tmp_path / "a.parquet", codec)
    with pytest.raises(MemoryLimitError, match="row group 0: the largest pages of 2 columns take"):
        chunks(path, "3MB")
    assert chunks(path, "4MB").n_rows == ROWS


def test_many_small_pages_are_read_within_less_memory_than_all_of_them(tmp_path: Path) -> None:
    zeros = np.zeros(ROWS)
    path = write(
        tmp_path / "a.parquet",
        {"a": zeros, "b": zeros},
        use_dictionary=False,
        data_page_size=10_000,
        write_batch_size=1000,
    )
    assert chunks(path, "1MB").n_rows == ROWS


def test_what_the_end_of_the_file_says_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = one_page(tmp_path / "a.parquet", "zstd")

    told = parquet_pages.column_chunks
    monkeypatch.setattr(
        parquet_pages,
        "column_chunks",
        lambda *given: [[chunk._replace(large=10) for chunk in group] for group in told(*given)],
    )
    with pytest.raises(MemoryLimitError):
        check_pages(str(path), pq.read_schema(path), ["a", "b"], 1e6)


def test_a_text_that_stands_in_every_row(tmp_path: Path) -> None:
    """A file of two kilobytes; as texts, its rows would take 20 GB."""
    once = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(ROWS, dtype=np.int32)), pa.array(["x" * 100_000])
    )
    path = write(
        tmp_path / "a.parquet",
        {"a": np.ones(ROWS), "b": once},
        compression="zstd",
        store_schema=False,
    )
    assert path.stat().st_size < 10_000
    with pytest.raises(DataError, match="column 'b' holds string, not numbers"):
        chunks(path)
    table = read_table(path)
    texts = table.columns[1]
    assert len(texts) == ROWS
    assert all(text is texts[0] for text in texts[:100])


@pytest.mark.parametrize("kind", ["list", "struct"])
def test_rows_that_hold_any_number_of_values(kind: str, tmp_path: Path) -> None:
    rows = [[1.0] * 5] * 3 if kind == "list" else [{"x": 1.0}] * 3
    path = write(tmp_path / "a.parquet", {"a": [1.0, 2.0, 3.0], "b": rows})
    with pytest.raises(DataError, match=f"column 'b' holds {kind}.*, not numbers"):
        chunks(path)
    with pytest.raises(DataError, match=f"column 'b' holds {kind}.*leave it out"):
        read_table(path)


def test_a_table_whose_pages_would_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = pa.array(["y" * 10_000_000])
    path = write(
        tmp_path / "a.parquet", {"a": [1.0], "b": once}, compression="zstd", use_dictionary=False
    )
    monkeypatch.setattr(memory_of_the_machine, "available_bytes", lambda: 5e6)
    with pytest.raises(MemoryLimitError, match="its pages need about 10 MB"):
        read_table(path)


def test_heads_that_are_none(tmp_path: Path) -> None:
    path = one_page(tmp_path / "a.parquet", "zstd")
    contents = bytearray(path.read_bytes())
    contents[4:60] = b"\xff" * 56
    path.write_bytes(contents)
    with pytest.raises(DataError, match=r"a\.parquet: cannot be read"):
        chunks(path)
    with pytest.raises(DataError, match="not a Parquet file that can be read"):
        read_table(path)


def test_a_forged_end_does_not_end_the_process() -> None:
    """Asked about its columns, pyarrow would: levels and their histograms contradict each other."""
    path = Path(__file__).parent / "forged_levels.parquet"
    code = "from feaslearn.io import read_table; read_table(__import__('sys').argv[1])"
    ended = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, 1), ended.stderr
    assert ended.returncode == 0 or "DataError" in ended.stderr
