"""Predictions never break what is known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from properties.tiny import Tiny, fitted, tiny


@given(tiny(), st.sampled_from(["linear policy", "scaled", "facets"]), st.floats(0.2, 0.8))
def test_known_constraints(problem: Tiny, model: str, share: float) -> None:
    x = problem.decisions
    lower, upper = (np.quantile(x, q, axis=0) for q in (0.2 * share, 1.0 - 0.2 * share))
    known = fl.Known(
        bounds=(list(map(float, lower)), list(map(float, upper))), contradictions="project"
    )
    predicted = fitted(problem, model, known=known).predict(problem.new)
    room = 1e-9 * (1.0 + np.abs(x).max())
    assert (predicted >= lower - room).all()
    assert (predicted <= upper + room).all()
