from __future__ import annotations

import numpy as np
import pytest

from feaslearn.trainers.streaming import DriftTest

DRAWS = {
    "exponential": lambda rng, size: rng.exponential(size=size),
    "heavy tails": lambda rng, size: np.abs(rng.standard_cauchy(size)),
    "many ties": lambda rng, size: rng.integers(0, 4, size).astype(float),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_false_alarms_are_as_rare_as_stated(draw) -> None:
    rate, count, alarms = 1e-2, 0, 0
    for seed in range(6):
        rng, test = np.random.default_rng(seed), DriftTest(rate)
        for _ in range(5):
            test = test.after(draw(rng, 999))
        alarms, count = alarms + len(test.alarms), count + test.seen
    assert count == 29970
    # 300 alarms are allowed; 99.9 % of Poisson draws of that mean are below 355.
    assert alarms < 355


@pytest.mark.parametrize(("factor", "most"), [(2.0, 120), (4.0, 30), (10.0, 15)])
def test_growing_losses_are_found_soon(factor: float, most: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        test = DriftTest(1e-5).after(rng.exponential(size=900))
        assert test.alarms == ()
        test = test.after(factor * rng.exponential(size=400))
        assert 900 < test.alarms[0] <= 900 + most


def test_chunks_do_not_matter() -> None:
    losses = np.random.default_rng(1).exponential(size=1300)
    losses[900:] *= 3.0
    whole = DriftTest(1e-4).after(losses[:950]).after(losses[950:])
    pieces = DriftTest(1e-4)
    for part in np.split(losses, [1, 7, 400, 910, 1000]):
        pieces = pieces.after(part)
    assert whole.alarms == pieces.alarms
    assert whole.evidence == pieces.evidence
    np.testing.assert_array_equal(whole.reference, pieces.reference)


def test_an_alarm_begins_a_new_comparison() -> None:
    rng = np.random.default_rng(4)
    test = DriftTest(1e-4).after(rng.exponential(size=500))
    test = test.after(5.0 * rng.exponential(size=900))
    assert len(test.alarms) == 1
    assert len(test.after(25.0 * rng.exponential(size=900)).alarms) == 2
