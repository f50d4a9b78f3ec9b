"""Decisions in other units are predictions in other units."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from properties.tiny import FACTORS, Tiny, assert_same, models, predicted, tiny


@given(tiny(), models, st.sampled_from(FACTORS))
def test_units_of_decisions(problem: Tiny, model: str, factor: float) -> None:
    other = replace(problem, decisions=problem.decisions * factor)
    assert_same(predicted(problem, model), predicted(other, model) / factor, problem)
