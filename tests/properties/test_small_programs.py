"""Small programs with rows that repeat each other have the optimum that HiGHS finds."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL


@given(st.integers(0, 2**32 - 1), st.floats(-15.0, -11.0), st.integers(0, 3))
def test_repeated_equalities(seed: int, digits: float, repeated: int) -> None:
    """Equalities that are combinations of others up to rounding count as those combinations."""
    random = np.random.default_rng(seed)
    n, q, m = int(random.integers(3, 8)), int(random.integers(1, 3)), int(random.integers(0, 5))
    inside = random.random(n) * (random.random(n) < 0.7)
    E, a = random.normal(size=(q, n)), random.normal(size=(m, n))
    mix = random.normal(size=(repeated, q))
    wrong = 10.0**digits * random.normal(size=(repeated, n))
    room = random.random(m) * (random.random(m) < 0.7)
    G = np.vstack([E, mix @ E + wrong, a])
    right = np.concatenate([E @ inside, mix @ E @ inside, a @ inside + room])
    slack = np.repeat([0.0, np.inf], [q + repeated, m])
    cost = random.normal(size=n)
    limits = Limits(right[None], np.zeros((1, n)), np.ones((1, n)))
    found = solve_programs(G, limits, cost[None], slack)
    true = linprog(
        cost,
        A_ub=a if m else None,
        b_ub=a @ inside + room if m else None,
        A_eq=E,
        b_eq=E @ inside,
        bounds=(0.0, 1.0),
    )
    assert found.status[0] == OPTIMAL
    assert abs(cost @ found.decisions[0] - true.fun) <= 1e-5 * np.abs(cost).sum()


@example(seed=23881, digits=-7.375, repeated=3, agree=True)  # HiGHS is 5e-9 beyond a bound
@given(st.integers(0, 2**32 - 1), st.floats(-9.5, -6.5), st.integers(1, 3), st.booleans())
def test_rows_that_nearly_repeat(seed: int, digits: float, repeated: int, agree: bool) -> None:
    """Rows that differ by about the tolerance: an answer that keeps all of them, or none.

    Where the rows ``agree`` there is a point that keeps them exactly, and none is no answer.
    """
    random = np.random.default_rng(seed)
    n, q, m = int(random.integers(3, 8)), int(random.integers(1, 3)), int(random.integers(0, 5))
    inside = random.random(n) * (random.random(n) < 0.7)
    E, a = random.normal(size=(q, n)), random.normal(size=(m, n))
    mix = random.normal(size=(repeated, q))
    near = mix @ E + 10.0**digits * random.normal(size=(repeated, n))
    wrong = 0.0 if agree else 10.0**digits * random.normal(size=repeated)
    room = random.random(m) * (random.random(m) < 0.7)
    G = np.vstack([E, near, a])
    right = np.concatenate([E @ inside, near @ inside + wrong, a @ inside + room])
    slack = np.repeat([0.0, np.inf], [q + repeated, m])
    cost = random.normal(size=n)
    limits = Limits(right[None], np.zeros((1, n)), np.ones((1, n)))
    found = solve_programs(G, limits, cost[None], slack)
    if found.status[0] == INFEASIBLE:
        assert not agree
        return
    assert found.status[0] == OPTIMAL
    x = found.decisions[0]
    scale = max(1.0, np.abs(right).max())
    assert (x >= -1e-9).all()
    assert (x <= 1.0 + 1e-9).all()
    assert np.abs(G[: q + repeated] @ x - right[: q + repeated]).max() <= 1e-6 * scale
    assert (a @ x <= right[q + repeated :] + 1e-6 * scale).all()
    exact = linprog(
        cost,
        A_ub=a if m else None,
        b_ub=right[q + repeated :] if m else None,
        A_eq=G[: q + repeated],
        b_eq=right[: q + repeated],
        bounds=(0.0, 1.0),
        options={"primal_feasibility_tolerance": 1e-10},
    )
    dearest = exact.fun if exact.status == 0 else np.inf
    if agree:
        dearest = min(dearest, cost @ inside)
    assert cost @ x <= dearest + 1e-6 * np.abs(cost).sum()
