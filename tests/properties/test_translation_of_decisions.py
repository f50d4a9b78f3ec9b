"""Decisions that are all moved alike are predictions moved alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from properties.tiny import Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models, st.sampled_from([1.0, 10.0, 100.0]))
def test_translation_of_decisions(problem: Tiny, model: str, size: float) -> None:
    # No round numbers: sums with those are often exact.
    move = size * np.random.default_rng(problem.seed).normal(size=problem.n)
    other = replace(problem, decisions=problem.decisions + move)
    assert_same(predicted(problem, model) + move, predicted(other, model), problem)
