"""A fit does not depend on the order of the signals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

from properties.tiny import Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models)
def test_order_of_signals(problem: Tiny, model: str) -> None:
    order = np.random.default_rng(problem.seed).permutation(problem.signals.shape[1])
    places = np.argsort(order)
    other = replace(
        problem,
        signals=problem.signals[:, order],
        new=problem.new[:, order],
        costs=tuple(int(places[j]) for j in problem.costs),
    )
    assert_same(predicted(problem, model), predicted(other, model), problem)
