"""Products of matrices are held to one thread while fits run, and no longer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import feaslearn as fl
from feaslearn.runs.one_blas_thread import one_blas_thread


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpool_limits(2, user_api="blas"):
        yield


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_an_error_lifts_the_limit() -> None:
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert threads() == {2}


def test_one_within_another() -> None:
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert threads() == {1}
    assert threads() == {2}


def test_fits_hold_it() -> None:
    data = fl.datasets.make_switch(30, random_state=0)
    seen: list[set[int]] = []
    trainer = fl.trainers.GradientDescent(max_iter=2, callback=lambda *_: seen.append(threads()))
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=trainer)
    model.fit(data.signals, data.decisions)
    assert threads() == {2}
    assert seen
    assert all(found == {1} for found in seen)
