"""Convex programs in CVXPY: cones as constraints, and solvers in the order they are tried."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from feaslearn.exceptions import DataError, SolverError
from feaslearn.paper.problem import Clock
from feaslearn.solvers.conic_form import ConicForm, side, spread
from feaslearn.tolerances import FEASIBILITY_TOL, HIGHS_TOL, INTERIOR_TOL, LOOSE_TOL, TIGHT_TOL

logger = logging.getLogger("feaslearn")

Attempts = tuple[tuple[str, dict[str, float]], ...]

_EXACT = {
    **dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), TIGHT_TOL),
    "threads": 1,
}
_TIGHT = {
    **dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), INTERIOR_TOL),
    **dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), LOOSE_TOL),
    "max_threads": 1,
}
#: Solvers in the order they are tried: shorter steps stall less where the optimum is degenerate,
#: and what cannot be solved to 1e-12 is tried to the solver's usual 1e-8. SCS, a first-order
#: method, is slow but hardly stalls. HiGHS ends linear programs at an exact vertex.
CONIC: Attempts = (
    ("CLARABEL", _TIGHT),
    ("CLARABEL", {**_TIGHT, "max_step_fraction": 0.9}),
    ("CLARABEL", {}),
    ("SCS", {"eps_abs": HIGHS_TOL, "eps_rel": HIGHS_TOL, "max_iters": 20_000}),
)
LINEAR: Attempts = (("HIGHS", _EXACT), *CONIC)
#: What solvers call a limit of seconds, where they do not call it "time_limit".
LIMITS = {"SCS": "time_limit_secs"}


def load_cvxpy() -> Any:
    """Return CVXPY, loaded when it is first used; its types leave out most of its functions."""
    import cvxpy

    return cvxpy


def in_cone(form: ConicForm, slack: Any, *, dual: bool = False) -> list[Any]:
    """Return that ``slack``, or each of its rows, is in K, or in K*: free where K says zero."""
    cp, many = load_cvxpy(), slack.ndim == 2
    constraints: list[Any] = []
    for cone, rows in form.blocks():
        if cone.size == 0 or (cone.kind == "zero" and dual):
            continue
        part = slack[:, rows] if many else slack[rows]
        if cone.kind == "zero":
            constraints.append(part == 0)
        elif cone.kind == "nonnegative" or cone.size == 1:
            constraints.append(part >= 0)
        elif cone.kind == "semidefinite":
            each = [part[i] for i in range(part.shape[0])] if many else [part]
            constraints.extend(semidefinite(one, cone.size) for one in each)
        elif many:
            constraints.append(cp.SOC(part[:, 0], part[:, 1:], axis=1))
        else:
            constraints.append(cp.SOC(part[0], part[1:]))
    return constraints


def semidefinite(triangle: Any, size: int) -> Any:
    """Return that the symmetric matrix of a triangle of ``size`` entries is semidefinite."""
    m = side(size)
    if m is None:
        raise DataError(f"a semidefinite cone of {size} rows: no triangle has that many")
    return load_cvxpy().reshape(spread(m) @ triangle, (m, m), order="F") >> 0


def solve(problem: Any, name: str, attempts: Attempts = CONIC, clock: Clock | None = None) -> None:
    """Solve a CVXPY problem in place, with another solver where one fails."""
    cp, clock = load_cvxpy(), clock or Clock()
    failures: dict[str, None] = {}
    for accepted in ((cp.OPTIMAL,), (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)):
        for solver, options in attempts:
            clock.check()
            limit = {} if np.isinf(clock.left) else {LIMITS.get(solver, "time_limit"): clock.left}
            flaw = _attempt(problem, solver, options | limit, accepted)
            if not flaw:
                if failures:
                    logger.info("the %s program was solved after %s", name, "; ".join(failures))
                return
            failures[f"{solver}: {flaw}"] = None
    clock.check()
    raise SolverError(
        f"no solver solved the {name} program ({'; '.join(failures)}); check that the set is not "
        "empty and the scale of the data"
    )


def _attempt(
    problem: Any, solver: str, options: dict[str, float], accepted: tuple[str, ...]
) -> str:
    """Solve with one solver; return what is wrong with its answer, or an empty string."""
    cp = load_cvxpy()
    try:
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            # CVXPY warns of inaccurate answers; whether they are taken is decided below. On its
            # way to them it multiplies infinite bounds by zero.
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver=solver, warm_start=False, **options)
    except (cp.error.SolverError, ValueError) as error:
        # CVXPY raises ValueError where a solver ends without any status.
        return str(error)
    if problem.status not in accepted:
        return str(problem.status)
    with np.errstate(divide="ignore", invalid="ignore"):
        # At the apex of a cone CVXPY divides by zero on its way to a right answer.
        violations = [float(np.max(row.violation())) for row in problem.constraints]
    worst = max(violations, default=0.0)
    return "" if worst <= FEASIBILITY_TOL else f"rows violated by {worst:.1e}"
