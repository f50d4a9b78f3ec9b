"""Runs of fits: threads, Ctrl-C and deadlines at any moment, and what an early end leaves."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import feaslearn as fl
from feaslearn.exceptions import DataError, TimeLimitError
from feaslearn.regressor import region_regressor
from feaslearn.runs import Run, one_blas_thread
from feaslearn.trainers import Annealing, Convex, FacetLearning, selection
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


# Ctrl-C at any moment: the best model so far, or none, and later fits as ever.

POWER = fl.datasets.make_power5(40, noise=0.05, random_state=1)
BALL = fl.datasets.make_l1_ball(60, n=3, noise=0.1, random_state=1)
SWITCH = fl.datasets.make_switch(30, noise=0.1, random_state=1)
MANY = fl.datasets.make_l1_ball(20_100, n=2, noise=0.1, random_state=1)
KNOWN = fl.Known(bounds=(0.0, 3.6), contradictions="keep")

pytestmark = pytest.mark.usefixtures("usual_handler")

#: Data, hypothesis, trainer and other parameters of fits.
FITS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "annealing": (POWER, fl.Affine(fl.Simplex(3)), Annealing(20, n_starts=1), {}),
    "annealing of many": (MANY, fl.Affine(fl.L1Ball(2)), Annealing(9, n_starts=1, ridge=0.1), {}),
    "facets under noise": (BALL, fl.Facets(), FacetLearning(), {}),
    "facets": (POWER, fl.Facets(), "auto", {}),
    "convex": (POWER, fl.Minkowski("auto"), Convex(), {}),
    "robust": (POWER, fl.Minkowski.pairs(3), Convex(robust=True), {}),
    "known": (POWER, fl.Minkowski.pairs(3), "auto", {"known": KNOWN}),
    "chosen": (SWITCH, None, "auto", {}),
}


def model_of(name: str) -> fl.RegionRegressor:
    data, hypothesis, trainer, others = FITS[name]
    return fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer, random_state=5, **others)


def fitted_by_name(name: str) -> fl.RegionRegressor:
    return model_of(name).fit(FITS[name][0].signals, FITS[name][0].decisions)


@contextmanager
def looks_at_the_clock(press_at: int | None = None) -> Iterator[list[int]]:
    """Count how often a fit looks at its clock, and press Ctrl-C at one of these moments."""
    looks, late = [0], Run.late

    def looked(run: Run) -> bool:
        looks[0] += 1
        if looks[0] == press_at:
            signal.raise_signal(signal.SIGINT)
        return late(run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Run, "late", looked)
        yield looks


#: Those in `make test`, at one moment (a share of the looks at the clock); all in `make soak`.
QUICK = ("annealing", "facets under noise", "convex")
MOMENTS = [
    pytest.param(name, share, marks=[] if share == 0.4 and name in QUICK else [pytest.mark.soak])
    for name in FITS
    for share in (0.0, 0.4, 0.9)
]


@pytest.mark.parametrize(("name", "share"), MOMENTS)
def test_any_moment(name: str, share: float, caplog: pytest.LogCaptureFixture) -> None:
    with looks_at_the_clock() as looks:
        whole = fitted_by_name(name)
    assert whole.result_.status != "interrupted"
    with looks_at_the_clock(1 + int(share * (looks[0] - 1))):
        try:
            model = fitted_by_name(name)
            ended = model.result_.status
            assert np.isfinite(model.predict(FITS[name][0].signals)).all()
        except KeyboardInterrupt:
            ended = "nothing yet"
    # A later fit ends as if none had ever been stopped.
    np.testing.assert_array_equal(fitted_by_name(name).theta_, whole.theta_)
    assert ended in ("interrupted", "nothing yet")
    assert ended == "interrupted" or share < 0.9
    assert "Ctrl-C again" in caplog.text


def test_a_second_time_gives_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed_twice(*_: Any) -> None:
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Convex, "search", pressed_twice)
    with pytest.raises(KeyboardInterrupt):
        fit_to(POWER, trainer=Convex())


def test_a_handler_of_the_user_is_left_alone() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("pressed"))
    with looks_at_the_clock(3):
        model = fitted_by_name("convex")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert heard == ["pressed"]
    assert model.result_.status in ("optimal", "converged")


# Deadlines: the best so far, and an error where there is none.

NOISY = fl.datasets.make_power5(300, noise=0.1, random_state=0)
CONSTANT = fl.Minkowski([fl.Term(fl.Simplex(3))], scale="constant")


@pytest.mark.parametrize("limit", [0, 0.0, -1.0, np.nan, -np.inf, "10", True, [5.0]])
def test_what_is_no_limit_is_refused(limit: Any) -> None:
    with pytest.raises(DataError) as caught:
        fit_to(NOISY, CONSTANT, max_seconds=limit)
    assert f"max_seconds={limit!r} is neither None nor a positive number" in str(caught.value)


def test_limits() -> None:
    for limit in (None, 600, np.inf):
        assert fit_to(NOISY, CONSTANT, max_seconds=limit).result_.status == "optimal"
    late = fit_to(NOISY, fl.Affine(fl.Simplex(6)), max_seconds=1e-6)
    assert late.result_.status == "time limit"


def test_chunks_that_cannot_be_read_in_time() -> None:
    many = [np.tile(table, (50, 1)) for table in (NOISY.signals, NOISY.decisions)]

    def rows() -> Any:
        for _ in range(100):
            time.sleep(0.02)
            yield tuple(many)
        raise AssertionError("read to the end")

    model = fl.RegionRegressor(fl.Minkowski("auto"), cost=NOISY.cost, max_seconds=0.2)
    with pytest.raises(TimeLimitError, match="before there was any model"):
        model.fit(fl.Chunks(rows))


@pytest.mark.parametrize("hypothesis", [fl.Affine(fl.Simplex(3)), fl.Facets(), None], ids=repr)
@pytest.mark.parametrize("looks", [10, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 40))])
def test_a_search_returns_its_best_so_far(
    hypothesis: Any, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = count()
    monkeypatch.setattr(Run, "late", lambda run: run.left < np.inf and next(asked) >= looks)
    try:
        model = fit_to(NOISY[:60], hypothesis, max_seconds=1e6)
    except TimeLimitError:  # not even the first candidate was trained
        assert hypothesis is None
        assert looks < 40
        return
    result = model.result_
    assert result.status == "time limit" or next(asked) < looks  # or it was done before
    assert np.isfinite(result.objective)
    assert np.isfinite(model.predict(NOISY.signals)).all()


def test_a_selection_that_comes_to_the_deadline_returns_what_it_trained_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trained = selection.train_once
    folds = list[Any]()

    def last(*arguments: Any, **options: Any) -> Any:
        folds.append(arguments[0])
        if len(folds) == 3:
            arguments[1].run._end = 0.0
        return trained(*arguments, **options)

    monkeypatch.setattr(selection, "train_once", last)
    model = fit_to(NOISY, max_seconds=1e6)
    assert model.result_.status == "time limit"
    assert isinstance(model.hypothesis_, fl.Facets)
    assert any("selection of a hypothesis" in text for text in model.result_.warnings)
