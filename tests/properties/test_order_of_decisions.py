"""Decisions exchanged are predictions exchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

from properties.tiny import Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models)
def test_order_of_decisions(problem: Tiny, model: str) -> None:
    order = np.random.default_rng(problem.seed).permutation(problem.n)
    other = replace(
        problem,
        decisions=problem.decisions[:, order],
        costs=tuple(problem.costs[j] for j in order),
    )
    assert_same(predicted(problem, model)[:, order], predicted(other, model), problem)
