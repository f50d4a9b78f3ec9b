"""Time limits: None or a positive number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import DataError

DATA = fl.datasets.make_switch(20, random_state=0)
CLASS = fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant")


def refit(hypothesis: fl.hypotheses.Hypothesis, limit: Any) -> fl.RegionRegressor:
    model = fl.RegionRegressor(hypothesis, cost=DATA.cost, max_seconds=limit, random_state=0)
    return model.fit(DATA.signals, DATA.decisions)


@pytest.mark.parametrize("limit", [0, 0.0, -1.0, float("nan"), -np.inf, "10", True, [5.0]])
def test_what_is_no_limit_is_refused(limit: Any) -> None:
    with pytest.raises(DataError) as caught:
        refit(CLASS, limit)
    assert f"max_seconds={limit!r} is neither None nor a positive number" in str(caught.value)


def test_limits() -> None:
    for limit in (None, 600, np.inf):
        assert refit(CLASS, limit).result_.status == "optimal"
    assert refit(fl.Affine(fl.Simplex(6)), 1e-6).result_.status == "time limit"
