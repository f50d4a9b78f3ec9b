r"""Regions that lie within known constraints as a whole, at every training signal.

.. math:: \min_\theta \; \|D\theta - x\|^2 \quad \text{s.t.} \quad R\theta \ge r

The rows R say what `contained_rows` says of each training signal. There may be millions of them and
few that matter: those are found by looking at all of them whenever a solution is there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import DataError, SolverError, UnsupportedError
from feaslearn.formulations.program import QUADRATIC, load_cvxpy, solve
from feaslearn.hypotheses.constrained import Constrained
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.known import KnownLimits
from feaslearn.losses import Objective, Predictability
from feaslearn.runs import Clock, OutOfTime
from feaslearn.runs.memory import check_memory
from feaslearn.trainers.contained_rows import Rows, linear_in_theta

Array = NDArray[np.float64]

#: Weight of staying where the fit without rows was: it decides what the data leave open.
STAY = 1e-6
#: Rows that are added to a program at once, for each parameter.
MORE_ROWS = 5
#: Rows violated by less than this, relative to the size of their numbers, hold.
HOLDS = 1e-9


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
    linear = linear_in_theta(known.hypothesis, objective.n_decisions, features.shape[1])
    count, n = samples.decisions.shape
    check_memory(
        count * len(theta) * (4.0 * n + 3.0 * linear.rows_of_a_sample(limits)),
        f"{count} samples of {n} decisions, each linear in {len(theta)} parameters,",
        "use fewer samples, or Known(inequalities='intersect')",
    )
    rows = linear.containment(theta, features, limits)
    samples = samples._replace(features=features, costs=limits.inner_costs(samples.costs))
    best: Array | None = None
    least = np.inf
    for _ in range(linear.rounds):
        design = _errors(linear.design(theta, samples), samples, limits)
        try:
            theta = _least_squares(
                design, rows, theta, linear.free(), known.hypothesis, objective.run.clock
            )
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
    design: Rows,
    rows: Rows,
    theta: Array,
    free: NDArray[np.intp],
    hypothesis: Hypothesis,
    clock: Clock,
) -> Array:
    """Minimise ``|D theta - x|^2`` over rows ``R theta >= r``, in the free parameters."""
    fixed = np.delete(np.arange(len(theta)), free)
    D, R = design.matrix[:, free], rows.matrix[:, free]
    x = design.right - design.matrix[:, fixed] @ theta[fixed]
    r = rows.right - rows.matrix[:, fixed] @ theta[fixed]
    # Parameters in units in which all of them matter alike: the solver counts digits.
    units = np.maximum(np.linalg.norm(D, axis=0), np.abs(R).max(axis=0, initial=0.0) / len(D))
    units = np.where(units > 0.0, units, 1.0)
    D, R, start = D / units, R / units, theta[free] * units
    lengths = np.abs(R).max(axis=1, keepdims=True)
    R, r = R / lengths, r / lengths[:, 0]
    stay = np.sqrt(STAY) * np.eye(len(free))
    D, x = np.vstack([D, stay]), np.concatenate([x, stay @ start])
    # As many equations as parameters say the same, but for a constant.
    triangle = np.asarray(np.linalg.qr(np.column_stack([D, x]), mode="r"))[: len(free)]
    try:
        found = _within_rows(triangle[:, :-1], triangle[:, -1], R, r, start, clock)
    except DataError:
        raise DataError(
            f"no region of {hypothesis!r} lies within the known constraints at all training "
            "signals; add features, or use Known(inequalities='intersect')"
        ) from None
    moved = theta.copy()
    moved[free] = found / units
    return moved


def _within_rows(D: Array, x: Array, R: Array, r: Array, found: Array, clock: Clock) -> Array:
    """Minimise ``|Dv - x|^2`` over ``Rv >= r``, with the rows that are broken on the way.

    `DataError` is raised where some of them have no point.
    """
    cp = load_cvxpy()
    more, sizes = MORE_ROWS * len(found), 1.0 + np.abs(r)
    held = np.zeros(len(r), dtype=bool)
    broken = np.ones(len(r), dtype=bool)  # the first ones are the nearest
    while True:
        worst = np.flatnonzero(broken)
        held[worst[np.argsort((R[worst] @ found - r[worst]) / sizes[worst])[:more]]] = True
        v = cp.Variable(len(found))
        problem = cp.Problem(cp.Minimize(cp.sum_squares(D @ v - x)), [R[held] @ v >= r[held]])
        try:
            solve(problem, "containment", QUADRATIC, clock)
        except SolverError as error:
            if problem.status not in (cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE):
                raise
            raise DataError("the rows contradict each other") from error
        found = np.asarray(v.value)
        broken = ~held & (R @ found < r - HOLDS * sizes)
        if not broken.any():
            return found
