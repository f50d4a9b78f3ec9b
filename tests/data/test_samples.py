"""Samples are maps and sums over blocks of rows, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.data import BLOCK_ROWS, Block, Chunk, Chunks, Samples
from feaslearn.data.samples import read_block
from feaslearn.data.source import Memory


def table(n_rows: int, dtype: type = np.float64) -> Block:
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
    whole = table(2 * BLOCK_ROWS + 5)
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
    for samples in (lazy(table(20_000)), from_chunks(table(20_000), 7_000)):
        for rows, n_jobs in ((BLOCK_ROWS, 1), (3_000, 2), (65_536, 2)):
            numbers = list(samples.map_rows(lambda _, places: places, n_jobs, rows=rows))
            assert max(map(len, numbers)) <= rows
            np.testing.assert_array_equal(np.concatenate(numbers), np.arange(20_000))


def test_sums_have_the_same_bits_for_any_chunks_and_threads() -> None:
    whole = table(4 * BLOCK_ROWS)
    total = partial(np.sum, axis=0)
    expected = Samples.of(whole).sum(lambda block: total(block.decisions))
    for rows in (BLOCK_ROWS, 2 * BLOCK_ROWS):
        for n_jobs in (1, 3):
            found = from_chunks(whole, rows).sum(lambda block: total(block.decisions), n_jobs)
            assert found.tobytes() == expected.tobytes()


def test_chunks_and_memory_agree() -> None:
    whole = table(20_000)._replace(costs=np.zeros((20_000, 3)), weights=np.ones(20_000))
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
    whole = table(9_000)
    samples = from_chunks(whole, 5_000)
    moved = samples.then(lambda block: block._replace(features=block.features + 1.0))
    assert moved.sum(lambda block: len(block.weights)) == 9_000
    assert samples.passes == 1
    kept = samples.summary().rows.features
    np.testing.assert_array_equal(kept, whole.features[:: samples.summary().step])
    np.testing.assert_array_equal(moved.spread().features, kept + 1.0)
