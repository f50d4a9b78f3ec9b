"""The search for the best region of listed points."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import UnsupportedError
from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.runs import Clock, OutOfTime
from feaslearn.trainers.canonical_view import CanonicalView
from feaslearn.trainers.mixed_integer.branch_and_bound import BranchAndBound
from feaslearn.trainers.mixed_integer.found import Found, Watch
from feaslearn.trainers.mixed_integer.listed_samples import ListedSamples
from feaslearn.trainers.mixed_integer.node_program import NodeProgram
from feaslearn.trainers.mixed_integer.starts import starts, with_margin
from feaslearn.trainers.progress import ProgressBar

Array = NDArray[np.float64]
logger = logging.getLogger("feaslearn")


def in_own_units(
    objective: Objective, watch: Watch, clock: Clock, search: Callable[[Objective], Found]
) -> Found:
    """Search in units and an order of columns of the samples' own, and end in those given.

    A search that ends before its proof depends on every digit on its way.
    """
    view = CanonicalView.of(objective)
    if view is None:
        return search(objective)
    watch.unit = view.unit ** (2 if objective.loss.norm == "l2" else 1)
    found = search(view.apply(objective))
    # The search saw rounded numbers: the same points are fitted to the numbers as they are.
    samples = ListedSamples.of(objective)
    tried = [samples.beta(view.revert(objective, found.theta))]
    tried.append(_least_squares(samples, tried[0]))
    with contextlib.suppress(OutOfTime):
        objective.run.check_time()
        exact = with_margin(samples, NodeProgram(samples, clock), tried[0])
        tried += [] if exact is None else [exact]
    beta = min(tried, key=samples.value)
    return found._replace(theta=samples.theta(beta), lower_bound=watch.unit * found.lower_bound)


def _least_squares(samples: ListedSamples, beta: Array) -> Array:
    """Fit the points that ``beta`` takes to the decisions, by the smallest step."""
    points = samples.prices(samples.predictions(beta)).argmin(axis=1)
    features = samples.psi[np.arange(len(points)), points]
    roots, fitted = np.sqrt(samples.weights), beta.copy()
    for j, seen in enumerate(samples.seen.T):
        missing = samples.known[seen, j] - features[seen] @ beta[:, j]
        table = roots[seen, None] * features[seen]
        fitted[:, j] += np.linalg.lstsq(table, roots[seen] * missing, rcond=None)[0]
    return fitted


def search_listed(
    objective: Objective,
    random: np.random.Generator,
    clock: Clock,
    watch: Watch,
    tol: float,
    max_iter: int | None,
    n_starts: int,
) -> Found:
    """Find good parameters by heuristics, then prove or improve them by branch and bound."""
    samples = ListedSamples.of(objective)
    if samples.priced and not samples.seen.all():
        raise UnsupportedError(
            "MixedInteger: the suboptimality of binary sets needs every decision observed; use "
            "Predictability, or drop the rows with NaN"
        )
    with ProgressBar("branch and bound, gap closed (%)", 100) as bar:

        def report(nodes: int, bound: float, value: float) -> bool:
            closed = 100.0 * bound / value if value > 0.0 else 100.0
            loss = samples.in_units(value)
            bar.update(int(closed), f"node {nodes}, loss {loss:.4g}")
            return watch.stops(nodes, samples.in_units(bound), loss)

        limit = max_iter if max_iter is not None else 2**62
        search = BranchAndBound(samples, tol, clock.out, limit, report, objective.run.clock)
        status: Status
        try:
            for beta in starts(samples, objective, random, n_starts):
                search.offer(beta)
                logger.debug("MixedInteger: start, loss %.6g", samples.in_units(search.value))
                if search.value <= search.zero or clock.out():
                    break
            status = search.run()
        except KeyboardInterrupt:
            if not search.best.size:
                raise
            status = "interrupted"
    bound = samples.in_units(search.lower_bound)
    watch.note(bound, samples.in_units(search.value))
    return Found(samples.theta(search.best), status, bound, search.nodes, watch.history)
