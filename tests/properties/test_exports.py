"""A region written to a file has the optimum that our own code finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import feaslearn as fl
from properties.tiny import Tiny, fitted, tiny


@given(tiny(), st.sampled_from(["scaled", "affine, gradient", "facets"]))
def test_exports(problem: Tiny, model: str) -> None:
    region = fitted(problem, model).region(problem.signals[0])
    found = fl.export.verify(region, "mps", n_problems=2, random_state=problem.seed)
    assert found.checks[0].largest_difference <= 1e-6
