"""A sample of weight two counts as that sample twice; equal weights count nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

from properties.tiny import Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(most=16), exact_models)
def test_weights_are_repetitions(problem: Tiny, model: str) -> None:
    weights = np.random.default_rng(problem.seed).integers(1, 4, len(problem.signals))
    other = replace(
        problem,
        signals=np.repeat(problem.signals, weights, axis=0),
        decisions=np.repeat(problem.decisions, weights, axis=0),
    )
    weighted = predicted(problem, model, sample_weight=weights.astype(float))
    assert_same(weighted, predicted(other, model), problem)
