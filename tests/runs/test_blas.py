"""Matrix products have one thread while someone needs that, and as many as before afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import feaslearn as fl
from feaslearn.runs import one_blas_thread
from registry import fit_to


def threads() -> int:
    """Return the most threads that any of the libraries uses; some have one at all times."""
    return max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")


@pytest.fixture(autouse=True)
def two() -> object:
    with threadpool_limits(2, user_api="blas"):
        if threads() != 2:
            pytest.skip("this BLAS does not say how many threads it uses")
        yield


@one_blas_thread()
def failing() -> None:
    with one_blas_thread():
        assert threads() == 1
    assert threads() == 1
    raise KeyError


def test_the_limit_is_lifted_after_errors_and_from_within() -> None:
    for _ in range(2):
        with pytest.raises(KeyError):
            failing()
        assert threads() == 2


def test_fits_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data = fl.datasets.make_switch(30, random_state=0)
    seen: list[int] = []
    search = fl.trainers.Annealing.search

    def looking(*arguments: Any) -> Any:
        seen.append(threads())
        return search(*arguments)

    monkeypatch.setattr(fl.trainers.Annealing, "search", looking)
    trainer = fl.trainers.Annealing(max_iter=2, ridge=0.1)
    fit_to(data, fl.Affine(fl.Simplex(2)), trainer=trainer)
    assert threads() == 2
    assert seen
    assert all(found == 1 for found in seen)
