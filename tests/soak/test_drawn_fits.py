"""Fits that were drawn at random and once ended in what no user should see."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

from soak.drawn_fits import Case, Draw, Refused

ENDED_BADLY = (
    (0, 99),
    (1, 119),
    (1, 347),
    (1, 818),
    (2, 508),
    (3, 308),
    (3, 368),
    (3, 976),
    (3, 990),
    (5, 442),
    (6, 845),
    (20, 883),
    (20, 1843),
    (20, 3447),
)


@pytest.mark.parametrize("seed", ENDED_BADLY, ids=str)
def test_what_was_repaired_stays_so(seed: tuple[int, int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            assert Case.of(*seed).run()
        except Refused as refused:  # on a busy machine, a second is soon over
            if str(refused) != "TimeLimitError":
                raise


def test_a_case_is_drawn_again_by_its_number() -> None:
    first, second = Case.of(0, 3), Case.of(0, 3)
    np.testing.assert_array_equal(first.data.signals, second.data.signals)
    assert repr(first.model) == repr(second.model)


@pytest.mark.soak
def test_a_wrong_decision_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    number = 0
    while True:
        with contextlib.suppress(Refused):
            case = Case.of(9, number)
            if case.run() in ("optimal", "converged"):
                break
        number += 1
    model = type(case.model)
    predict = model.predict
    monkeypatch.setattr(model, "predict", lambda self, X: predict(self, X) + 1e3)
    with pytest.raises(AssertionError, match="sizes"):
        case.run()


def test_draws_cover_what_they_say() -> None:
    draws = [Draw(0, number) for number in range(300)]
    assert len({type(draw.hypothesis(3, 1.0)).__name__ for draw in draws}) == 8
    known = [draw.known(2, np.ones((3, 2))) for draw in draws]
    assert None in known
    assert any(each is not None for each in known)
