"""The search for the best region of enumerated points."""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import SolverError, UnsupportedError
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective
from feaslearn.results import Status
from feaslearn.runs import Clock, OutOfTime
from feaslearn.runs.progress import ProgressBar
from feaslearn.tolerances import FEASIBILITY_TOL, ZERO_LOSS
from feaslearn.trainers.mixed_integer.enumerated_samples import EnumeratedSamples
from feaslearn.trainers.mixed_integer.node_program import Found, NodeProgram, Watch
from feaslearn.trainers.mixed_integer.starts import improved, starts
from feaslearn.trainers.standardize import Standardization, place_and_unit

logger = logging.getLogger("feaslearn")

Points = dict[int, int]

#: Nodes whose own loss is within this factor of the best are improved in full.
PROMISING = 1.2


def search_enumerated(
    objective: Objective,
    random: np.random.Generator,
    watch: Watch,
    tol: float,
    max_iter: int | None,
    n_starts: int,
) -> Found:
    """Find good parameters by heuristics, then prove or improve them by branch and bound.

    With centred features of size one and centred decisions: programs measure what is small by the
    size of numbers, which an offset would hide.
    """
    standard, center = Standardization.of(objective), place_and_unit(objective.load())[0]
    centered = objective.samples.then(standard.rows).then(
        lambda block: block._replace(decisions=block.decisions - center)
    )
    objective, clock = replace(objective, samples=centered), objective.run.clock
    samples = EnumeratedSamples.of(objective)
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

        search = BranchAndBound(
            samples, tol, clock, 2**62 if max_iter is None else max_iter, report
        )
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
    hypothesis, theta = objective.maps(), samples.theta(search.best)
    A, b = hypothesis.maps(theta, objective.n_decisions, objective.n_features)
    moved = hypothesis.theta_of(Maps(A, np.vstack([b[:1] + center, b[1:]])))
    theta = standard.revert(objective, moved)
    return Found(theta, status, bound, search.nodes, watch.history)


# Branch and bound over the points of samples, with a convex program at every node.


@dataclass(order=True)
class Node:
    """Samples with their points, and the answer of the program with them."""

    bound: float
    index: int
    nearest: Points = field(compare=False)
    chosen: Points = field(compare=False)
    beta: Array = field(compare=False)


@dataclass
class BranchAndBound:
    """Best-first search: what the program of a node gets most wrong is decided next."""

    samples: EnumeratedSamples
    tol: float
    clock: Clock
    max_nodes: int
    report: Callable[[int, float, float], bool]
    value: float = np.inf
    best: Array = field(default_factory=lambda: np.zeros((0, 0)))
    nodes: int = 0
    #: The least bound of a node that was left because nothing much better can be in it.
    floor: float = np.inf
    lower_bound: float = 0.0

    def __post_init__(self) -> None:
        self.program = NodeProgram(self.samples, self.clock)
        self._order = count()
        spread = self.samples.known[self.samples.seen]
        self.zero = ZERO_LOSS * float(np.var(spread))

    def offer(self, beta: Array) -> None:
        """Take parameters that are better than the best so far, after improving them."""
        value, beta = improved(self.program, beta)
        if value < self.value:
            self.value, self.best = value, beta

    @property
    def target(self) -> float:
        """Bounds from here on prove that the best so far is good enough."""
        return self.value * (1.0 - self.tol) - self.zero

    def run(self) -> Status:
        """Search until the gap is closed or a limit is reached; zero is always a bound."""
        if self.value > self.zero and self.clock.out():
            return "time limit"
        try:
            return self._searched()
        except OutOfTime:
            return "time limit"

    def _searched(self) -> Status:
        heap = [self._solve({}, {})]
        while heap:
            self.lower_bound = max(0.0, min(heap[0].bound, self.floor, self.value))
            if self.value <= self.zero or heap[0].bound >= self.target:
                return "optimal"
            if self.report(self.nodes, self.lower_bound, self.value):
                return "stopped by callback"
            if self.clock.out():
                return "time limit"
            if self.nodes >= self.max_nodes:
                return "iteration limit"
            for child in self._branch(heapq.heappop(heap)):
                if child.bound < self.target:
                    heapq.heappush(heap, child)
                else:
                    self.floor = min(self.floor, child.bound)
        self.lower_bound = max(0.0, min(self.floor, self.value))
        return "optimal"

    def _solve(self, nearest: Points, chosen: Points) -> Node:
        self.nodes += 1
        bound, beta = self.program.solve(nearest, chosen)
        return Node(bound, next(self._order), nearest, chosen, beta)

    def _branch(self, node: Node) -> list[Node]:
        """Return the children of a node; none if its own answer is as good as its bound."""
        samples = self.samples
        predictions = samples.predictions(node.beta)
        distances = samples.distances(predictions)
        losses = samples.losses(predictions, distances)
        if float(samples.weights @ losses) < PROMISING * self.value:
            self.offer(node.beta)
        group, sample = self._most_wrong(node, losses, distances, predictions)
        if group is None and sample is None:
            self.floor = min(self.floor, node.bound)
            return []
        children = []
        for point in self._points(node):
            nearest, chosen = dict(node.nearest), dict(node.chosen)
            if group is not None:
                nearest[group] = point
            elif sample is not None:
                chosen[sample] = point
            try:
                child = self._solve(nearest, chosen)
            except SolverError:
                # What holds above holds below; the search continues from there.
                child = Node(node.bound, next(self._order), nearest, chosen, node.beta)
            # A program with more rows has no smaller optimum, whatever the solver's last digits.
            child.bound = max(child.bound, node.bound)
            children.append(child)
        return children

    def _points(self, node: Node) -> range:
        """Return the points to try; of columns that nobody has yet, the first stands for all."""
        if not self.samples.interchangeable:
            return range(self.samples.n_points)
        used = max([*node.nearest.values(), *node.chosen.values()], default=-1)
        return range(min(used + 2, self.samples.n_points))

    def _most_wrong(
        self, node: Node, losses: Array, distances: Array, predictions: Array
    ) -> tuple[int | None, int | None]:
        """Return the group whose samples cost most and count nothing, or a sample, or neither."""
        # Groups come first. Of samples whose group has a nearest point, the one is taken that finds
        # another point cheapest by most: rows that are broken by far move the program most.
        samples = self.samples
        decided = np.isin(samples.groups, list(node.nearest))
        decided[list(node.chosen)] = True
        cost = distances.min(axis=1) if samples.priced else losses
        by_group = np.bincount(samples.groups, np.where(decided, 0.0, samples.weights * cost))
        group = int(by_group.argmax())
        if by_group[group] > 1e-3 * self.tol * self.value:
            members = np.flatnonzero(samples.groups == group)
            # A group of one needs no nearest point before its chosen one.
            if len(members) == 1 and not samples.priced:
                return None, int(members[0])
            return group, None
        if samples.priced:
            return None, None
        points = np.array([node.nearest.get(int(g), -1) for g in samples.groups])
        points[list(node.chosen)] = -1
        prices = samples.prices(predictions)
        own = prices[np.arange(len(prices)), points]
        broken = np.where(points >= 0, own - prices.min(axis=1), 0.0)
        sample = int(broken.argmax())
        return (None, sample) if broken[sample] > FEASIBILITY_TOL else (None, None)
