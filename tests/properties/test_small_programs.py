"""Small programs with rows that repeat each other have the optimum that HiGHS finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from feaslearn.hypotheses.small_programs import Limits, solve_programs
from feaslearn.kernels.small_lp import OPTIMAL


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
