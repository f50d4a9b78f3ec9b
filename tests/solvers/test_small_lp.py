"""The small dual simplex against HiGHS, also where rows repeat each other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba.core.caching import CompileResultCacheImpl
from scipy.optimize import linprog

from feaslearn import tolerances
from feaslearn.solvers import oracle_kernels, small_lp_kernels
from feaslearn.solvers.jit import kernel
from feaslearn.solvers.small_lp import Limits, solve_programs
from feaslearn.solvers.small_lp_kernels import INFEASIBLE, OPTIMAL, solve_rows, workspace
from registry import Array


class Program(NamedTuple):
    G: Array
    r: Array
    c: Array
    lower: Array
    upper: Array
    slack: Array


class Answer(NamedTuple):
    x: Array
    duals: Array
    status: int
    tied: bool


def solve(program: Program) -> Answer:
    G, r, c, lower, upper, slack = (np.ascontiguousarray(part, dtype=float) for part in program)
    m, n = G.shape
    x, duals = np.full((1, n), np.nan), np.empty((1, m))
    status, tied = np.empty(1, dtype=np.int8), np.empty(1, dtype=bool)
    out = x, duals, status, tied
    solve_rows(workspace(m, n), G, r[None], c[None], lower[None], upper[None], slack, *out)
    return Answer(x[0], duals[0], int(status[0]), bool(tied[0]))


def reference(program: Program) -> Any:
    G, r, c, lower, upper, slack = program
    equal = slack == 0.0
    return linprog(
        c,
        A_ub=G[~equal] if (~equal).any() else None,
        b_ub=r[~equal] if (~equal).any() else None,
        A_eq=G[equal] if equal.any() else None,
        b_eq=r[equal] if equal.any() else None,
        bounds=np.column_stack([lower, upper]),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )


def random_program(random: np.random.Generator, whole: bool) -> Program:
    """Whole numbers make ties and degenerate corners; decimals seldom do."""
    n, q, m = int(random.integers(1, 9)), int(random.integers(0, 3)), int(random.integers(0, 7))
    draw = (
        (lambda size: random.integers(-2, 3, size).astype(float))
        if whole
        else (lambda size: random.normal(size=size))
    )
    G, c = draw((q + m, n)), draw(n)
    lower = draw(n)
    upper = lower + np.abs(draw(n))
    inside = lower + random.random(n) * (upper - lower)
    if whole:
        inside = np.where(random.random(n) < 0.5, lower, upper)
    loose = np.abs(draw(q + m)) * (random.random(q + m) < 0.8)
    slack = np.concatenate([np.zeros(q), np.full(m, np.inf)])
    r = G @ inside + np.where(slack > 0.0, loose, 0.0)
    if random.random() < 0.2:
        r = r - 3.0 * random.random()
    return Program(G, r, c, lower, upper, slack)


def violation(program: Program, x: Array) -> float:
    G, r, _, lower, upper, slack = program
    excess = G @ x - r
    rows = np.where(slack == 0.0, np.abs(excess), np.maximum(excess, 0.0))
    return float(np.concatenate([rows, lower - x, x - upper]).max())


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("unit", [1.0, 1e-5, 1e5])
def test_agrees_with_highs(whole: bool, unit: float) -> None:
    random = np.random.default_rng(3)
    ended = {OPTIMAL: 0, INFEASIBLE: 0}
    for _ in range(80):
        program = random_program(random, whole)
        expected = reference(program)
        scaled = program._replace(
            r=unit * program.r, lower=unit * program.lower, upper=unit * program.upper
        )
        found = solve(scaled)
        assert found.status == (OPTIMAL if expected.status == 0 else INFEASIBLE)
        ended[found.status] += 1
        if found.status == OPTIMAL:
            assert violation(scaled, found.x) <= 1e-9 * unit
            assert scaled.c @ found.x == pytest.approx(unit * expected.fun, abs=1e-9 * unit)
    assert min(ended.values()) > 5


@pytest.mark.parametrize("free", [False, True], ids=["prices", "without prices"])
def test_many_bounds_that_flip_at_once(free: bool) -> None:
    """From the twentieth on they are sorted: equal prices, and none at all, are most of them."""
    random = np.random.default_rng(3)
    for n in (50, 400, 3_000):
        G = random.integers(-4, 5, size=(5, n)) * random.choice([1.0, 0.37], size=n)
        upper = random.uniform(0.5, 1.0, size=n)
        inside = upper * random.uniform(size=n)
        c = np.zeros(n) if free else random.integers(-3, 4, size=n) / 2.0
        c[-1] = -1.0
        program = Program(G, G @ inside, c, np.zeros(n), upper, np.zeros(5))
        found, expected = solve(program), reference(program)
        assert found.status == OPTIMAL
        np.testing.assert_allclose(G @ found.x, G @ inside, atol=1e-8 * n)
        assert c @ found.x == pytest.approx(expected.fun, rel=1e-9, abs=1e-9)


def test_the_unit_of_money_does_not_matter() -> None:
    random = np.random.default_rng(4)
    for _ in range(100):
        program = random_program(random, whole=False)
        found = solve(program)
        for unit in (1e-9, 1e9):
            other = solve(program._replace(c=unit * program.c))
            np.testing.assert_array_equal(other.x, found.x)
            np.testing.assert_allclose(other.duals, unit * found.duals, rtol=1e-6, atol=1e-9 * unit)


def box(c: Any, **rows: Any) -> Program:
    """Return a program of variables between zero and one."""
    n = len(c)
    G = np.array(rows.get("G", np.zeros((0, n))), dtype=float).reshape(-1, n)
    r = np.array(rows.get("r", []), dtype=float)
    slack = np.array(rows.get("slack", np.full(len(r), np.inf)), dtype=float)
    return Program(G, r, np.array(c), np.zeros(n), np.ones(n), slack)


def test_ties_are_flagged() -> None:
    assert not solve(box([1.0, -1.0])).tied
    assert solve(box([1.0, 0.0])).tied
    balance = {"G": [[1.0, 1.0]], "r": [1.0], "slack": [0.0]}
    assert solve(box([1.0, 1.0], **balance)).tied
    assert not solve(box([1.0, 1.1], **balance)).tied
    # A tie of an entry that cannot move is none.
    fixed = box([1.0, 0.0])._replace(upper=np.array([1.0, 0.0]))
    assert not solve(fixed).tied


def test_no_flag_means_one_minimiser() -> None:
    random = np.random.default_rng(7)
    unique = 0
    for _ in range(200):
        program = random_program(random, whole=True)
        found = solve(program)
        if found.status != OPTIMAL or found.tied:
            continue
        unique += 1
        nudged = program.c + 1e-7 * random.normal(size=len(program.c))
        np.testing.assert_allclose(solve(program._replace(c=nudged)).x, found.x, atol=1e-9)
    assert unique > 20


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("excess", [-1e-14, 0.0, 1e-14, 1e-10])
def test_rows_that_only_just_meet(unit: float, excess: float) -> None:
    """The sum of all upper bounds is the demand, up to rounding: the region is one point."""
    program = box([3.0, 1.0, 2.0], G=np.ones((1, 3)), r=[3.0 * (1.0 + excess)], slack=[0.0])
    scaled = program._replace(r=unit * program.r, upper=unit * program.upper)
    found = solve(scaled)
    assert found.status == OPTIMAL
    np.testing.assert_allclose(found.x, unit, rtol=1e-9)
    assert solve(scaled._replace(r=scaled.r * 1.001)).status == INFEASIBLE


# Rows that repeat each other.


def drawn(seed: int, repeated: int, off: float, agree: bool) -> tuple[Program, Array]:
    """Return equalities, some of them repeated up to ``off``, and inequalities.

    Where the rows ``agree`` there is a point that keeps all of them exactly, returned last.
    """
    random = np.random.default_rng(seed)
    n, q, m = int(random.integers(3, 8)), int(random.integers(1, 3)), int(random.integers(0, 5))
    inside = random.random(n) * (random.random(n) < 0.7)
    E, a = random.normal(size=(q, n)), random.normal(size=(m, n))
    mix = random.normal(size=(repeated, q))
    near = mix @ E + off * random.normal(size=(repeated, n))
    wrong = 0.0 if agree else off * random.normal(size=repeated)
    spare = random.random(m) * (random.random(m) < 0.7)
    right = np.concatenate([E @ inside, near @ inside + wrong, a @ inside + spare])
    slack = np.repeat([0.0, np.inf], [q + repeated, m])
    program = box(random.normal(size=n), G=np.vstack([E, near, a]), r=right, slack=slack)
    return program, inside


def solved(program: Program) -> tuple[int, Array]:
    """Return status and point after rows that repeat each other were looked for."""
    limits = Limits(*(part[None] for part in (program.r, program.lower, program.upper)))
    found = solve_programs(program.G, limits, program.c[None], program.slack)
    return int(found.status[0]), found.decisions[0]


@given(st.integers(0, 2**32 - 1), st.floats(-15.0, -11.0), st.integers(0, 3))
def test_repeated_equalities(seed: int, digits: float, repeated: int) -> None:
    """Equalities that are combinations of others up to rounding count as those combinations."""
    program, _ = drawn(seed, repeated, 10.0**digits, agree=True)
    status, point = solved(program)
    equal = int((program.slack == 0.0).sum())
    kept = np.delete(np.arange(len(program.r)), np.arange(equal - repeated, equal))
    G, r, slack = (part[kept] for part in (program.G, program.r, program.slack))
    true = reference(program._replace(G=G, r=r, slack=slack))
    assert status == OPTIMAL
    assert abs(program.c @ point - true.fun) <= 1e-5 * np.abs(program.c).sum()


@example(seed=23881, digits=-7.375, repeated=3, agree=True)  # HiGHS is 5e-9 beyond a bound
@given(st.integers(0, 2**32 - 1), st.floats(-9.5, -6.5), st.integers(1, 3), st.booleans())
def test_rows_that_nearly_repeat(seed: int, digits: float, repeated: int, agree: bool) -> None:
    """Rows that differ by about the tolerance: an answer that keeps all of them, or none.

    Where the rows ``agree`` there is a point that keeps them exactly, and none is no answer.
    """
    program, inside = drawn(seed, repeated, 10.0**digits, agree)
    status, x = solved(program)
    if status == INFEASIBLE:
        assert not agree
        return
    assert status == OPTIMAL
    assert (x >= -1e-9).all()
    assert (x <= 1.0 + 1e-9).all()
    assert violation(program, x) <= 1e-6 * max(1.0, np.abs(program.r).max())
    exact = reference(program)
    dearest = exact.fun if exact.status == 0 else np.inf
    if agree:
        dearest = min(dearest, program.c @ inside)
    assert program.c @ x <= dearest + 1e-6 * np.abs(program.c).sum()


# How kernels are compiled and cached.


def test_kernels_compile_where_no_cache_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def double(x: float) -> float:
        return 2.0 * x

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    assert kernel(double)(2.0) == 4.0


def test_the_tolerances_of_kernels_are_those_of_the_library() -> None:
    assert oracle_kernels.SUM_ROUNDING == tolerances.SUM_ROUNDING
    assert small_lp_kernels.TIE_TOL == tolerances.TIE_TOL
