"""Cones, norms and solvers of the paper's programs."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.losses.loss import ORDERS
from feaslearn.results import remark
from feaslearn.runs import Clock, OutOfTime
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic_form import ConicForm
from feaslearn.solvers.triangle import side, spread
from feaslearn.tolerances import (
    FEASIBILITY_TOL,
    HIGHS_TOL,
    INTERIOR_TOL,
    LOOSE_TOL,
    TIGHT_TOL,
    size_of,
)

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
#: Shorter steps of the interior-point method, which stall less where the optimum is degenerate.
_CAREFUL = {**_TIGHT, "max_step_fraction": 0.9}
#: Solvers in the order they are tried. HiGHS ends linear programs at an exact vertex; quadratic
#: ones it can turn on for ever, so there it comes late and with a limit. What cannot be solved to
#: 1e-12 is tried to the solver's usual 1e-8. SCS, a first-order method, is slow but hardly stalls.
INTERIOR: Attempts = (("CLARABEL", _TIGHT), ("CLARABEL", _CAREFUL))
LINEAR: Attempts = (("HIGHS", _EXACT), *INTERIOR, ("CLARABEL", {}))
QUADRATIC: Attempts = (
    *INTERIOR,
    ("HIGHS", {**_EXACT, "qp_iteration_limit": 10_000, "time_limit": 10.0}),
    ("CLARABEL", {}),
)
CONIC: Attempts = (
    *INTERIOR,
    ("CLARABEL", {}),
    ("SCS", {"eps_abs": HIGHS_TOL, "eps_rel": HIGHS_TOL, "max_iters": 20_000}),
)
#: What solvers call a limit of seconds, where they do not call it "time_limit".
_LIMITS = {"SCS": "time_limit_secs"}
#: An l2 norm below this, found through its square, is inexact and found again.
INEXACT_LENGTH = 1e-3


class PairSolution(NamedTuple):
    """The optimum of one pair's program.

    ``value`` is the loss, ``gamma`` the correction of the decision, ``z`` the latent point,
    ``lam`` the multipliers (an element of the dual cone), ``decision`` x with its unobserved
    entries completed, and ``excess_cost`` the part of the loss that is money (suboptimality only).
    """

    value: float
    gamma: Array
    z: Array
    lam: Array
    decision: Array
    excess_cost: float = 0.0


def load_cvxpy() -> Any:
    """Return CVXPY, loaded when it is first used; its types leave out most of its functions."""
    import cvxpy

    return cvxpy


def convex_form(primitive: PrimitiveSet) -> ConicForm:
    """Return the conic form of a convex set; a discrete one has only that of its hull."""
    if primitive.discrete:
        raise UnsupportedError(
            f"{primitive!r} holds binary points, which a convex program cannot describe; "
            "MixedInteger trains it, and the losses measure it"
        )
    return primitive.conic_form()


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
        raise UnsupportedError(f"a semidefinite cone of {size} rows: no triangle has that many")
    return load_cvxpy().reshape(spread(m) @ triangle, (m, m), order="F") >> 0


def measure(residual: Array, norm: str, squared: bool) -> float:
    """Return the norm of a residual, squared where that is asked of l2."""
    length = float(np.linalg.norm(residual, ORDERS[norm]))
    return length * length if norm == "l2" and squared else length


class LeastNorm:
    """Minimise the norm of a residual under constraints, as exactly as solvers can."""

    # For l2 the square is minimised, which has the same minimisers. Where it turns out small, it is
    # magnified and minimised again: a gap of 1e-12 in a square is one of 1e-6 in the norm.

    def __init__(
        self, residual: Any, norm: str, constraints: list[Any], name: str, polyhedral: bool
    ) -> None:
        cp = load_cvxpy()
        # A variable of its own: the factor times other parameters would not compile once.
        self._residual = cp.Variable(residual.shape)
        self._name = name
        polyhedral_attempts = QUADRATIC if norm == "l2" else LINEAR
        self._attempts = polyhedral_attempts if polyhedral else CONIC
        self._factor = cp.Parameter(nonneg=True, value=1.0)
        size = self._factor * cp.sum_squares(self._residual)
        if norm != "l2":
            size = cp.norm(self._residual, 1 if norm == "l1" else "inf")
        self._norm = norm
        rows = [self._residual == residual, *constraints]
        self._problem = cp.Problem(cp.Minimize(size), rows)

    def solve(self) -> None:
        """Leave the optimum in the variables."""
        self._factor.value = 1.0
        solve(self._problem, self._name, self._attempts)
        length = measure(self._residual.value, self._norm, squared=False)
        if self._norm != "l2" or length >= INEXACT_LENGTH:
            return
        found = {variable: variable.value for variable in self._problem.variables()}
        self._factor.value = INEXACT_LENGTH**-2
        try:
            solve(self._problem, self._name, self._attempts)
            shorter = measure(self._residual.value, self._norm, squared=False) <= length
        except SolverError:
            shorter = False
        if not shorter:
            for variable, value in found.items():
                variable.value = value


def solve(
    problem: Any,
    name: str,
    attempts: Attempts,
    clock: Clock | None = None,
    *,
    relative: bool = False,
) -> None:
    """Solve a CVXPY problem in place, with another solver where one fails."""
    cp = load_cvxpy()
    failures: list[str] = []
    for accepted in ((cp.OPTIMAL,), (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)):
        for solver, options in attempts:
            limit = {}
            if clock is not None and clock.limited:
                seconds = min(options.get("time_limit", np.inf), clock.left)
                limit = {_LIMITS.get(solver, "time_limit"): seconds}
            answer = _attempt(problem, solver, options | limit, accepted)
            answer = answer or _violated(problem, relative)
            if answer == "":
                if solver != attempts[0][0]:
                    failed = "; ".join(dict.fromkeys(failures))
                    remark(f"the {name} program was solved by {solver}, after {failed}")
                return
            if clock is not None and clock.out():
                raise OutOfTime
            failures.append(f"{solver}: {answer}")
    raise SolverError(
        f"no solver solved the {name} program ({'; '.join(dict.fromkeys(failures))}); check that "
        "the set is not empty and the scale of the data"
    )


def _attempt(
    problem: Any, solver: str, options: dict[str, float], accepted: tuple[str, ...]
) -> str:
    """Solve with one solver; return its status if it failed, else an empty string."""
    cp = load_cvxpy()
    try:
        with warnings.catch_warnings():
            # CVXPY warns of inaccurate answers; whether they are taken is decided below.
            warnings.simplefilter("ignore", UserWarning)
            problem.solve(solver=solver, warm_start=False, **options)
    except (cp.error.SolverError, ValueError) as error:
        # CVXPY raises ValueError where a solver ends without any status.
        return str(error)
    return "" if problem.status in accepted else str(problem.status)


def _violated(problem: Any, relative: bool) -> str:
    """Return by how much an answer violates the rows, or an empty string."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # At the apex of a cone CVXPY divides by zero on its way to a right answer.
        worst = max((_violation(row, relative) for row in problem.constraints), default=0.0)
    return "" if worst <= FEASIBILITY_TOL else f"rows violated by {worst:.1e}"


def _violation(row: Any, relative: bool) -> float:
    """Return the largest violation of a row, relative to its variables if so asked."""
    size = size_of(*(variable.value for variable in row.variables())) if relative else 1.0
    return float(np.max(row.violation())) / size
