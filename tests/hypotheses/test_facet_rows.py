"""Rows of regions asked directly: what breaks them, what gives way, what they are as polytopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import feaslearn as fl
from feaslearn.exceptions import SetError, UnsupportedError
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.known import KnownLimits
from feaslearn.region.form import RELAX_BOUND, RELAX_EQUALITY, RELAX_FACET
from feaslearn.region.relax import relax
from feaslearn.solvers.small_lp import FacetSolutions, Limits, _units
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL

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


def test_facets_are_added_and_exchanged() -> None:
    more = ROWS.adding(np.array([[0.0, 1.0]]), np.array([[0.5, 0.0]]))
    np.testing.assert_array_equal(more.a, [[1.0, -1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(more.f, [[1.0, 0.0], [0.5, 0.0]])
    np.testing.assert_array_equal(more.slack_limits(), [0.0, np.inf, np.inf])
    other = ROWS.with_facets(np.zeros((0, 2)), np.zeros((0, 2)))
    assert (len(other.a), len(other.f), len(other.E)) == (0, 0, 1)
    found = more.solve(np.array([[1.0, 1.0]]), np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(found.decisions, [[0.5, 0.5]])


def test_known_constraints_count_beside_the_rows() -> None:
    known = KnownLimits(
        np.array([[1.0, 0.0]]),
        np.array([[1.0, -3.0]]),
        np.array([[0.5], [1.75], [0.5]]),
        np.full((3, 2), -9.0),
        np.array([[9.0, 9.0], [9.0, 9.0], [9.0, 0.25]]),
        np.array([[-2.0], [-2.0], [-2.0]]),
    )
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
    x = relax(form, form.weights(phi), np.zeros((1, 2))).decisions[0]
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
    assert ROWS.relaxed(phi, np.zeros((1, 2))).shape == (1, 2)


def test_where_no_program_is_solved_the_point_of_the_relaxation_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """x0 + x1 = 4 with x <= (2, 1): one of the bounds gives way, by one."""
    rows = ROWS._replace(upper=np.array([[2.0, 0.0], [1.0, 0.0]]), lower=np.zeros((2, 2)))
    none = FacetSolutions(np.zeros((1, 2)), np.zeros((1, 2)), np.array([INFEASIBLE]), np.zeros(1))
    monkeypatch.setattr(FacetRows, "_solve", lambda *_: none)
    point = rows.relaxed(np.array([[1.0, 4.0]]), np.zeros((1, 2)))
    assert point.sum() == pytest.approx(4.0)
    assert (point <= [[3.0 + 1e-9, 2.0 + 1e-9]]).all()
    point = rows.relaxed(np.array([[1.0, -1.0]]), np.zeros((1, 2)))
    assert point.sum() == pytest.approx(-1.0)


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


@pytest.mark.parametrize(
    ("facets", "said"),
    [
        (fl.Facets(-1), "max_facets=-1 is neither None nor an integer >= 0"),
        (fl.Facets(True), "max_facets=True is neither None nor an integer"),
        (fl.Facets(2.5), "max_facets=2.5 is neither None nor an integer"),  # type: ignore[arg-type]
        (fl.Facets(2, bounds="seen"), "bounds='seen' is not known"),  # type: ignore[arg-type]
        (fl.Facets(2, bounds=(0.0, [1.0, -1.0])), "cross at decision 1: 0.0 > -1.0"),
        (fl.Facets(2, bounds=(0.0, [1.0] * 3)), "a pair of numbers or of 2 numbers"),
        (fl.Facets(2, bounds=(0.0, [1.0, np.inf])), "those of decisions 1 are"),
        (fl.Facets(2, balance="none"), "balance='none' is not known"),  # type: ignore[arg-type]
        (fl.Facets(2, balance=[["x"]]), "balance must hold finite numbers"),
        (fl.Facets(2, balance=[[1.0, np.nan]]), "balance must hold finite numbers"),
        (fl.Facets(2, balance=[[1.0]]), r"balance has shape \(1, 1\), expected \(q, 2\)"),
        (fl.Facets(2, balance=np.ones((3, 2))), r"balance has shape \(3, 2\)"),
        (fl.Facets(2, balance=[1.0, 1.0]), r"balance has shape \(2,\)"),
    ],
)
def test_options_that_cannot_be(facets: Any, said: str) -> None:
    with pytest.raises((SetError, UnsupportedError), match=said):
        facets.check(2)


def test_options_that_can() -> None:
    fl.Facets(0, bounds=(0.0, 0.0)).check(2)
    assert fl.Facets(balance=None).given_balance(3).shape == (0, 3)  # type: ignore[union-attr]
    assert fl.Facets().given_balance(3) is None
    np.testing.assert_array_equal(fl.Facets(balance=[[1.0, 2.0]]).given_balance(2), [[1.0, 2.0]])


@pytest.mark.parametrize(("slope", "right", "at"), [(1.0, -10.0, 1.0), (3.0, -1.0, 10.0)])
def test_a_facet_gives_way_as_far_as_it_must(slope: float, right: float, at: float) -> None:
    """One decision that is fixed, and a facet far from it."""
    fixed = np.array([[at]])
    rows = FacetRows(
        np.zeros((0, 1)), np.zeros((0, 1)), fixed, fixed, np.array([[slope]]), np.array([[right]])
    )
    decisions = rows.relaxed(np.ones((1, 1)), np.ones((1, 1)), firm=True)
    np.testing.assert_allclose(decisions, fixed, atol=1e-9)


def test_small_programs_are_solved_in_units_of_their_own() -> None:
    """Whatever the units of rows and variables are, the numbers are near one, but for zeros."""
    G = np.array([[3e6, -2e3], [0.0, 5e-7], [0.0, 0.0]])
    limits = Limits(np.zeros((1, 3)), np.array([[0.0, -4e5]]), np.array([[2e-3, 4e5]]))
    rows, columns = _units(G, limits)
    sizes = np.abs(rows[:, None] * G * columns).max(axis=1)
    assert ((sizes > 0.7) & (sizes < 1.5)).tolist() == [True, True, False]
    np.testing.assert_allclose(np.log2([*rows, *columns]) % 1.0, 0.0)
    np.testing.assert_allclose(columns, [2e-3, 8e5], rtol=0.5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bounds_give_way_on_either_side(sign: float) -> None:
    """The two decisions are at most 2 in size and add up to 5: together, bounds give way by 1."""
    one, two = np.ones((2, 1)), np.full((2, 1), 2.0)
    lower, upper = (-one, two) if sign > 0.0 else (-two, one)
    none = np.zeros((0, 2)), np.zeros((0, 1))
    rows = FacetRows(np.ones((1, 2)), np.full((1, 1), 5.0 * sign), lower, upper, *none)
    corners = rows.image(np.ones(1), relax=True).vertices()
    np.testing.assert_allclose(corners.sum(axis=1), 5.0 * sign, atol=1e-6)
    assert np.abs(corners).max() <= 3.0 + 1e-6
