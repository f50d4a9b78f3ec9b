"""A fit does not depend on the unit of money."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from properties.tiny import FACTORS, Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models, st.sampled_from(FACTORS))
def test_predictability(problem: Tiny, model: str, factor: float) -> None:
    other = problem.scaled(list(problem.costs), factor)
    assert_same(predicted(problem, model), predicted(other, model), problem)


@given(
    tiny(),
    st.sampled_from(["facets", "minkowski"]),
    st.sampled_from(FACTORS),
)
def test_suboptimality_of_costs_of_length_one(problem: Tiny, model: str, factor: float) -> None:
    loss = fl.Suboptimality(normalize_cost=True)
    other = problem.scaled(list(problem.costs), factor)
    one, two = (predicted(each, model, loss=loss) for each in (problem, other))
    assert_same(one, two, problem)
