"""A fit does not depend on the unit of money."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from properties.tiny import (
    AGREE,
    FACTORS,
    Tiny,
    assert_same,
    exact_models,
    fitted,
    predicted,
    tiny,
)

UNIT_COSTS = fl.Suboptimality(normalize_cost=True)


@given(tiny(), exact_models, st.sampled_from(FACTORS))
def test_predictability(problem: Tiny, model: str, factor: float) -> None:
    other = problem.scaled(list(problem.costs), factor)
    assert_same(predicted(problem, model), predicted(other, model), problem)


@given(tiny(), st.sampled_from(FACTORS))
def test_suboptimality_of_costs_of_length_one(problem: Tiny, factor: float) -> None:
    other = problem.scaled(list(problem.costs), factor)
    one, two = (predicted(each, "facets", loss=UNIT_COSTS) for each in (problem, other))
    assert_same(one, two, problem)


@given(tiny(), st.sampled_from(FACTORS))
def test_the_least_suboptimality_of_costs_of_length_one(problem: Tiny, factor: float) -> None:
    """A sum often has several optima, between which a solver ends anywhere: they lose the same."""
    other = problem.scaled(list(problem.costs), factor)
    one, two = (
        fitted(each, "minkowski", loss=UNIT_COSTS).result_.objective for each in (problem, other)
    )
    assert abs(one - two) <= AGREE * problem.spread**2
