"""Where blocks of parameters stand in theta."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.exceptions import DataError
from feaslearn.hypotheses import Layout

shapes = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple),
    min_size=1,
    max_size=3,
)


@given(shapes=shapes)
def test_pack_and_unpack_are_inverse(shapes: dict[str, tuple[int, ...]]) -> None:
    layout = Layout(shapes)
    theta = np.arange(float(layout.size))
    blocks = layout.unpack(theta)
    assert {name: block.shape for name, block in blocks.items()} == shapes
    np.testing.assert_array_equal(layout.pack(blocks), theta)


def test_parameters_of_another_size_are_refused() -> None:
    with pytest.raises(DataError, match=r"theta has shape \(5,\); expected \(6,\)"):
        Layout({"A": (2, 2), "b": (2,)}).unpack(np.zeros(5))
