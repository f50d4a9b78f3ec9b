"""What users say they know: read, checked, held against the data, and kept by models."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import feaslearn as fl
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems
from feaslearn.known import ResolvedKnown, resolve_known
from feaslearn.known.known_limits import pseudo_inverse
from registry import (
    fit_rows,
    fit_to,
    known_limits,
)

SIGNALS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
NAMES = ["demand", "wind_a", "wind_b"]


def resolved(known: Any, n: int = 2) -> ResolvedKnown:
    problems = Problems()
    found = resolve_known(known, n_decisions=n, signal_names=NAMES, n_signals=3, problems=problems)
    assert problems.messages == ()
    assert found is not None
    return found


def refused(known: Any, n: int = 2) -> str:
    problems = Problems()
    assert (
        resolve_known(known, n_decisions=n, signal_names=NAMES, n_signals=3, problems=problems)
        is None
    )
    return "\n".join(problems.messages)


@pytest.mark.parametrize(
    ("side", "expected"),
    [
        (3.5, [[3.5, 3.5], [3.5, 3.5]]),
        ([3.5, 4], [[3.5, 4.0], [3.5, 4.0]]),
        ([1, 2], [[2.0, 3.0], [5.0, 6.0]]),
        (np.array([1, 2]), [[2.0, 3.0], [5.0, 6.0]]),
        (np.array([1, 2.5]), [[1.0, 2.5], [1.0, 2.5]]),
        (["wind_b", "wind_a"], [[3.0, 2.0], [6.0, 5.0]]),
        ("wind_*", [[2.0, 3.0], [5.0, 6.0]]),
        ([None, "wind_a"], [[np.inf, 2.0], [np.inf, 5.0]]),
        ([np.inf, 1.5], [[np.inf, 1.5], [np.inf, 1.5]]),
        ([7.5, "wind_a"], [[7.5, 2.0], [7.5, 5.0]]),
        (fl.AffineCost([10.0, 20.0], np.eye(3)[:2]), [[11.0, 22.0], [14.0, 25.0]]),
        (fl.FunctionCost(lambda s: s[:, 1:] ** 2, ["wind_*"]), [[4.0, 9.0], [25.0, 36.0]]),
        (lambda s: s[:, :2] + 1.0, [[2.0, 3.0], [5.0, 6.0]]),
    ],
)
def test_right_hand_sides(side: Any, expected: list[list[float]]) -> None:
    known = resolved(fl.Known(bounds=(None, side)))
    limits = known.at(SIGNALS)
    np.testing.assert_array_equal(limits.upper, expected)
    assert (limits.lower == -np.inf).all()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("balance", "known='balance' is not a Known"),
        (fl.Known(), "no constraint is given"),
        (fl.Known(bounds=3.5), "is not a pair"),  # type: ignore[arg-type]
        (fl.Known(bounds=(0.0, [1.0])), "1 entries for 2"),
        (fl.Known(bounds=(0.0, ["solar", "wind_a"])), "column 'solar' is not among the signals"),
        (fl.Known(bounds=(0.0, [7, 1])), "column 7 is not among the signals; there are 3"),
        (fl.Known(bounds=([0, 0], None)), "constants are written with a point"),
        (fl.Known(bounds=(0.0, [np.inf, 2])), "upper bounds: integers stand beside inf alone"),
        (fl.Known(bounds=(None, [3.5, "wind_*"])), "upper bounds: a pattern of several columns"),
        (fl.Known(bounds=(np.nan, None)), "lower bounds: entry 0 is nan"),
        (fl.Known(bounds=(0.0, np.ones((2, 2)))), "what differs between samples is a signal"),
        (fl.Known(bounds=(True, None)), "neither the position nor the name"),
        (fl.Known(G=[[1.0, 2.0]]), "G is given and g is not"),
        (fl.Known(G=[[1.0]], g=1.0), "G has shape (1, 1), expected (rows, 2)"),
        (fl.Known(G=[[1.0, np.nan]], g=1.0), "G holds nan in row 0, column 1"),
        (fl.Known(G=[[1.0, 1.0], [0.0, 0.0]], g=1.0), "only zeros in row 1"),
        (fl.Known(balance=(np.ones(3), 1.0)), "balance: E has shape (3,), expected (rows, 2)"),
        (fl.Known(balance=(np.ones(2), fl.AffineCost([0.0], [[1.0]]))), "known: balance: C of"),
        (fl.Known(bounds=(0.0, 1.0), contradictions="ignore"), "contradictions='ignore'"),  # type: ignore[arg-type]
        (fl.Known(bounds=(0.0, 1.0), tolerance=-1.0), "tolerance=-1.0"),
    ],
)
def test_bad_input_is_named(known: Any, words: str) -> None:
    assert words in refused(known)


def test_everything_wrong_is_said_at_once() -> None:
    known = fl.Known(G=[[1.0]], g=1.0, bounds=("solar", [1.0, np.nan]), tolerance="x")  # type: ignore[arg-type]
    text = refused(known)
    for part in ("tolerance", "G has shape", "'solar'", "upper bounds: entry 1 is nan"):
        assert part in text


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda s: s[:, 0] / 0.0, "the function gave shape (2,), not (2, 2)"),
        (lambda s: np.full((len(s), 2), np.nan), "sample 0, entry 0 is nan"),
        (lambda s: 1 / 0, "the function failed: ZeroDivisionError"),
    ],
)
def test_functions_that_fail_are_named(function: Any, words: str) -> None:
    known = resolved(fl.Known(bounds=(None, function)))
    with np.errstate(divide="ignore"), pytest.raises(DataError) as caught:
        known.at(SIGNALS)
    assert words in str(caught.value)


@given(
    decisions=arrays(float, (4, 3), elements=st.floats(-5, 5)),
    total=arrays(float, (4, 1), elements=st.floats(0.0, 6.0)),
)
def test_repaired_decisions_hold_to_rounding(decisions: np.ndarray, total: np.ndarray) -> None:
    limits = known_limits(4, 3, E=np.ones((1, 3)), e=total, lower=0.0, upper=2.0)
    # What solvers leave: right up to 1e-8.
    start = np.tile(total / 3.0, (1, 3)) + 1e-8 * decisions
    found = limits.repaired(start)
    assert (found >= 0.0).all()
    assert (found <= 2.0).all()
    assert np.abs(found.sum(axis=1) - total[:, 0]).max() <= 1e-12
    assert np.abs(found - start).max() <= 2e-7


def frame_and_decisions() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    prices, demand = rng.uniform(1, 2, (40, 2)), rng.uniform(1, 3, 40)
    cheap = prices.argmin(axis=1)
    decisions = np.zeros((40, 2))
    decisions[np.arange(40), cheap] = np.minimum(demand, 2.0)
    decisions[np.arange(40), 1 - cheap] = demand - np.minimum(demand, 2.0)
    frame = pd.DataFrame({"price_a": prices[:, 0], "price_b": prices[:, 1], "demand": demand})
    return frame, decisions


def model(**options: Any) -> fl.RegionRegressor:
    known = fl.Known(balance=(np.ones(2), "demand"), **options)
    return fl.RegionRegressor(fl.Facets(), cost=["price_*"], known=known, random_state=0)


def test_contradicted_decisions_are_named_projected_or_kept() -> None:
    frame, decisions = frame_and_decisions()
    wrong = decisions.copy()
    wrong[7, 0] += 0.5
    wrong[9] = np.nan
    wrong[9, 1] = 2.5
    with pytest.raises(DataError) as caught:
        model(bounds=(0.0, 2.0)).fit(frame, wrong)
    text = str(caught.value)
    assert "row 7 violates balance 0 by 0.5" in text or "row 7 violates the upper bound" in text
    assert "row 9 violates the upper bound of x1 by 0.5" in text
    for action, said in (("project", "moved"), ("keep", "violate known")):
        fitted = model(bounds=(0.0, 2.0), contradictions=action).fit(frame, wrong)
        assert any("2" in text and said in text for text in fitted.result_.warnings)
        x = fitted.predict(frame)
        assert np.abs(x.sum(axis=1) - frame["demand"]).max() <= 1e-9


def test_constraints_that_contradict_each_other_are_named_at_fit_and_at_predict() -> None:
    frame, decisions = frame_and_decisions()
    impossible = frame.copy()
    impossible.loc[3, "demand"] = 9.0
    with pytest.raises(DataError, match=r"constraints at row 3 .*balance 0.* by 5\)"):
        model(bounds=(0.0, 2.0)).fit(impossible, decisions)
    with pytest.raises(DataError, match="no decision satisfies all constraints at row 0"):
        model(bounds=(1.0, 0.0)).fit(frame, decisions)
    fitted = model(bounds=(0.0, 2.0)).fit(frame, decisions)
    with pytest.warns(FeaslearnWarning, match=r"contradict each other at row 3: .* up to 5"):
        fitted.predict(impossible)


def test_small_decisions_that_break_what_is_known_are_seen() -> None:
    limits = known_limits(1, 2, lower=0.0, upper=1e-7)
    assert limits.violated(np.array([[1.001e-7, 0.0]]), 1e-6)[0]
    assert not limits.violated(np.array([[1e-7, -1e-22]]), 1e-6)[0]


def test_equalities_that_say_the_same_count_once() -> None:
    """The second singular value is rounding, which must not be inverted."""
    for size in (0.3, 0.1, 1e-3, 7.0):
        E = np.outer([1.0, size, 1.0 / size], [0.1, 0.7, 1.3])
        across = np.outer(E[0], E[0]) / (E[0] @ E[0])
        np.testing.assert_allclose(pseudo_inverse(E) @ E, across, atol=1e-12)


# In training.

DEMAND = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
BALANCE = (np.ones(3), DEMAND)
KNOWN = fl.Known(bounds=(0.0, 3.5), balance=BALANCE)
DATA = fl.datasets.make_power5(160, random_state=0)
TRAIN, TEST = DATA[:60], DATA[60:]


def fitted(hypothesis: Any, known: fl.Known | None = KNOWN, **options: Any) -> fl.RegionRegressor:
    return fit_to(TRAIN, hypothesis, known=known, **options)


def loss(model: fl.RegionRegressor) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        errors = model.predict(TEST.signals) - TEST.decisions
    return float((errors**2).sum(axis=1).mean())


def test_what_is_known_makes_minkowski_sums_better() -> None:
    model = fitted(fl.Minkowski.pairs(3))
    assert loss(model) < 0.5 * loss(fitted(fl.Minkowski.pairs(3), None))
    decisions = model.predict(TEST.signals)
    assert ((decisions >= -1e-9) & (decisions <= 3.5 + 1e-9)).all()
    assert np.abs(decisions.sum(axis=1) - TEST.signals[:, 3:].sum(axis=1)).max() <= 1e-9
    assert model.result_.lower_bound in (None, 0.0)  # nothing but zero is proved
    assert "training loss of the region alone" in model.result_.details
    measured = ((model.predict(TRAIN.signals) - TRAIN.decisions) ** 2).sum(axis=1)
    assert measured.mean() == pytest.approx(model.result_.objective, abs=1e-9)


def test_facets_do_not_learn_what_is_known() -> None:
    rng = np.random.default_rng(0)
    prices, signals = rng.uniform(1, 2, (80, 3)), rng.uniform(1.0, 2.0, (80, 2))
    decisions = np.empty((80, 3))
    truth = fl.Polytope(np.vstack([np.eye(3), -np.eye(3), [[-1.0, -1.0, 0.0]]]), np.zeros(7))
    for i in range(80):
        h = np.array([0.0, 0.0, 0.0, -2.0, -2.0, -2.0, -signals[i, 0]])
        at = fl.Polytope(truth.H, h, np.ones((1, 3)), [signals[i, 0] + signals[i, 1]])
        decisions[i] = at.argmin(prices[i])
    known = fl.Known(
        G=[[-1.0, -1.0, 0.0]], g=lambda s: -s[:, 3], balance=(np.ones(3), lambda s: s[:, 3:].sum(1))
    )
    table = np.hstack([prices, signals])
    blind = fit_rows(table, decisions, fl.Facets())
    model = fit_rows(table, decisions, fl.Facets(), known=known)
    assert len(blind.facets_.facets) > len(model.facets_.facets) == 0
    assert model.result_.objective < 1e-12
    assert not model.parameters_["E"].any()


def test_a_balance_that_no_region_of_the_class_satisfies_is_refused() -> None:
    with pytest.raises(DataError, match=r"no region with the bounds .* at row 0; row 1;"):
        fitted(fl.Facets(bounds=(0.0, 0.1)))


def test_a_sum_without_terms_keeps_what_is_known() -> None:
    known = fl.Known(G=[[1.0, -1.0, 0.0]], g=[-0.5], contradictions="keep")
    x = fitted(fl.Minkowski([]), known).predict(TRAIN.signals)
    assert (x[:, 0] - x[:, 1] >= -0.5 - 1e-9).all()
