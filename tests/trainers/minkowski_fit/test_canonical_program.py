"""The program in units and an order of its own has the same optimum, and always the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import feaslearn as fl
from feaslearn.formulations import MinkowskiProgram, ProgramRows
from feaslearn.trainers.minkowski_fit.programs import CanonicalProgram

N, COLUMNS, PLANTS = 14, [0, 2, 1], [2, 0, 1]
SUBOPTIMAL = fl.Suboptimality()


def rows_of(seed: int = 0) -> ProgramRows:
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(N), random.normal(size=(N, 2))])
    decisions = random.normal(size=(N, 3)) ** 3
    return ProgramRows(
        features, features, random.normal(size=(N, 3)), decisions, random.random(N) + 0.5
    )


@pytest.mark.parametrize(
    ("loss", "terms", "shared"),
    [
        (SUBOPTIMAL, fl.Minkowski.pairs(3), False),
        (fl.Suboptimality("l1", normalize_cost=False), fl.Minkowski.pairs(3), True),
        (fl.Predictability("l1"), fl.Minkowski.box(3), False),
        (SUBOPTIMAL, fl.Minkowski([fl.Term(fl.Box(3, [0, -1, -1], [1, 2, 3]))]), False),
        (fl.Suboptimality(squared=False), fl.Minkowski([]), False),
    ],
)
def test_the_optimum_is_that_of_the_program(loss: Any, terms: fl.Minkowski, shared: bool) -> None:
    rows, listed = rows_of(), terms.terms_of(3)
    rows = rows._replace(decisions=1e3 * rows.decisions)
    found = CanonicalProgram(loss, listed, rows, shared, False)
    plain = MinkowskiProgram(loss, listed, rows, shared, False)
    first, right = found.solve(), plain.solve().value
    assert first.value == pytest.approx(right, rel=1e-8)
    if first.a.size:
        # Another strength for each coefficient: they must not be exchanged.
        random = np.random.default_rng(1)
        ridge, prices = random.random(first.a.shape), random.random(first.a.shape)
        one, two = (
            each.solve(1e-6 * right * ridge, 1e-5 * right * prices) for each in (found, plain)
        )
        assert one.value == pytest.approx(two.value, rel=1e-6)
        assert np.abs(two.a).max() > 1.0
        np.testing.assert_allclose(one.a, two.a, atol=1e-4 * np.abs(two.a).max())


@pytest.mark.parametrize("change", ["units", "money", "place", "columns"])
def test_units_and_order_change_no_bit(change: str) -> None:
    rows, terms = rows_of(), fl.Minkowski.pairs(3).terms_of(3)
    other, unit = rows, 1.0
    if change == "units":
        unit = 3.7e6
        other = rows._replace(decisions=unit * rows.decisions)
    elif change == "money":
        other = rows._replace(costs=1e-7 * rows.costs)
    elif change == "place":
        other = rows._replace(decisions=(rows.decisions + 20.3) - 20.3)
        assert not np.array_equal(other.decisions, rows.decisions)
    else:
        psi, phi, costs, decisions, weights = rows
        other = ProgramRows(
            psi[:, COLUMNS], phi[:, COLUMNS], costs[:, PLANTS], decisions[:, PLANTS], weights
        )
    one, two = (
        CanonicalProgram(SUBOPTIMAL, terms, each, False, False).solve() for each in (rows, other)
    )
    a, b = one.a, one.b
    if change == "columns":
        # Pairs are {0, 1}, {0, 2}, {1, 2}; now they are {2, 0}, {2, 1}, {0, 1} of the old ones.
        a, b = a[[1, 2, 0]][:, COLUMNS], b[COLUMNS][:, PLANTS]
    np.testing.assert_allclose(two.a, unit * a, rtol=1e-14)
    np.testing.assert_allclose(two.b, unit * b, rtol=1e-14)
