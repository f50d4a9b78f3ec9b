"""The smallest entries of rows: short rows by exchanges, long ones by sorting, both the same."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.hypotheses import term_minimizers as module
from feaslearn.hypotheses.term_minimizers import FEW_ENTRIES, smallest_entries


@pytest.mark.parametrize("p", [1, 2, 5, FEW_ENTRIES, FEW_ENTRIES + 1, 20])
def test_against_a_stable_sort(p: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_TOGETHER", 7)
    Q = np.random.default_rng(p).integers(-3, 4, (40, p)).astype(float)
    counts = [1, max(1, p // 2), p]
    chosen, tied = smallest_entries(Q, counts)
    order = np.argsort(Q, axis=1, kind="stable")
    for i, row in enumerate(Q):
        for place, count in enumerate(counts):
            assert set(np.flatnonzero(chosen[i, place])) == set(order[i, :count])
            ends = np.sort(row)
            assert tied[i, place] == (count < p and ends[count] == ends[count - 1])


def test_rows_of_zeros_tie() -> None:
    assert smallest_entries(np.zeros((1, 3)), [1, 2, 3])[1].tolist() == [[True, True, False]]
