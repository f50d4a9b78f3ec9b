"""A fit does not depend on the order of the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

from properties.tiny import Tiny, assert_same, exact_models, predicted, tiny


@given(tiny(), exact_models)
def test_order_of_samples(problem: Tiny, model: str) -> None:
    order = np.random.default_rng(problem.seed).permutation(len(problem.signals))
    other = replace(problem, signals=problem.signals[order], decisions=problem.decisions[order])
    assert_same(predicted(problem, model), predicted(other, model), problem)
