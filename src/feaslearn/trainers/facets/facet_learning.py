"""The trainer that learns facets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data import Block
from feaslearn.exceptions import DataError
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.known import KnownLimits
from feaslearn.messages import list_first, row_number
from feaslearn.parameters import NOT_NEGATIVE, Constraints, Either
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.solvers.small_lp_kernels import OPTIMAL
from feaslearn.tolerances import DECISION_TOL, LSTSQ_TOL, SAME_TOL, SPARSITY_RIDGE, TINY
from feaslearn.trainers.facets.exceptional import exceptional_rows
from feaslearn.trainers.facets.learn import learn_facets
from feaslearn.trainers.facets.noisy import learn_noisy
from feaslearn.trainers.facets.rows import Learned, Task
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.trainer import Trained, Trainer, measured

#: Savings beyond so many standard deviations of the errors contradict another decision.
CLEARLY = 5.0
#: Rows that a warning names.
NAMED = 10
#: Decimal places in which features must agree to be the same signal.
SAME_SIGNAL = 9
#: Rows of one signal that are compared with all others of it.
MOST_COMPARED = 1000


@dataclass(eq=False, repr=False)
class FacetLearning(Trainer):
    r"""Learn facets from "every cheaper point must be infeasible".

    Decisions show whether they are exact, rounded to a grid or noisy. Exact ones: equalities are
    combinations that are affine in the signals, bounds the extremes seen. A row is explained if it
    is optimal in the region so far, :math:`-c_i \in \mathrm{span} E' + \mathrm{cone} A'`, A the
    outward normals of what is active at :math:`x_i`; the facets that unexplained rows lack are
    hyperplanes :math:`a'x = f'\phi(s)` that no row crosses and that many unexplained rows lie on.
    Where the rows on one determine it, it is solved for; otherwise the member of least norm that
    keeps its rows optimal is taken. The search ends when every row is explained or no further facet
    is found. Noisy decisions: the same with a tolerance, each facet confirmed on held-out rows.

    Parameters
    ----------
    noise : float or "auto", default="auto"
        Standard deviation of the noise on decisions, in units of their spread; "auto" reads it
        from the data.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> result = model.fit(data.signals, data.decisions).result_
    >>> result.status, result.data, result.details["unexplained share"]
    ('converged', 'exact', 0.0)
    """

    uses_known = True

    noise: float | str = "auto"

    parameter_constraints: ClassVar[Constraints] = {"noise": Either("auto", NOT_NEGATIVE)}

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what is not a facet hypothesis."""
        if isinstance(objective.hypothesis, Facets):
            return []
        return [f"{objective.hypothesis!r} has no facets; Facets has"]

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Learn a region from the complete rows."""
        run = objective.run
        hypothesis = cast(Facets, without_known(objective.hypothesis))
        whole, known = _rows_of(objective)
        complete = complete_rows(whole)
        if not complete.any():
            raise DataError(
                "FacetLearning: there is no complete row; facets are learned from those"
            )
        rows = Block(*(np.ascontiguousarray(part[complete]) for part in whole))
        known = None if known is None else known.rows(complete)
        bounds, balance = _given(hypothesis, rows)
        if known is not None and not objective.drawn:
            _refuse_empty(bounds, hypothesis, rows, known, complete)

        task = Task(
            *rows[:3],
            random,
            run.late,
            rows.weights / rows.weights.mean(),
            known,
            bounds,
            balance,
            hypothesis.max_facets,
        )
        learned, odd = self._learn(task)
        region = _exact_bounds(learned.rows, rows.decisions[~odd], bounds)
        theta = hypothesis.theta_of_rows(region)
        trained = measured(self, objective, theta, run.ended() if run.late() else "converged")
        result = trained.result
        result.n_iter, result.data = len(learned.kind), learned.data
        result.details["unexplained share"] = float(learned.unexplained.mean())
        if learned.error:
            result.details["error of decisions"] = learned.error
        if not learned.told:
            result.details["errors are a guess"] = 1.0
            result.warnings.append(
                "nothing in the data tells how large the errors of decisions are, so no limit "
                "counts as seen: give Facets' trainer the noise, or known=Known(...) a balance"
            )
        result.exceptional = [int(place) for place in np.flatnonzero(complete)[odd]]
        if odd.any():
            named = list_first(
                [str(row_number(i)) for i in result.exceptional[:NAMED]], int(odd.sum())
            )
            result.warnings.append(
                f"decisions add up in {int((~odd).sum())} of {len(odd)} rows; not in rows {named}, "
                "which were left out as exceptional"
            )
        if not objective.drawn:  # rows are named
            result.warnings += _contradictions(rows, np.flatnonzero(complete), learned.error)
        return trained

    def _learn(self, task: Task) -> tuple[Learned, Mask]:
        """Return what is learned from all rows but exceptional ones, and which these are."""
        odd = np.zeros(len(task.decisions), bool)
        if task.balance is None:
            odd = exceptional_rows(task.features, task.costs, task.decisions)
        learned = self._learn_sound(task.rows(np.flatnonzero(~odd)) if odd.any() else task)
        unexplained = np.ones(len(odd), bool)
        unexplained[~odd] = learned.unexplained
        return learned._replace(unexplained=unexplained), odd

    def _learn_sound(self, task: Task) -> Learned:
        """Learn exact rows, or noisy ones where the data or the user say so."""
        first, second = (replace(task, random=each) for each in task.random.spawn(2))
        exact = None
        if self.noise == "auto" or not self.noise:
            exact = learn_facets(first, self.noise != "auto")
        noise = None if self.noise == "auto" else float(self.noise)
        return learn_noisy(second, noise) if exact is None else exact


def complete_rows(block: Block) -> Mask:
    """Say which rows facets are learned from: those that count, with every decision observed."""
    return ~np.isnan(block.decisions).any(axis=1) & (block.weights > 0.0)


def contradicting_pair(rows: Block, tolerance: float) -> tuple[int, int] | None:
    """Return the first complete rows i, j of equal features with ``c_i'x_j < c_i'x_i``.

    Decisions count in units of their spread, costs have length one in these; savings up to
    ``tolerance`` do not count.
    """
    features, decisions = rows.features, rows.decisions
    spread = decisions.std(axis=0)
    spread = np.where(spread > SAME_TOL * spread.max(initial=0.0), spread, max(spread.max(), 1.0))
    x, costs = (decisions - decisions.mean(axis=0)) / spread, rows.costs * spread
    costs = costs / np.maximum(np.linalg.norm(costs, axis=1, keepdims=True), TINY)
    scale = np.maximum(np.abs(features).max(axis=0), TINY)
    keys = (features / scale).round(SAME_SIGNAL) + 0.0
    _, group, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(group.ravel(), kind="stable")
    found = []
    for same in np.split(order, np.cumsum(counts)[:-1]):
        if len(same) > 1:
            some = same[:MOST_COMPARED]
            spent = (costs[some] * x[some]).sum(axis=1, keepdims=True)
            gains = spent - costs[some] @ x[same].T
            better = np.flatnonzero((gains > tolerance).any(axis=1))[:1]
            found += [(int(same[i]), int(same[np.argmax(gains[i])])) for i in better]
    return min(found, default=None)


def _rows_of(objective: Objective) -> tuple[Block, KnownLimits | None]:
    """Return all samples of an objective, and what is known of them."""
    whole = objective.load()
    if objective.known is None:
        return whole, None
    features, known = objective.known.split(whole.features)
    return whole._replace(features=features), known


def _given(hypothesis: Facets, rows: Block) -> tuple[tuple[Array, Array] | None, Array | None]:
    """Return bounds (n, k) and equalities (q, n) that the hypothesis asks for; None: find them."""
    n, k = rows.decisions.shape[1], rows.features.shape[1]
    hypothesis.check(n)
    balance = hypothesis.given_balance(n)
    if hypothesis.bounds == "data":
        return None, balance
    if hypothesis.bounds == "affine":
        return _affine_bounds(rows), balance
    sides = np.zeros((2, n, k))
    sides[:, :, 0] = hypothesis.given_bounds(n)
    return (sides[0], sides[1]), balance


def _affine_bounds(rows: Block) -> tuple[Array, Array]:
    """Return the bounds (n, k), affine in the features, that lie closest to the decisions.

    For each decision and side, the affine function that is nowhere beyond a decision and has the
    least mean distance to them: one linear program.
    """
    features, weights = rows.features, rows.weights / rows.weights.sum()
    n, k = rows.decisions.shape[1], features.shape[1]
    spread = np.where(features.std(axis=0) > 0.0, features.std(axis=0), 1.0)
    scaled = features / spread
    # Slopes are split by sign, so that their size has a price.
    both = np.hstack([scaled, -scaled])
    flat = np.full(2 * k, SPARSITY_RIDGE)
    flat[[0, k]] = 0.0
    bounds, none = np.zeros((2, n, k)), np.zeros(2 * k)
    for side, sign in enumerate((1.0, -1.0)):
        for j in range(n):
            values = sign * rows.decisions[:, j]
            size = max(float(np.abs(values).max()), TINY)
            cost = flat - weights @ both
            program = CheckedProgram(cost, none, none + np.inf, A=both, b=values / size)
            found = program.solve("bounds").point
            slopes = size * (found[:k] - found[k:]) / spread
            slopes[0] += min(0.0, float((values - features @ slopes).min()))
            bounds[side, j] = sign * slopes
    return bounds[0], bounds[1]


def _exact_bounds(
    rows: FacetRows, decisions: Array, bounds: tuple[Array, Array] | None
) -> FacetRows:
    """Return rows with bounds that were given, or seen, as they were to the last digit."""
    if bounds is not None:
        return rows._replace(lower=bounds[0], upper=bounds[1])
    near = SAME_TOL * np.maximum(np.ptp(decisions, axis=0), np.abs(decisions).max(axis=0))
    lower, upper = rows.lower.copy(), rows.upper.copy()
    for side, ends in ((lower, decisions.min(axis=0)), (upper, decisions.max(axis=0))):
        # What was seen, and zero, stands for what differs from it by rounding.
        for exact in (ends, np.zeros_like(ends)):
            same = np.abs(side[:, 0] - exact) <= near
            side[same, 0] = exact[same]
    return rows._replace(lower=lower, upper=upper)


def _refuse_empty(
    bounds: tuple[Array, Array] | None,
    hypothesis: Facets,
    rows: Block,
    known: KnownLimits,
    complete: Mask,
) -> None:
    """Refuse known constraints that contradict given bounds or equalities, naming the rows."""
    n, k = rows.decisions.shape[1], rows.features.shape[1]
    balance = hypothesis.given_balance(n)
    if bounds is None and balance is None:
        return
    none: tuple[Array, Array] = np.zeros((0, n)), np.zeros((0, k))
    wide = np.zeros((n, k))
    wide[:, 0] = 10.0 * np.abs(rows.decisions).max(axis=0) + 1.0
    sides = bounds if bounds is not None else (-wide, wide)
    E, e = none
    if balance is not None and len(balance):
        E = np.asarray(balance)
        e = np.asarray(np.linalg.lstsq(rows.features, rows.decisions @ E.T, rcond=LSTSQ_TOL)[0].T)
    start = FacetRows(*map(np.ascontiguousarray, (E, e, *sides, *none)))
    empty = np.flatnonzero(start.solve(rows.features, rows.costs, known).status != OPTIMAL)
    if len(empty):
        places = [f"row {row_number(row)}" for row in np.flatnonzero(complete)[empty[:5]]]
        raise DataError(
            "FacetLearning: no region with the bounds and the balance of Facets satisfies the "
            f"known constraints at {list_first(places, len(empty))}; give one of them only"
        )


def _contradictions(rows: Block, places: Indices, error: float) -> list[str]:
    """Name the first pair of decisions that cannot both be optimal."""
    pair = contradicting_pair(rows, max(DECISION_TOL, CLEARLY * error))
    if pair is None:
        return []
    i, j = pair
    saved = float(rows.costs[i] @ (rows.decisions[i] - rows.decisions[j]))
    first, second = row_number(places[i]), row_number(places[j])
    return [
        f"rows {first} and {second} have the same features, but at the prices of row {first} the "
        f"decision of row {second} costs {saved:.4g} less: they cannot both be optimal in one "
        "region; is a signal missing that the region depends on, or a cost wrong?"
    ]
