"""A fit does not depend on the units of the signals, each column in its own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from properties.tiny import FACTORS, Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models, st.sampled_from(FACTORS), st.sampled_from(FACTORS))
def test_units_of_signals(problem: Tiny, model: str, first: float, second: float) -> None:
    other = problem.scaled(problem.features, np.array([first, second]))
    assert_same(predicted(problem, model), predicted(other, model), problem)
