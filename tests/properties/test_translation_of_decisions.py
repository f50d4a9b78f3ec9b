"""Decisions that are all moved alike are predictions moved alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from properties.tiny import Tiny, assert_same, models, predicted, tiny


@given(tiny(), models, st.floats(-10.0, 10.0))
def test_translation_of_decisions(problem: Tiny, model: str, size: float) -> None:
    move = size * np.arange(1.0, problem.n + 1.0)
    other = replace(problem, decisions=problem.decisions + move)
    assert_same(predicted(problem, model) + move, predicted(other, model), problem)
