"""Decisions in other units are predictions in other units."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from properties.tiny import FACTORS, Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models, st.sampled_from(FACTORS))
def test_units_of_decisions(problem: Tiny, model: str, factor: float) -> None:
    other = replace(problem, decisions=problem.decisions * factor)
    assert_same(predicted(problem, model), predicted(other, model) / factor, problem)
