r"""Regions that lie within known constraints as a whole, at every training signal.

.. math:: \min_\theta \; \|D\theta - x\|^2 \quad \text{s.t.} \quad R\theta \ge r

The rows R say what `contained_rows` says of each training signal. There may be millions of them and
few that matter: those are found by looking at all of them whenever a solution is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from feaslearn.data import Shard
from feaslearn.exceptions import DataError, SolverError, UnsupportedError
from feaslearn.formulations.program import QUADRATIC, load_cvxpy, solve
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.known import KnownLimits
from feaslearn.losses import Objective, Predictability
from feaslearn.runs import OutOfTime, Run
from feaslearn.runs.memory import check_memory
from feaslearn.trainers.contained_rows import ImageRows, SumRows, linear_in_theta
from feaslearn.trainers.standardize import place_and_unit

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: Weight of staying where the fit without rows was: it decides what the data leave open.
STAY = 1e-6
#: Rows that are added to a program at once, for each parameter.
MORE_ROWS = 5
#: Rows violated by less than this, in units of the decisions' spread, hold.
HOLDS = 1e-9
#: Numbers in the rows of programs that are small.
SMALL = 500_000


class Rows(NamedTuple):
    """Linear functions of theta and what they are compared with."""

    matrix: Array
    right: Array


def fit_contained(objective: Objective, theta: Array) -> Array:
    """Return the parameters of least squared error whose whole region satisfies what is known.

    Raises
    ------
    UnsupportedError
        For losses other than squared predictability, and regions without a list of vertices.
    DataError
        If no region of the class lies within the known constraints.
    OutOfTime
        If the time is up before one is found.
    """
    known, loss = objective.hypothesis, objective.loss
    if not isinstance(known, Constrained):
        raise TypeError("nothing is known")
    if not isinstance(loss, Predictability) or loss.norm_code() != Predictability().norm_code():
        raise UnsupportedError(
            f"Known(inequalities='contain') fits squared predictability, not {loss!r}; "
            "'intersect' works with every loss"
        )
    samples = objective.whole()
    features, limits = known.shape.split(samples.features)
    count, n = samples.decisions.shape
    check_memory(
        6.0 * count * n * len(theta),
        f"{count} samples of {n} decisions, each linear in {len(theta)} parameters,",
        "use fewer samples, or Known(inequalities='intersect')",
    )
    linear, unit = linear_in_theta(known.hypothesis, features, limits), place_and_unit(samples)[1]
    samples = samples._replace(features=features, costs=limits.inner_costs(samples.costs))
    best: Array | None = None
    least = np.inf
    for _ in range(linear.rounds):
        try:
            design = _errors(linear.design(theta, samples), samples, limits)
            theta = _least_squares(design, linear, theta, unit, objective.run)
        except OutOfTime:
            if best is None:
                raise
            break
        reached = objective.value(theta)
        if reached >= least:
            break
        best, least = theta, reached
    return theta if best is None else best


def _errors(design: Array, samples: Shard, limits: KnownLimits) -> Rows:
    """Return the equations of all observed entries, (N, n, size), weighted."""
    target = samples.decisions - limits.on_flat(np.zeros(samples.decisions.shape))
    across = limits.inner_costs(np.eye(target.shape[1]))
    weights = np.sqrt(samples.weights)[:, None]
    seen = ~np.isnan(target)
    flat = np.matmul(across, design) * weights[:, :, None]
    return Rows(flat[seen], (target * weights)[seen])


def _least_squares(
    design: Rows, linear: SumRows | ImageRows, theta: Array, unit: float, run: Run
) -> Array:
    """Minimise ``|D theta - x|^2`` where values reach what is known, in the free parameters.

    The program is about the step from theta, in units in which all parameters matter alike and
    decisions have size one: the solver counts digits.
    """
    free = linear.free(theta)
    D, missing = design.matrix[:, free], (design.right - design.matrix @ theta) / unit
    units = np.maximum(np.linalg.norm(D, axis=0), _largest_entries(linear, theta)[free] / len(D))
    units = np.where(units > 0.0, units, 1.0)
    D = np.vstack([D / units, np.sqrt(STAY) * np.eye(len(free))])
    missing = np.concatenate([missing, np.zeros(len(free))])
    run.check_time()
    # As many equations as parameters say the same, but for a constant.
    triangle = np.asarray(np.linalg.qr(np.column_stack([D, missing]), mode="r"))[: len(free)]
    right, kinds = linear.right.ravel(), linear.right.shape[1]

    def moved(step: Array) -> Array:
        full = theta.copy()
        full[free] += unit * step / units
        return full

    def margins(step: Array) -> Array:
        return np.asarray((linear.values(moved(step)).ravel() - right) / unit)

    before = margins(np.zeros(len(free)))

    def rows(chosen: Indices) -> Rows:
        R = linear.rows(theta, *np.divmod(chosen, kinds))[:, free] / units
        lengths = np.abs(R).max(axis=1, initial=0.0)
        lengths = np.where(lengths > 0.0, lengths, 1.0)  # no parameter moves some of them
        return Rows(R / lengths[:, None], -before[chosen] / lengths)

    try:
        step = _within_rows(triangle[:, :-1], triangle[:, -1], margins, rows, run)
    except DataError:
        raise DataError(
            f"no region of {linear.hypothesis!r} lies within the known constraints at all training "
            "signals; add features, or use Known(inequalities='intersect')"
        ) from None
    return moved(step)


def _largest_entries(linear: SumRows | ImageRows, theta: Array) -> Array:
    """Return the largest factor of each parameter, over rows where a feature is largest."""
    far = np.unique(np.abs(linear.features).argmax(axis=0))
    kinds = np.arange(linear.right.shape[1])
    rows = linear.rows(theta, np.repeat(far, len(kinds)), np.tile(kinds, len(far)))
    return np.asarray(np.abs(rows).max(axis=0, initial=0.0))


def _within_rows(
    D: Array,
    x: Array,
    margins: Callable[[Array], Array],
    rows: Callable[[Indices], Rows],
    run: Run,
) -> Array:
    """Minimise ``|Dv - x|^2`` over ``Rv >= r``, with the rows that are broken on the way.

    Margins say for all rows by how much they hold. `DataError` is raised where some of them have no
    point.
    """
    cp = load_cvxpy()
    found = np.zeros(D.shape[1])
    more = MORE_ROWS * len(found)
    R, r, held = np.zeros((0, len(found))), np.zeros(0), np.zeros(0, dtype=np.intp)
    left = margins(found)
    if not len(found) and (left < -HOLDS).any():
        raise DataError("no parameter can move")
    broken = np.flatnonzero(left < np.inf)  # the first ones are the nearest
    if not len(found) or not len(broken):
        return found
    while True:
        new = broken[np.argsort(left[broken])[:more]]
        matrix, right = rows(new)
        R, r, held = np.vstack([R, matrix]), np.append(r, right), np.append(held, new)
        v = cp.Variable(len(found))
        problem = cp.Problem(cp.Minimize(cp.sum_squares(D @ v - x)), [R @ v >= r])
        try:
            solve(problem, "containment", QUADRATIC, run.clock)
        except SolverError as error:
            if problem.status not in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
                raise
            raise DataError("the rows contradict each other") from error
        found = _polished(D, x, R, r, np.asarray(v.value))
        left = margins(found)
        left[held] = np.inf
        broken = np.flatnonzero(left < -HOLDS)
        if not len(broken):
            return found


def _polished(D: Array, x: Array, R: Array, r: Array, found: Array) -> Array:
    """Return the optimum to the last digits, where the program is small.

    An interior point ends a little before it, the further the less a direction is determined. With
    y = Dv - x this is the point of least length over rows, which non-negative least squares finds
    (Lawson and Hanson, "Solving Least Squares Problems", chapter 23).
    """
    if R.size > SMALL:
        return found
    turned = solve_triangular(D, R.T, trans=1).T
    table = np.vstack([turned.T, r - turned @ x])
    try:
        weights = nnls(table, np.eye(1, len(table), len(table) - 1)[0])[0]
    except RuntimeError:  # too many iterations
        return found
    rest = table @ weights
    rest[-1] -= 1.0
    if not rest[-1] < 0.0:
        return found
    exact = np.asarray(solve_triangular(D, x - rest[:-1] / rest[-1]))
    dearer = np.linalg.norm(D @ exact - x) > (1.0 + HOLDS) * np.linalg.norm(D @ found - x)
    return found if dearer or (R @ exact < r - HOLDS).any() else exact
