"""The number that tells the rows of a source from others."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.data import Chunk
from feaslearn.data.content import content_of

RANDOM = np.random.default_rng(0)
#: Whole numbers: their digits differ in few places.
WHOLE = Chunk(RANDOM.integers(0, 5, (50, 3)), RANDOM.integers(0, 5, (50, 2)), np.ones(50))
ROWS = WHOLE._replace(signals=RANDOM.normal(size=(50, 3)), decisions=RANDOM.normal(size=(50, 2)))


def total(*chunks: Chunk) -> int:
    return sum(content_of(chunk) for chunk in chunks) % 2**64


@pytest.mark.parametrize("rows", [WHOLE, ROWS])
def test_pieces_add_up_to_the_whole(rows: Chunk) -> None:
    assert total(rows.rows(0, 20), rows.rows(20, 21), rows.rows(21, 50)) == total(rows)
    assert total(rows._replace(signals=rows.signals.astype(np.float32))) != total(ROWS)
    assert 0 <= total(rows) < 2**64


@pytest.mark.parametrize("rows", [WHOLE, ROWS])
def test_any_change_is_seen(rows: Chunk) -> None:
    known = {total(rows), total(rows._replace(first=1))}
    assert len(known) == 2
    others = [rows._replace(weights=2.0 * rows.weights)]
    for i in (0, 7, 49):
        for name in ("signals", "decisions"):
            changed = np.array(getattr(rows, name), dtype=float)
            changed[i, 1] += 1.0
            others.append(rows._replace(**{name: changed}))
    order = np.arange(50)
    order[[3, 30]] = order[[30, 3]]
    others.append(Chunk(rows.signals[order], rows.decisions[order], rows.weights))
    others.append(rows._replace(signals=rows.signals[:, [1, 0, 2]]))
    assert len(known | {total(other) for other in others}) == len(known) + len(others)
