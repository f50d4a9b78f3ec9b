"""Rows of regions asked directly: what breaks them, what gives way, what they are as polytopes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import feaslearn as fl
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.known import KnownLimits
from feaslearn.region.form import RELAX_BOUND, RELAX_EQUALITY, RELAX_FACET
from feaslearn.region.relax import relax
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
