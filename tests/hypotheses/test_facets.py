"""Facets: rows, predictions, relaxed rows, and losses against independent programs."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import feaslearn as fl
from feaslearn.exceptions import FeaslearnWarning, SetError, UnsupportedError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.region.form import RELAX_BOUND, RELAX_EQUALITY, RELAX_FACET
from feaslearn.region.relax import relax
from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL
from registry import Array, fit_rows, known_limits


def random_rows(random: np.random.Generator, n: int = 4, k: int = 3, m: int = 3) -> FacetRows:
    """Return a region that holds 0 and is not empty near signals of size one."""

    def affine(constant: Array, share: float) -> Array:
        return np.column_stack([constant, share * random.normal(size=(len(constant), k - 1))])

    return FacetRows(
        random.normal(size=(1, n)),
        affine(np.zeros(1), 0.1),
        affine(-np.ones(n), 0.05),
        affine(np.ones(n), 0.05),
        random.normal(size=(m, n)),
        affine(0.3 + random.random(m), 0.05),
    )


def random_case(seed: int) -> tuple[fl.Facets, FacetRows, Array, Array, Array]:
    random = np.random.default_rng(seed)
    hypothesis, rows = fl.Facets(max_facets=5), random_rows(random)
    features = np.column_stack([np.ones(20), random.normal(size=(20, 2))])
    return hypothesis, rows, hypothesis.theta_of_rows(rows), features, random.normal(size=(20, 4))


def test_predictions_minimise_over_the_region() -> None:
    for seed in range(3):
        hypothesis, rows, theta, features, costs = random_case(seed)
        decisions, empty, *_ = hypothesis.solve(theta, features, costs)
        assert not empty.any()
        for phi, c, x in zip(features, costs, decisions, strict=True):
            exact = linprog(
                c,
                A_ub=rows.a,
                b_ub=rows.f @ phi,
                A_eq=rows.E,
                b_eq=rows.e @ phi,
                bounds=np.column_stack([rows.lower @ phi, rows.upper @ phi]),
            )
            image = hypothesis.image(theta, phi, 4)
            assert c @ x == pytest.approx(exact.fun, abs=1e-9)
            assert c @ image.minimize(c) == pytest.approx(exact.fun, abs=1e-7)
            assert image.contains(x[None])[0]


def empty_case() -> tuple[fl.Facets, FacetRows]:
    """x0 + x1 = s in the unit box, with x0 <= 0.25 + s / 4: empty for s > 5/3."""
    ones = np.ones((1, 2))
    zero, one = np.zeros((2, 2)), np.array([[1.0, 0.0], [1.0, 0.0]])
    rows = FacetRows(
        ones, np.array([[0.0, 1.0]]), zero, one, np.array([[1.0, 0.0]]), np.array([[0.25, 0.25]])
    )
    return fl.Facets(max_facets=2), rows


def test_in_relaxed_rows_the_cheapest_decision_is_taken() -> None:
    """x0 <= -1 in the unit square gives way to x0 <= 0, and x1 is left open."""
    none = np.zeros((0, 2)), np.zeros((0, 1))
    square = np.zeros((2, 1)), np.ones((2, 1))
    rows = FacetRows(*none, *square, np.array([[1.0, 0.0]]), np.array([[-1.0]]))
    costs = np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, -2.0]])
    facets = fl.Facets(len(rows.a))
    found = facets.solve(facets.theta_of_rows(rows), np.ones((3, 1)), costs)
    assert found.empty.all()
    np.testing.assert_allclose(found.decisions, [[0.0, 0.0], [0.0, 1.0], [0.0, 1.0]], atol=1e-9)
    np.testing.assert_array_equal(rows.slack_limits(), [np.inf])


def test_relaxed_rows() -> None:
    """The facet gives way first; then bounds that were only seen, or else the balance."""
    loose, rows = empty_case()
    theta = loose.theta_of_rows(rows)
    signals = np.array([0.5, 1.0, 1.8, 2.5, -1.0])
    features, costs = np.column_stack([np.ones(5), signals]), np.tile([0.0, 1.0], (5, 1))
    firm = fl.Facets(max_facets=2, bounds=(0.0, 1.0))
    expected = [[0.375, 0.125], [0.5, 0.5], [0.8, 1.0], [1.0, 1.0], [0.0, 0.0]]
    for hypothesis in (loose, firm):
        decisions, empty, *_ = hypothesis.solve(theta, features, costs)
        np.testing.assert_array_equal(empty, [False, False, True, True, True])
        for phi, x in zip(features, decisions, strict=True):
            image = hypothesis.image(theta, phi, 2)
            np.testing.assert_allclose(image.minimize([0.0, 1.0]), x, atol=1e-5)
        if hypothesis is firm:
            np.testing.assert_allclose(decisions, expected, atol=1e-7)
        else:
            np.testing.assert_allclose(decisions[:3], expected[:3], atol=1e-7)
            np.testing.assert_allclose(decisions.sum(axis=1), signals, atol=1e-7)


def test_empty_regions_are_said_once() -> None:
    random = np.random.default_rng(0)
    signals = np.column_stack([random.normal(size=(60, 2)), random.random(60)])
    first = np.where(signals[:, 0] < signals[:, 1], np.minimum(1.0, signals[:, 2]), 0.0)
    decisions = np.column_stack([first, signals[:, 2] - first])
    model = fit_rows(signals, decisions, fl.Facets())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(signals)
    far = np.vstack([signals[:3], [[0.0, 1.0, 50.0], [1.0, 0.0, 60.0]]])
    with pytest.warns(FeaslearnWarning, match="empty at row 3; row 4") as said:
        predicted = model.predict(far)
    assert len(said) == 1
    assert np.isfinite(predicted).all()
    with pytest.warns(FeaslearnWarning, match="empty at row 0"):
        assert model.region(far[-1]).contains(predicted[-1])


def test_ties_and_their_center() -> None:
    hypothesis, rows = empty_case()
    theta = hypothesis.theta_of_rows(rows)
    features, costs = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, 2.0]])
    np.testing.assert_array_equal(hypothesis.tied(theta, features, costs), [True, False])
    center = hypothesis.predict(theta, features, costs, ties="center")
    np.testing.assert_allclose(center, [[0.25, 0.75], [0.5, 0.5]], atol=1e-8)


@pytest.mark.parametrize(
    ("facets", "said"),
    [
        (fl.Facets(-1), "max_facets=-1 is neither None nor an integer >= 0"),
        (fl.Facets(bounds="seen"), "bounds='seen' is not known"),
        (fl.Facets(bounds=(0.0, [1.0, -1.0])), "cross at decision 1: 0.0 > -1.0"),
        (fl.Facets(bounds=(0.0, [1.0, np.inf])), "those of decisions 1 are"),
        (fl.Facets(balance="none"), "balance='none' is not known"),
        (fl.Facets(balance=[[1.0, np.nan]]), "balance must hold finite numbers"),
        (fl.Facets(balance=np.ones((3, 2))), r"balance has shape \(3, 2\)"),
    ],
)
def test_invalid_parameters(facets: fl.Facets, said: str) -> None:
    with pytest.raises((SetError, UnsupportedError), match=said):
        facets.check(2)


def test_bounds_that_rounding_keeps_apart_are_no_unit() -> None:
    """A unit that never changes, such as a plant that always runs, must not loosen the balance."""
    G, slack = np.ones((1, 3)), np.zeros(1)
    lower, upper = np.array([[8.0, 0.0, 0.0]]), np.array([[8.0 + 1e-13, 900.0, 900.0]])
    limits = Limits(np.array([[1208.0]]), lower, upper)
    found = solve_programs(G, limits, np.array([[3.0, 1.0, 2.0]]), slack)
    np.testing.assert_allclose(found.decisions, [[8.0, 900.0, 300.0]], rtol=1e-9)


def polygon(sides: int, rows: int, seed: int) -> tuple[Array, Array]:
    """Return prices of any direction, and the cheapest corner of a regular polygon."""
    prices = np.random.default_rng(seed).normal(size=(rows, 2))
    turns = 2.0 * np.pi * np.arange(sides) / sides
    corners = np.column_stack([np.cos(turns), np.sin(turns)])
    return prices, corners[(prices @ corners.T).argmin(axis=1)]


def test_all_sides_of_a_polygon_of_a_hundred_are_kept(tmp_path: Path) -> None:
    prices, decisions = polygon(100, 3000, 0)
    model = fit_rows(prices, decisions, fl.Facets())
    assert len(model.facets_) == 100
    unseen, expected = polygon(100, 1000, 1)
    assert np.abs(model.predict(unseen) - expected).max() < 1e-9
    fl.save(model, tmp_path / "polygon.json")
    again = fl.load(tmp_path / "polygon.json")
    np.testing.assert_array_equal(again.predict(unseen), model.predict(unseen))


def test_folds_that_learn_different_numbers_of_facets_calibrate() -> None:
    prices, decisions = polygon(80, 300, 2)
    model = fit_rows(prices, decisions, fl.Facets())
    bands = model.conformalize(prices, decisions, method="cross").predict_interval(prices)
    assert len(model.conformal_.thetas) == 5
    assert len(model.facets_) > 62
    assert bands.contains(decisions).all(axis=1).mean() > 0.9


# Rows asked directly: what breaks them, what gives way, what they are as polytopes.

#: x0 + x1 = s, 0 <= x <= (2, 1 + s), x0 - x1 <= 1, at features (1, s).
ROWS = FacetRows(
    np.array([[1.0, 1.0]]),
    np.array([[0.0, 1.0]]),
    np.zeros((2, 2)),
    np.array([[2.0, 0.0], [1.0, 1.0]]),
    np.array([[1.0, -1.0]]),
    np.array([[1.0, 0.0]]),
)


def test_how_much_a_decision_breaks_the_rows() -> None:
    features = np.tile([1.0, 2.0], (6, 1))
    decisions = [[1.0, 1.0], [1.0, 1.5], [1.75, 0.25], [2.25, -0.25], [-1.5, 3.5], [0.5, 1.25]]
    broken = ROWS.largest_violation(features, np.array(decisions))
    np.testing.assert_allclose(broken, [0.0, 0.5, 0.5, 1.5, 1.5, 0.25])


def test_known_constraints_count_beside_the_rows() -> None:
    rows = {"G": [[1.0, 0.0]], "g": [[0.5], [1.75], [0.5]], "E": [[1.0, -3.0]], "e": [-2.0]}
    upper = [[9.0, 9.0], [9.0, 9.0], [9.0, 0.25]]
    known = known_limits(3, 2, lower=-9.0, upper=upper, **rows)
    features, costs = np.tile([1.0, 2.0], (3, 1)), np.tile([1.0, 1.0], (3, 1))
    found = ROWS.solve(features, costs, known)
    assert found.status.tolist() == [OPTIMAL, INFEASIBLE, INFEASIBLE]
    np.testing.assert_allclose(found.decisions[0], [1.0, 1.0])
    assert found.prices.shape == (3, 2)


@pytest.mark.parametrize("signal", [1.0, 2.0, 3.5, 6.0, -1.0])
def test_relaxing_costs_what_it_should(signal: float) -> None:
    """The decision that relaxes the rows least against a program with slacks of its own."""
    phi, facets = np.array([[1.0, signal]]), fl.Facets(1)
    form = facets.describe(facets.theta_of_rows(ROWS), 2, 2)
    x = relax(form, form.weights(phi), np.zeros((1, 2)))[0][0]
    beyond = np.maximum(np.append(x - [2.0, 1.0 + signal], -x), 0.0).sum()
    made = RELAX_EQUALITY * abs(x.sum() - signal) + RELAX_BOUND * beyond
    made += RELAX_FACET * max(x[0] - x[1] - 1.0, 0.0)
    free = [(None, None)] * 2
    # x, what is lacking of and beyond the balance, below and above the bounds, beyond the facet.
    one, none = np.eye(2), np.zeros((2, 2))
    own = linprog(
        [0, 0, *[RELAX_EQUALITY] * 2, *[RELAX_BOUND] * 4, RELAX_FACET],
        A_eq=[[1, 1, 1, -1, 0, 0, 0, 0, 0]],
        b_eq=[signal],
        A_ub=np.vstack(
            [
                np.hstack([one, none, -one, none, np.zeros((2, 1))]),
                np.hstack([-one, none, none, -one, np.zeros((2, 1))]),
                [[1, -1, 0, 0, 0, 0, 0, 0, -1]],
            ]
        ),
        b_ub=[2.0, 1.0 + signal, 0.0, 0.0, 1.0],
        bounds=[*free, *[(0, None)] * 7],
    )
    assert made == pytest.approx(own.fun, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e6])
def test_polytopes_hold_the_region_and_hardly_more(size: float) -> None:
    rows = ROWS._replace(
        e=size * ROWS.e, lower=size * ROWS.lower, upper=size * ROWS.upper, f=size * ROWS.f
    )
    vertices = rows.image(np.array([1.0, 2.0])).vertices()
    np.testing.assert_allclose(np.sort(vertices[:, 0]), [0.0, 1.5 * size], atol=1e-9 * size)
    # A region that is one point has room for rounding, and no more.
    point = rows.image(np.array([1.0, 0.0])).vertices()
    np.testing.assert_allclose(point, np.zeros(point.shape), atol=1e-5 * size)
    assert np.ptp(point, axis=0).max() > 0.0
