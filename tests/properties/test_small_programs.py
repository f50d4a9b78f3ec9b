"""Small programs with rows that repeat each other have the optimum that HiGHS finds."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from feaslearn.arrays import Array
from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL


def drawn(seed: int, repeated: int, off: float, agree: bool) -> tuple[Array, ...]:
    """Return equalities, some repeated up to ``off``, inequalities, right sides, slack and cost.

    Where the rows ``agree`` there is a point that keeps all of them exactly, returned last.
    """
    random = np.random.default_rng(seed)
    n, q, m = int(random.integers(3, 8)), int(random.integers(1, 3)), int(random.integers(0, 5))
    inside = random.random(n) * (random.random(n) < 0.7)
    E, a = random.normal(size=(q, n)), random.normal(size=(m, n))
    mix = random.normal(size=(repeated, q))
    near = mix @ E + off * random.normal(size=(repeated, n))
    wrong = 0.0 if agree else off * random.normal(size=repeated)
    slack = random.random(m) * (random.random(m) < 0.7)
    right = np.concatenate([E @ inside, near @ inside + wrong, a @ inside + slack])
    return np.vstack([E, near]), a, right, random.normal(size=n), inside


def solved(E: Array, a: Array, right: Array, cost: Array) -> tuple[int, Array]:
    """Return status and point of our kernel, variables between 0 and 1."""
    n, slack = len(cost), np.repeat([0.0, np.inf], [len(E), len(a)])
    limits = Limits(right[None], np.zeros((1, n)), np.ones((1, n)))
    found = solve_programs(np.vstack([E, a]), limits, cost[None], slack)
    return int(found.status[0]), found.decisions[0]


def by_highs(E: Array, a: Array, right: Array, cost: Array, **options: float) -> Any:
    """Return the answer of HiGHS."""
    q = len(E)
    rows = {"A_ub": a, "b_ub": right[q:]} if len(a) else {}
    equal = {"A_eq": E, "b_eq": right[:q]}
    return linprog(cost, **rows, **equal, bounds=(0.0, 1.0), options=options)


@given(st.integers(0, 2**32 - 1), st.floats(-15.0, -11.0), st.integers(0, 3))
def test_repeated_equalities(seed: int, digits: float, repeated: int) -> None:
    """Equalities that are combinations of others up to rounding count as those combinations."""
    E, a, right, cost, _ = drawn(seed, repeated, 10.0**digits, agree=True)
    status, point = solved(E, a, right, cost)
    kept = len(E) - repeated
    true = by_highs(E[:kept], a, np.delete(right, np.arange(kept, len(E))), cost)
    assert status == OPTIMAL
    assert abs(cost @ point - true.fun) <= 1e-5 * np.abs(cost).sum()


@example(seed=23881, digits=-7.375, repeated=3, agree=True)  # HiGHS is 5e-9 beyond a bound
@given(st.integers(0, 2**32 - 1), st.floats(-9.5, -6.5), st.integers(1, 3), st.booleans())
def test_rows_that_nearly_repeat(seed: int, digits: float, repeated: int, agree: bool) -> None:
    """Rows that differ by about the tolerance: an answer that keeps all of them, or none.

    Where the rows ``agree`` there is a point that keeps them exactly, and none is no answer.
    """
    E, a, right, cost, inside = drawn(seed, repeated, 10.0**digits, agree)
    status, x = solved(E, a, right, cost)
    if status == INFEASIBLE:
        assert not agree
        return
    assert status == OPTIMAL
    scale = max(1.0, np.abs(right).max())
    assert (x >= -1e-9).all()
    assert (x <= 1.0 + 1e-9).all()
    assert np.abs(E @ x - right[: len(E)]).max() <= 1e-6 * scale
    assert (a @ x <= right[len(E) :] + 1e-6 * scale).all()
    exact = by_highs(E, a, right, cost, primal_feasibility_tolerance=1e-10)
    dearest = exact.fun if exact.status == 0 else np.inf
    if agree:
        dearest = min(dearest, cost @ inside)
    assert cost @ x <= dearest + 1e-6 * np.abs(cost).sum()
