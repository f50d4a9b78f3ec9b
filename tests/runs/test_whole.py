"""A fit that fails or is given up leaves the model as it was."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.exceptions import TimeLimitError
from feaslearn.regressor import region_regressor

DATA = fl.datasets.make_power5(40, random_state=0)


def fitted() -> fl.RegionRegressor:
    model = fl.RegionRegressor(fl.Facets(), cost=[0, 1, 2], random_state=0)
    return model.fit(DATA.signals, DATA.decisions)


def test_after_an_error_the_old_model_decides() -> None:
    model, wider = fitted(), np.hstack([DATA.signals, DATA.signals[:, -1:] ** 2])
    before = model.predict(DATA.signals)
    model.set_params(hypothesis=fl.Minkowski("auto"), trainer=fl.trainers.Convex(max_seconds=1e-9))
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
