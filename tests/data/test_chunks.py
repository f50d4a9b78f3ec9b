"""Chunks and samples: every source gives the same rows, and what is wrong is named by its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from feaslearn.data import BLOCK_ROWS, Block, Chunk, Chunks, Samples
from feaslearn.data.samples import read_block
from feaslearn.data.source import Memory
from feaslearn.exceptions import DataError, FeaslearnError, FileError, MemoryLimitError
from feaslearn.io.tables import read_table
from registry import fit_rows

NAMES = ("price", "demand", "power", "heat")


def table(n_rows: int = 1000) -> Any:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_rows, 4))
    values[3, 2] = np.nan
    return values


def written(folder: Path, values: Any, n_files: int = 3, rows: int = 100) -> list[Path]:
    paths = []
    for i, part in enumerate(np.array_split(values, n_files)):
        columns = [pa.array(column, from_pandas=True) for column in part.T]
        paths.append(folder / f"part{i}.parquet")
        pq.write_table(pa.table(columns, names=list(NAMES)), paths[-1], row_group_size=rows)
    return paths


def gathered(chunks: fl.Chunks, n_jobs: int = 1) -> Chunk:
    parts = list(chunks.map(lambda chunk: chunk, n_jobs))
    firsts = np.cumsum([0, *(part.n_rows for part in parts)])
    assert [part.first for part in parts] == firsts[:-1].tolist()
    arrays = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Chunk(*arrays)


def pairs(values: Any) -> Any:
    for part in np.array_split(values, 7):
        yield part[:, :2], part[:, 2:]


COLUMNS = {"signals": ["price", "demand"], "decisions": ["power", "heat"]}
SOURCES: dict[str, Callable[[Path, Any], fl.Chunks]] = {
    "file pattern": lambda folder, _: fl.Chunks(str(folder / "part*.parquet"), **COLUMNS),
    "folder": lambda folder, _: fl.Chunks(folder, **COLUMNS),
    "list": lambda folder, _: fl.Chunks([folder / f"part{i}.parquet" for i in range(3)], **COLUMNS),
    "arrays": lambda _, values: fl.Chunks((values[:, :2], values[:, 2:])),
    "frames": lambda _, values: fl.Chunks(
        (pd.DataFrame(values[:, :2]), pl.DataFrame(values[:, 2:], schema=["power", "heat"]))
    ),
    "function, pairs": lambda _, values: fl.Chunks(lambda: pairs(values)),
    "function, frames": lambda _, values: fl.Chunks(
        lambda: (pd.DataFrame(part, columns=NAMES) for part in np.array_split(values, 4)), **COLUMNS
    ),
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_all_rows_in_order(source: str, n_jobs: int, tmp_path: Path) -> None:
    values = table()
    written(tmp_path, values)
    chunks = SOURCES[source](tmp_path, values)
    for _ in range(2):
        found = gathered(chunks, n_jobs)
        np.testing.assert_array_equal(found.signals, values[:, :2])
        np.testing.assert_array_equal(found.decisions, values[:, 2:])
    assert len(chunks.names.signals) == len(chunks.names.decisions) == 2


def test_memory_bounds_the_rows_of_a_chunk() -> None:
    values = np.ones((50_000, 4))
    chunks = fl.Chunks((values[:, :2], values[:, 2:]), memory="1MB")
    sizes = list(chunks.map(lambda chunk: chunk.n_rows))
    assert max(sizes) == 8192
    assert sum(sizes) == 50_000


def test_signals_alone_can_be_read(tmp_path: Path) -> None:
    values = table(200)
    paths = written(tmp_path, values)
    chunks = fl.Chunks(paths, **COLUMNS)
    parts = list(chunks.map(lambda chunk: chunk, signals=(1,)))
    signals = np.concatenate([part.signals for part in parts])
    np.testing.assert_array_equal(signals[:, 1], values[:, 1])
    assert not signals[:, 0].any()
    assert parts[0].decisions.shape == (parts[0].n_rows, 2)


def test_weights_and_single_precision(tmp_path: Path) -> None:
    values = np.abs(table(200)).astype(np.float32)
    paths = written(tmp_path, np.nan_to_num(values))
    chunks = fl.Chunks(
        paths, signals=["price"], decisions=["power"], weights="heat", dtype="float32"
    )
    found = gathered(chunks)
    np.testing.assert_array_equal(found.weights, values[:, 3])
    assert found.signals.dtype == found.decisions.dtype == np.float32


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (0, np.nan, r"part1.parquet: signals: 1 value is NaN or infinite: row 41, column 'price'"),
        (2, np.inf, r"part1.parquet: decisions: 1 value is infinite: row 41, column 'power'"),
        (3, -1.0, r"part1.parquet: weights: -1.0 in row 41"),
    ],
)
def test_wrong_values_are_named_by_file_and_row(
    column: int, value: float, said: str, tmp_path: Path
) -> None:
    values = np.ones((200, 4))
    values[141, column] = value
    paths = written(tmp_path, values, n_files=2, rows=30)
    chunks = fl.Chunks(
        paths, signals=["price", "demand"], decisions=["power"], weights="heat", memory="1MB"
    )
    with pytest.raises(DataError, match=said):
        gathered(chunks)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda _: fl.Chunks("nowhere*.parquet"), FileError, "no file 'nowhere"),
        (lambda _: fl.Chunks(iter([])), DataError, "only once.* function that returns a fresh"),
        (lambda _: fl.Chunks(pairs(table())), DataError, "a generator can be read only once"),
        (lambda _: fl.Chunks(3), DataError, "cannot read a int"),
        (lambda _: fl.Chunks(list), DataError, "is empty"),
        (lambda _: fl.Chunks(lambda: 3), DataError, "not an iterator"),
        (lambda _: fl.Chunks((np.ones((3, 1)), np.ones(2))), DataError, "3 rows of signals and 2"),
        (lambda _: fl.Chunks((np.ones((3, 1)), np.ones(3)), memory="much"), DataError, "memory="),
        (lambda _: fl.Chunks((np.ones((3, 1)), np.ones(3)), dtype="int8"), DataError, "dtype="),
        (lambda _: fl.Chunks((np.ones((3, 1)), np.ones(3)), weights="w"), DataError, "pair"),
        (lambda f: fl.Chunks(f, signals=["prize"], decisions=["power"]), DataError, "prize"),
        (lambda f: fl.Chunks(f, signals=["price"]), DataError, "decisions: no column"),
        (lambda f: fl.Chunks(f, signals=["price"], decisions=["price"]), DataError, "two things"),
    ],
)
def test_what_cannot_be_read_is_refused(
    make: Callable[[Path], Any], error: type[FeaslearnError], said: str, tmp_path: Path
) -> None:
    written(tmp_path, np.ones((6, 4)))
    with pytest.raises(error, match=said):
        make(tmp_path)


# Sources that are damaged or yield nonsense.

PRICED: dict[str, Any] = {"signals": ["price"], "decisions": ["power"]}
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
        all_rows(fl.Chunks(damaged(tmp_path), **PRICED))


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
        fl.Chunks(path, **PRICED)


def test_structures_and_endless_integers_are_no_numbers() -> None:
    nested = pl.DataFrame({"p": [1.0, 2.0], "q": [0.5, 0.25], "a": [{}, {}], "b": [1.0, 2.0]})
    columns: dict[str, Any] = {"signals": ["p", "q"], "decisions": ["a", "b"]}
    with pytest.raises(DataError, match="column 'a' holds several values in a row"):
        all_rows(fl.Chunks(lambda: iter([nested]), **columns))
    with pytest.raises(DataError, match="y: column 'a' holds several values in a row"):
        fit_rows(nested[["p", "q"]], nested[["a", "b"]], fl.Minkowski.box(2))
    endless = np.full((2, 2), 10**400, dtype=object)
    with pytest.raises(DataError, match="4 values are not numbers"):
        all_rows(fl.Chunks(lambda: iter([(endless, Y[:2])])))


# Row groups and columns that would not fit.

ROWS = 200_000


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pq.write_table(pa.table(columns), path, **options)
    return path


def groups(path: Path, memory: str = "10MB") -> fl.Chunks:
    return fl.Chunks(path, signals=["a"], decisions=["b"], memory=memory)


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_row_groups_that_do_not_fit_are_refused(codec: str, tmp_path: Path) -> None:
    columns = dict.fromkeys("ab", np.zeros(ROWS))
    path = write(tmp_path / "a.parquet", columns, compression=codec, use_dictionary=False)
    said = "row group 0: its 200000 rows of 2 columns take 3.2 MB.*smaller row groups"
    with pytest.raises(MemoryLimitError, match=said):
        groups(path, "3MB")
    assert groups(path, "4MB").n_rows == ROWS


@pytest.mark.parametrize("kind", ["list", "struct"])
def test_rows_that_hold_any_number_of_values(kind: str, tmp_path: Path) -> None:
    rows = [[1.0] * 5] * 3 if kind == "list" else [{"x": 1.0}] * 3
    path = write(tmp_path / "a.parquet", {"a": [1.0, 2.0, 3.0], "b": rows})
    with pytest.raises(DataError, match=f"column 'b' holds {kind}.*, not numbers"):
        groups(path)
    with pytest.raises(DataError, match=f"column 'b' holds {kind}.*leave it out"):
        read_table(path)


# Samples are maps and sums over blocks of rows, wherever the rows are.


def drawn_block(n_rows: int, dtype: type = np.float64) -> Block:
    rng = np.random.default_rng(0)
    arrays = (rng.normal(size=(n_rows, width)).astype(dtype) for width in (4, 2, 3))
    return Block(*arrays, np.full(n_rows, 1.0 / n_rows))


def doubled(chunk: Chunk) -> tuple[Block, np.ndarray]:
    block, kept = read_block(chunk)
    return block._replace(costs=2.0 * block.costs.astype(float)), kept


def lazy(block: Block, read: Callable[[Chunk], tuple[Block, np.ndarray]] = doubled) -> Samples:
    """Return samples in memory that are made when they are read."""
    features, costs, decisions, weights = block
    return Samples(Memory(Chunk(features, decisions, weights, costs=costs)), read)


def from_chunks(block: Block, rows: int) -> Samples:
    """Return samples that come in chunks of so many rows; their costs are zero."""
    starts = range(0, len(block.weights), rows)

    def pairs() -> object:
        for start in starts:
            yield block.features[start : start + rows], block.decisions[start : start + rows]

    return Samples(Chunks(pairs), costless)


def costless(chunk: Chunk) -> tuple[Block, np.ndarray]:
    signals, decisions = np.ascontiguousarray(chunk.signals), np.ascontiguousarray(chunk.decisions)
    costs = np.zeros(decisions.shape)
    return read_block(chunk._replace(signals=signals, decisions=decisions, costs=costs))


@pytest.mark.parametrize("read", [read_block, doubled])
def test_blocks_are_those_of_the_whole_table(
    read: Callable[[Chunk], tuple[Block, np.ndarray]],
) -> None:
    whole = drawn_block(2 * BLOCK_ROWS + 5)
    made = list(lazy(whole, read))
    block, costs = lazy(whole, read).load(), whole.costs if read is read_block else 2 * whole.costs
    np.testing.assert_array_equal(block.costs, costs)
    assert len(made) == 3
    for mine, other in zip(zip(*made, strict=True), block, strict=True):
        np.testing.assert_array_equal(np.concatenate(mine), other)


@given(st.integers(1, 40), st.integers(1, 50))
def test_the_parts_are_the_whole_in_order(rows: int, size: int) -> None:
    values = np.arange(3.0 * rows).reshape(rows, 3)
    whole = Block(values, values + 1, values + 2, np.arange(float(rows)))
    parts = list(Samples.of(whole, size))
    assert all(0 < len(part.weights) <= size for part in parts)
    assert all(len(part.weights) == size for part in parts[:-1])
    for name in Block._fields:
        array = getattr(whole, name)
        pieces = [getattr(part, name) for part in parts]
        assert all(np.shares_memory(piece, array) for piece in pieces)
        np.testing.assert_array_equal(np.concatenate(pieces), array)


def test_a_pass_numbers_its_rows_for_any_size_and_number_of_threads() -> None:
    for samples in (lazy(drawn_block(20_000)), from_chunks(drawn_block(20_000), 7_000)):
        for rows, n_jobs in ((BLOCK_ROWS, 1), (3_000, 2), (65_536, 2)):
            numbers = list(samples.map_rows(lambda _, places: places, n_jobs, rows=rows))
            assert max(map(len, numbers)) <= rows
            np.testing.assert_array_equal(np.concatenate(numbers), np.arange(20_000))


def test_sums_have_the_same_bits_for_any_chunks_and_threads() -> None:
    whole = drawn_block(4 * BLOCK_ROWS)
    total = partial(np.sum, axis=0)
    expected = Samples.of(whole).sum(lambda block: total(block.decisions))
    for rows in (BLOCK_ROWS, 2 * BLOCK_ROWS):
        for n_jobs in (1, 3):
            found = from_chunks(whole, rows).sum(lambda block: total(block.decisions), n_jobs)
            assert found.tobytes() == expected.tobytes()


def test_chunks_and_memory_agree() -> None:
    whole = drawn_block(20_000)._replace(costs=np.zeros((20_000, 3)), weights=np.ones(20_000))
    whole.decisions[7] = np.nan
    whole.decisions[8, 1] = np.nan
    memory, chunks = Samples.of(whole), from_chunks(whole, 6_000)
    rows = np.array([0, 8, 5_999, 6_000, 19_999])
    for one, other in zip(memory.take(rows), chunks.take(rows), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(memory.load(), chunks.load(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert memory.n_observed == chunks.n_observed
    assert chunks.n_samples == memory.n_samples == chunks.summary().n_rows
    np.testing.assert_array_equal(memory.summary().decisions, chunks.summary().decisions)
    assert chunks.passes == 2
    assert chunks.normalized().sum(lambda block: block.weights.sum()) == pytest.approx(1.0)
    some = chunks.subsample(100, np.random.default_rng(0))
    assert some.in_memory
    assert some.n_samples == 100
    assert memory.subsample(20_000, np.random.default_rng(0)) is memory


def test_the_first_pass_sees_rows_before_they_are_changed() -> None:
    whole = drawn_block(9_000)
    samples = from_chunks(whole, 5_000)
    moved = samples.then(lambda block: block._replace(features=block.features + 1.0))
    assert moved.sum(lambda block: len(block.weights)) == 9_000
    assert samples.passes == 1
    kept = samples.summary().rows.features
    np.testing.assert_array_equal(kept, whole.features[:: samples.summary().step])
    np.testing.assert_array_equal(moved.spread().features, kept + 1.0)
