"""What would not fit is refused before it is allocated, with its sizes."""

from __future__ import annotations

import pytest

import feaslearn as fl
from feaslearn.exceptions import FeaslearnError, MemoryLimitError
from feaslearn.runs import memory


@pytest.fixture
def one_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e6)


def test_the_moments_of_many_terms(one_megabyte: None) -> None:
    data = fl.datasets.make_l1_ball(20, n=24, random_state=0)
    model = fl.RegionRegressor(fl.Minkowski.pairs(24), cost=data.cost)
    with pytest.raises(MemoryLimitError, match=r"276 terms .* and 1 MB can be had") as told:
        model.fit(data.signals, data.decisions)
    assert "fewer terms" in str(told.value)
    assert isinstance(told.value, FeaslearnError)


def test_many_samples_with_facets(one_megabyte: None) -> None:
    data = fl.datasets.make_power5(3000, random_state=0)
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost)
    with pytest.raises(MemoryLimitError, match="facets of 3000 samples"):
        model.fit(data.signals, data.decisions)
