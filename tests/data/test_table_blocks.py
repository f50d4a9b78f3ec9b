"""Blocks of a table are the rows of the table, made when they are read."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.data import BLOCK_ROWS, Block, TableBlocks, blocks_of
from feaslearn.data.checks import column_ends


def table(n_rows: int, dtype: type = np.float64) -> Block:
    rng = np.random.default_rng(0)
    arrays = (rng.normal(size=(n_rows, width)).astype(dtype) for width in (4, 2, 3))
    return Block(*arrays, np.full(n_rows, 1.0 / n_rows))


def doubled(rows: Block) -> Block:
    return rows._replace(costs=2.0 * rows.costs.astype(float))


@pytest.mark.parametrize("read", [None, doubled])
def test_blocks_are_those_of_the_whole_table(read) -> None:
    whole = table(2 * BLOCK_ROWS + 5)
    made = TableBlocks(whole, read)
    expected = list(blocks_of(whole if read is None else read(whole)))
    assert len(made) == len(expected) == 3
    for mine, other in zip(made, expected, strict=True):
        for one, two in zip(mine, other, strict=True):
            np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(made[-1].costs, expected[-1].costs)
    with pytest.raises(IndexError):
        made[3]


def test_a_pass_numbers_its_rows_for_any_size_and_number_of_threads() -> None:
    made = TableBlocks(table(20_000), doubled)
    for rows, n_jobs in ((BLOCK_ROWS, 1), (3_000, 2), (65_536, 2)):
        numbers = list(made.map(lambda _, places: places, n_jobs, rows=rows))
        assert max(map(len, numbers)) <= rows
        np.testing.assert_array_equal(np.concatenate(numbers), np.arange(20_000))


def test_some_rows_and_what_is_made_of_them() -> None:
    whole = table(100)
    made = TableBlocks(whole, doubled).apply(Block.negated)
    np.testing.assert_array_equal(made.every(7).costs, -2.0 * whole.costs[::7])
    np.testing.assert_array_equal(made.rows(np.array([3, 90])).costs, -2.0 * whole.costs[[3, 90]])
    np.testing.assert_array_equal(made.whole().features, whole.features)
    whole.decisions[4, 1] = np.nan
    assert TableBlocks(whole, doubled).n_observed == 299


@pytest.mark.parametrize("count", [1, 63, 64, 1000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_ends_of_columns(count: int, order: str) -> None:
    values = np.array(np.random.default_rng(1).normal(size=(count, 3)), order=order)  # type: ignore[call-overload]
    values[: count // 2, 0] = np.nan
    expected = np.array([np.nanmin(values, axis=0), np.nanmax(values, axis=0)])
    np.testing.assert_array_equal(column_ends(values), expected)
    assert np.isnan(column_ends(values[:0])).all()
