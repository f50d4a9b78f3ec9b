"""Moments against the design matrix written out."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.trainers.minkowski_fit.block_moments import moments_by_decision
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows, Split, leave_one_out


def random_rows(random: np.random.Generator, same: bool, gaps: bool) -> Rows:
    phi = random.normal(size=(40, 3))
    psi = phi if same else random.uniform(size=(40, 4))
    points = random.normal(size=(40, 5, 2))
    decisions = random.normal(size=(40, 2))
    if gaps:
        decisions[random.uniform(size=decisions.shape) < 0.3] = np.nan
    return Rows(points, psi, phi, decisions, random.uniform(size=40))


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("gaps", [True, False])
def test_moments_decision_by_decision_are_the_moments(same: bool, gaps: bool, offset: bool) -> None:
    rows = random_rows(np.random.default_rng(2), same, gaps)
    rows.points[:, 0, 1], rows.points[:, 1:3, 0], rows.points[:, 4] = 0.0, 0.0, 0.0
    if not offset:
        rows = rows._replace(phi=rows.phi[:, :0])
    split = Split(rows.psi.shape[1], 3, knotted=not same, offset=offset)
    found, expected = moments_by_decision(rows, split), Moments.of(rows, split)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("gaps", [False, True])
def test_leaving_one_out_is_a_refit_without_it(gaps: bool) -> None:
    """By leverages, and by the moments of all other samples."""
    random = np.random.default_rng(0)
    rows = random_rows(random, False, gaps)
    split, ridge = Split(4, 3, knotted=True, offset=True), random.uniform(0.0, 0.01, (5, 4))
    exact = rows.predict(random.uniform(1.0, 2.0, (5, 4)), random.normal(size=(3, 2)))
    # Noise is so small that all coefficients are positive: others do not count.
    rows = rows._replace(decisions=exact + 0.01 * rows.decisions)

    def fit(part: Rows) -> tuple[np.ndarray, np.ndarray]:
        reduced = Moments.of(part, split).reduced()
        a = np.linalg.solve(reduced.H + np.diag(ridge.ravel()), reduced.r).reshape(5, 4)
        return a, reduced.best_offset(a)

    a, b = fit(rows)
    assert a.min() > 0.0
    found = leave_one_out(rows, a, b, ridge)
    for i in range(0, 40, 7):
        others = np.arange(40) != i
        without = fit(Rows(*(each[others] for each in rows)))
        alone = Rows(*(each[i : i + 1] for each in rows))
        np.testing.assert_allclose(found[i], alone.errors(*without)[0], atol=1e-9)
    # A sample that alone moves a coefficient says nothing about it.
    lonely = rows._replace(points=rows.points * (np.arange(40) == 3)[:, None, None])
    assert np.isinf(leave_one_out(lonely, a, b, 0.0 * ridge)[3]).all()
