"""Runs of fits: what one that ends early leaves behind, and threads."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import feaslearn as fl
from feaslearn.exceptions import TimeLimitError
from feaslearn.regressor import region_regressor
from feaslearn.runs import one_blas_thread
from registry import fit_to

DATA = fl.datasets.make_power5(40, random_state=0)


def fitted() -> fl.RegionRegressor:
    return fit_to(DATA, fl.Facets())


def test_after_an_error_the_old_model_decides() -> None:
    model, wider = fitted(), np.hstack([DATA.signals, DATA.signals[:, -1:] ** 2])
    before = model.predict(DATA.signals)
    model.set_params(hypothesis=fl.Minkowski("auto"), max_seconds=1e-9)
    with pytest.raises(TimeLimitError, match="max_seconds=1e-09 was over before there was any"):
        model.fit(wider, DATA.decisions)
    np.testing.assert_array_equal(model.predict(DATA.signals), before)
    assert isinstance(model.hypothesis, fl.Minkowski)


@pytest.mark.parametrize("presses", [1, 2])
def test_after_ctrl_c_it_is_the_new_model_or_the_old_one(
    presses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment is when the new parameters are there, and what is remembered is still old."""
    model, look = fitted(), region_regressor.find_evidence
    before = model.predict(DATA.signals)

    def looked(*given: object) -> object:
        for _ in range(presses):
            signal.raise_signal(signal.SIGINT)
        return look(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(region_regressor, "find_evidence", looked)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        model.fit(DATA.signals, 1000.0 * DATA.decisions)
    except KeyboardInterrupt:
        assert presses == 2
    finally:
        signal.signal(signal.SIGINT, handler)
        monkeypatch.undo()
    factor = 1000.0 if presses == 1 else 1.0
    np.testing.assert_allclose(model.predict(DATA.signals), factor * before, rtol=1e-6, atol=1e-6)
    model.conformalize(DATA.signals, factor * DATA.decisions, method="cross")
    band = model.predict_interval(DATA.signals)
    assert 1.0 * factor < band.upper.max() < 10.0 * factor


# Matrix products have one thread while someone needs that, and as many as before afterwards.


def threads() -> int:
    """Return the most threads that any of the libraries uses; some have one at all times."""
    return max(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")


@pytest.fixture
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


@pytest.mark.usefixtures("two")
def test_the_limit_is_lifted_after_errors_and_from_within() -> None:
    for _ in range(2):
        with pytest.raises(KeyError):
            failing()
        assert threads() == 2


@pytest.mark.usefixtures("two")
def test_fits_hold_matrix_products_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
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
