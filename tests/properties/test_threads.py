"""The number of threads does not change a bit of the result."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from properties.tiny import Tiny, fitted, models, tiny


@given(tiny(), models)
def test_threads(problem: Tiny, model: str) -> None:
    one, two = (fitted(problem, model, n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.theta_, two.theta_)
