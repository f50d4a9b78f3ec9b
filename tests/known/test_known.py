"""What users say they know: read, checked, held against data, kept by regions and models."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import feaslearn as fl
from feaslearn import Region
from feaslearn.cli import main
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems
from feaslearn.hypotheses.constrained import Constrained, half_spaces_of
from feaslearn.known import KnownLimits, ResolvedKnown, resolve_known
from feaslearn.known.known_limits import pseudo_inverse
from feaslearn.region.relax import least_infeasible, rows_of_size_one
from feaslearn.region.within import intersect
from feaslearn.sets import AffineImage
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.product import Product
from registry import (
    ONE_OF_EACH,
    Array,
    example,
    fit_rows,
    fit_to,
    generators,
    is_polyhedral,
    known_limits,
    random_map,
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


# In training and on the command line.

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


# In model files and on the command line.


def total(signals: np.ndarray) -> np.ndarray:
    return signals[:, 3:].sum(axis=1)


def test_bounds_and_balance_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["feaslearn", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        assert isinstance(caught.value.code, int)
        return caught.value.code

    fit = ["fit", "power.csv", "--signals", "cost_*,demand_*", "--decisions", "plant_*"]
    fit += ["--cost", "cost_*", "--hypothesis", "facets", "-o", "m.json", "--quiet"]
    known = ["--lower", "0", "--upper", "3.5,none,3.5", "--balance", "demand_*"]
    assert run("demo", "--data", "power.csv", "--samples", "40", "--quiet") == 0
    assert run(*fit, *known) == 0
    model = fl.load("m.json")
    limits = model.known_.at(DATA.signals)
    np.testing.assert_allclose(limits.e[:, 0], total(DATA.signals))
    np.testing.assert_array_equal(limits.upper[0], [3.5, np.inf, 3.5])
    capsys.readouterr()
    assert run(*fit, "--balance", "demnd_1") != 0
    assert "did you mean 'demand_1'" in capsys.readouterr().err
    assert run(*fit, "--upper", "1.0") != 0
    assert "violates the upper bound of plant_" in capsys.readouterr().err


# Sets within half-spaces, and the nearest decisions where there are none.

SETS = tuple(name for name in ONE_OF_EACH if example(name).dimension <= 6)


def limits_around(center: Array, rng: np.random.Generator, balance: bool) -> KnownLimits:
    """Return constraints of one sample that a point satisfies."""
    n = len(center)
    G, E = rng.normal(size=(1, n)), rng.normal(size=(int(balance), n))
    width = rng.uniform(0.05, 1.0, n)
    lower = np.where(rng.random(n) < 0.3, -np.inf, center - width)
    upper = np.where(rng.random(n) < 0.3, np.inf, center + width)
    sides = {"lower": lower, "upper": upper, "g": G @ center - 0.3, "e": E @ center}
    return known_limits(1, n, G=G, E=E, **sides)


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=10)
@given(rng=generators(), balance=st.booleans())
def test_a_region_within_known_rows_answers_like_a_program(
    name: str, rng: np.random.Generator, balance: bool
) -> None:
    primitive, n = example(name), 2
    image = AffineImage(primitive, random_map(rng, n, primitive.dimension), rng.normal(size=n))
    inner = primitive.vertices()[0] if primitive.discrete else primitive.center()
    known = half_spaces_of(limits_around(image.at(inner), rng, balance and not primitive.discrete))
    region = Region(image, known=known)
    cost = rng.normal(size=n)
    x = region.minimize(cost)
    assert known.contains(x, 1e-5)[0]
    assert image.contains(x, 1e-5)[0]
    if primitive.discrete:
        points = image.vertices()
        assert cost @ x == pytest.approx((points[known.contains(points, 1e-6)] @ cost).min())
        return
    form = primitive.conic_form()
    z, y = cp.Variable(form.H.shape[1]), cp.Variable(n)
    rows = [y == image.matrix @ z + image.offset, known.A @ y <= known.b]
    rows += [known.E @ y == known.e] if len(known.E) else []
    for cone, place in form.blocks():
        value = form.H[place] @ z - form.h[place]
        if cone.size and cone.kind == "second-order":
            rows.append(cp.SOC(value[0], value[1:]))
        elif cone.size:
            rows.append(value == 0 if cone.kind == "zero" else value >= 0)
    problem = cp.Problem(cp.Minimize(cost @ y), rows)
    problem.solve(solver="CLARABEL")
    size = 1.0 + float(np.abs(image.matrix).sum())
    assert cost @ x == pytest.approx(problem.value, abs=1e-5 * size)
    assert region.support(-cost) == pytest.approx(-problem.value, abs=1e-5 * size)
    lower, upper = region.bounding_box()
    assert (x >= lower - 1e-5 * size).all()
    assert (x <= upper + 1e-5 * size).all()
    near = region.project(x + rng.normal(size=n))
    assert known.contains(near, 1e-4 * size)[0]
    if is_polyhedral(name):
        corners = region.vertices()
        assert (corners @ cost).min() == pytest.approx(problem.value, abs=2e-5 * size)
        assert region.halfspaces().contains(corners, 1e-5 * size).all()


@pytest.mark.parametrize("seed", [115, 1_930_179_706])
def test_a_set_without_interior_keeps_to_rows_that_hardly_move(seed: int) -> None:
    """Rows that the map makes short have limits far away, and these widened all rows."""
    primitive, rng = example("box-degenerate"), np.random.default_rng(seed)
    image = AffineImage(primitive, random_map(rng, 2, primitive.dimension), rng.normal(size=2))
    known = half_spaces_of(limits_around(image.at(primitive.center()), rng, balance=False))
    x = intersect(image, known).minimize(rng.normal(size=2))
    assert known.contains(x, 5e-6)[0]
    assert image.contains(x, 1e-7)[0]


def test_an_equality_that_the_region_keeps_already_is_not_contradicted_by_rounding() -> None:
    """The balance of a large term cancels, and what is left beside a small one is rounding."""
    small, large = 4.7e-7 * np.eye(3), 1.6 * (3.0 * np.eye(3) - np.ones((3, 3)) + 1e-16)
    simplex = fl.Polytope(np.eye(3), np.zeros(3), np.ones((1, 3)), [1.0])
    pair = AffineImage(Product([simplex, simplex]), np.hstack([small, large]), np.zeros(3))
    balance = np.ones((1, 3)), np.array([4.7e-7 * (1.0 + 1e-9)])
    within = intersect(pair, HalfSpaces(np.zeros((0, 3)), np.zeros(0), *balance))
    np.testing.assert_allclose(within.bounding_box(), pair.bounding_box(), rtol=1e-7)


def test_a_region_says_what_is_known_in_words() -> None:
    square = AffineImage(fl.Box(2), np.eye(2), np.zeros(2))
    balance = np.ones((1, 2)) / np.sqrt(2.0), np.array([1.0]) / np.sqrt(2.0)
    region = Region(square, ["a", "b"], known=HalfSpaces(np.zeros((0, 2)), np.zeros(0), *balance))
    assert "known: a + b = 1" in region.describe()
    np.testing.assert_allclose(np.sort(region.vertices()[:, 0]), [0.0, 1.0], atol=1e-9)


NEAREST = {
    "scaled": (fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), np.array([1.0, 0.0, 0.0])),
    "minkowski": (fl.Minkowski.box(2), np.array([2.0, 2.0, -1.0, -1.0])),
    "affine": (fl.Affine(fl.Box(2)), np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])),
    "ball": (fl.Minkowski([fl.Term(fl.L2Ball(2))], scale="constant"), np.array([1.0, 0.0, 0.0])),
}


@pytest.mark.parametrize("name", list(NEAREST))
@given(
    x0=st.floats(1.5, 4.0),
    cost=st.sampled_from([(0.5, -1.0), (0.5, 1.0), (1e7, -1e-9), (0.0, 1e7), (-1e7, 1e-9)]),
)
@settings(max_examples=10)
def test_where_the_region_has_no_known_decision_the_nearest_is_returned(
    name: str, x0: float, cost: tuple[float, float]
) -> None:
    """However large prices are."""
    # The square (or disc) around zero of half-width 1, and what is known: x0 is at least 1.5.
    hypothesis, theta = NEAREST[name]
    known = known_limits(1, 2, G=[[1.0, 0.0]], g=[x0], lower=-5.0, upper=5.0)
    features = np.hstack([np.ones((1, 1)), known.columns()])
    within = Constrained(hypothesis, known.shape)
    decisions, empty, *_ = within.solve(theta, features, np.array([cost]))
    assert empty[0]
    # Of the decisions with x0 the limit, those of the square are equally near: the cheapest.
    expected = [x0, 0.0] if name == "ball" else [x0, -np.sign(cost[1])]
    np.testing.assert_allclose(decisions[0], expected, atol=1e-4 if name == "ball" else 1e-8)
    assert within.image(theta, features[0], 2).is_point


# Hypotheses within what is known: many samples at once.


def test_several_decisions_tie_only_where_they_are_different_ones() -> None:
    """The unit square, cut at x0 <= 0.5: x1 is free where its price is zero, and only there."""
    known = known_limits(4, 2, lower=-9.0, upper=[0.5, 9.0])
    features = np.hstack([np.ones((4, 1)), known.columns()])
    costs = np.array([[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    square = fl.Affine(fl.Box(2))
    within = Constrained(square, known.shape)
    theta = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert within.tied(theta, features, costs).tolist() == [True, False, True, True]
    centers = within.solve(theta, features, costs, ties="center").decisions
    np.testing.assert_allclose(centers, [[0.5, 0], [0.5, -1], [-1, 0], [-0.25, -1]], atol=1e-6)
    # Several points of the set make one decision: that is no tie.
    flat = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert not within.tied(flat, features, costs)[[0, 2]].any()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"lower": 0.0, "upper": 1.0, "G": [[1.0, 1.0]], "g": [3.0]}, 1.0),
        ({"lower": 0.0, "upper": 1.0, "G": [[-1.0, -1.0]], "g": [1.0]}, 1.0),
        ({"lower": 0.0, "upper": 1.0, "E": [[1.0, 1.0]], "e": [-0.5]}, 0.5),
        ({"lower": 0.0, "upper": 1.0, "E": [[1.0, 1.0]], "e": [2.5]}, 0.5),
        ({"lower": -5.0, "upper": 9.0, "G": [[1.0, 1.0], [-1.0, 1.0]], "g": [30.0, 1.0]}, 12.0),
        ({"lower": -5.0, "upper": 9.0, "G": [[-1.0, -2.0]], "g": [18.0]}, 1.5),
    ],
)
def test_rows_that_contradict_each_other_are_broken_least(
    given: dict[str, Any], expected: float
) -> None:
    limits = known_limits(1, 2, **given)
    x, known = least_infeasible(limits), rows_of_size_one(limits)
    beyond = np.maximum(known.lower[0] - x, 0) + np.maximum(x - known.upper[0], 0)
    broken = np.abs(known.E @ x - known.e[0]).sum() + np.maximum(known.g[0] - known.G @ x, 0).sum()
    assert broken + beyond.sum() == pytest.approx(expected)
    features = np.hstack([np.ones((1, 1)), limits.columns()])
    within = Constrained(fl.Minkowski([fl.Term(fl.Box(2))], scale="constant"), limits.shape)
    assert within.solve(np.array([1.0, 0.0, 0.0]), features, np.ones((1, 2))).empty[0]
    # A curved region is asked sample by sample.
    round_one = Constrained(fl.Minkowski([fl.Term(fl.L2Ball(2))], scale="constant"), limits.shape)
    found = round_one.solve(np.array([1.0, 0.0, 0.0]), features, np.ones((1, 2)))
    np.testing.assert_allclose(found.decisions[0], x, atol=1e-6)
    assert found.empty[0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_ties_are_told_in_any_unit(unit: float) -> None:
    known = known_limits(1, 2, lower=0.0, upper=[0.5 * unit, 2.0 * unit])
    features = np.hstack([np.ones((3, 1)), np.tile(known.columns(), (3, 1))])
    within = Constrained(fl.Minkowski([fl.Term(fl.Simplex(2))], scale="constant"), known.shape)
    costs = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
    assert within.tied(np.array([unit, 0.0, 0.0]), features, costs).tolist() == [True, False, False]
