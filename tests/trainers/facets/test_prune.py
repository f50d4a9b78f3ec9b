"""Facets are dropped exactly where no cheapest point needs them."""

from __future__ import annotations

import numpy as np
import pytest

from feaslearn.tolerances import DECISION_TOL
from feaslearn.trainers.facets import Task
from feaslearn.trainers.facets.rows import standard_rows
from feaslearn.trainers.facets.search import prune
from feaslearn.trainers.facets.state import State
from trainers.facets.worlds import make_world


def cutting(move: float) -> State:
    """Return a state with one facet that moves the cheapest point of one row by so much."""
    world = make_world(0, m=0, rows=100)
    parts = (world.features, world.costs, world.decisions)
    rows, _ = standard_rows(*parts)
    state = State(rows, Task(*parts, np.random.default_rng(0)))
    a = state.W[:, 0]
    top = float((rows.x @ a).max())
    y = state.y.copy()

    def cut(depth: float) -> float:
        """Cut off the row that is farthest in the direction a; return how far it moves."""
        state.todo = np.arange(state.N)
        f = (top - depth) * rows.one
        state.set_facets(a[None], f[None], ["open"])
        return float(np.abs(state.y - y).max())

    depth = 1e-4
    cut(depth * move / cut(depth))
    assert np.abs(state.y - y).max() == pytest.approx(move, rel=0.02)
    return state


@pytest.mark.parametrize(("share", "kept"), [(1.1, True), (0.9, False), (0.0, False)])
def test_a_facet_is_kept_if_a_cheapest_point_moves_by_more_than_a_solver_errs(
    share: float, kept: bool
) -> None:
    state = cutting(share * DECISION_TOL)
    prune(state)
    assert state.m == kept
