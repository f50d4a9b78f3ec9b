r"""Proposition D.1 and Observation 3.8: binary sets, to global optimality.

With the binary simplex :math:`Z = \{z \in \{0, 1\}^p : e'z = 1\}`, predictability is

.. math::
    \min_{\theta, \gamma, z, \lambda} \sum_i w_i \|\gamma_i\| \quad \text{s.t.} \quad
    & x_i + \gamma_i = A(s_i) z_i + b(s_i), \quad e'z_i = 1, \quad z_i \in \{0, 1\}^p, \\
    & c_i'(x_i + \gamma_i) - c_i'b(s_i) + \lambda_i \le 0, \\
    & c_i'A(s_i) + \lambda_i e' \ge 0 \qquad \text{(the dual row)}

**The dual row must be an inequality**; the paper prints :math:`c_i'A(s_i) + \lambda_i e' = 0`. The
row is dual feasibility of :math:`\min \{c'A z : e'z = 1, z \ge 0\}`. Because z is not negative, it
is :math:`c'A_j \ge -\lambda` for every column j, and :math:`-\lambda` bounds the price of all
columns from below. The equality gives all columns one price at every training signal. A constant
map then has p equal columns as soon as n training costs are linearly independent (Example 3.2: any
two signals), and predicts one decision for all signals.

*What is solved here.* A binary z chooses a point :math:`m(i)` of the list :math:`w_1, w_2, \dots`,
and a :math:`\lambda_i` for the last two rows exists exactly where

.. math:: c_i'v_{i m(i)} \le c_i'v_{ij} \;\; \forall j, \qquad v_{ij} = A(s_i) w_j + b(s_i).

Branch and bound decides about the points, samples that are alike together, and columns that can
change places in one order only. With points fixed the problem is convex (`NodeProgram`): there are
no large constants, and bounds hold for all parameters. Suboptimality fixes the nearest point of
each sample instead. Every set that lists its points is served, not simplices alone.

Observation 3.8, that the binary and the continuous simplex have the same optimum, needs a unique
cheapest column for every signal at the optimum of the *continuous* problem. As printed it is false:
a counter-example has the losses 0.1667 and 0.0017.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from scipy.optimize import minimize

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, SolverError, UnsupportedError
from feaslearn.paper.descent import least_squares
from feaslearn.paper.enumerated import EnumeratedSamples, NodeProgram
from feaslearn.paper.problem import Clock, Found, OutOfTime, Problem, Status
from feaslearn.paper.regions import Affine, Maps
from feaslearn.tolerances import FEASIBILITY_TOL, NUDGE, SAME_TOL, ZERO_LOSS

logger = logging.getLogger("feaslearn")

Points = dict[int, int]

#: Nodes whose own loss is within this factor of the best are improved in full.
PROMISING = 1.2
#: Temperatures of the soft minimum, relative to the spread of the prices, from warm to cold.
TEMPERATURES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
#: Relative loss that may be paid to be away from ties.
FOR_THE_MARGIN = 1e-5
#: Programs with fixed points, each from the answer of the last.
ROUNDS = 20


def mixed_integer(
    problem: Problem,
    *,
    max_seconds: float | None = 60.0,
    tol: float = 1e-4,
    max_iter: int | None = None,
    n_starts: int = 10,
    seed: int = 0,
) -> Found:
    r"""Find the best region of listed points, and prove how good it is.

    Parameters
    ----------
    problem : Problem
        An `Affine` region of a set with ``binary=True``, and a loss with the squared l2, the l1 or
        the linf norm.
    max_seconds : float, default=60.0
        Limit on the wall time; None for none. The best parameters so far are returned.
    tol : float, default=1e-4
        Relative gap between loss and lower bound at which the search ends.
    max_iter : int, default=None
        Limit on the nodes.
    n_starts : int, default=10
        Random starts of the heuristics before the proof.
    seed : int, default=0
        Seed of the starts.

    Returns
    -------
    Found
        With a lower bound. A loss of zero is a proof by itself; parameters are kept away from ties
        where that costs less than the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> s = np.linspace(0.01, 0.99, 50)[:, None]
    >>> data = paper.Data(s, np.hstack([s < 0.5, s >= 0.5]), np.hstack([s, 1 - s]), [0])
    >>> region = paper.Affine(Simplex(2, binary=True))
    >>> found = paper.mixed_integer(paper.Problem.of(region, data))
    >>> found.status, round(found.objective, 6), found.lower_bound
    ('optimal', 0.0, 0.0)
    """
    check_listed(problem)
    check_norm(problem)
    check_gap(tol)
    samples = EnumeratedSamples.of(problem)
    if samples.priced and not samples.seen.all():
        raise UnsupportedError(
            "mixed_integer: the suboptimality of binary sets needs every decision observed; use "
            "Predictability, or drop the rows with NaN"
        )
    with Clock(max_seconds) as clock:
        search = BranchAndBound(samples, tol, clock, 2**62 if max_iter is None else max_iter)
        for beta in starts(samples, np.random.default_rng(seed), n_starts, clock):
            search.offer(beta)
            if search.value <= search.zero or clock.late():
                break
        status = search.run()
    search.note()
    theta = samples.theta(search.best)
    bound = samples.in_units(search.lower_bound)
    return bounded(problem, theta, status, bound, clock, search.nodes, search.history)


def check_listed(problem: Problem) -> None:
    """Refuse a class that is not a free affine image of a list of points."""
    region = problem.region
    if not isinstance(region, Affine) or not region.Z.discrete:
        raise UnsupportedError(
            f"mixed_integer: {region!r} has no binary points (Affine of a set with binary=True "
            "has; convex serves Scaled, ternary serves Ternary, bilinear the other Affine)"
        )


def check_norm(problem: Problem) -> None:
    """Refuse the l2 norm that is not squared, which programs of linear and squared terms lack."""
    if problem.loss.norm == "l2" and not problem.loss.squared:
        raise UnsupportedError(
            f"{problem.loss!r} is a length that is not squared (l1, linf and the squared l2 are "
            "served; algorithm1 takes any norm)"
        )


def check_gap(tol: float) -> None:
    """Refuse a gap that no search can close, or that every search has."""
    if not 0.0 < tol < 1.0:
        raise DataError(f"tol must be above 0 and below 1, not {tol!r}")


def bounded(
    problem: Problem,
    theta: Array,
    status: Status,
    bound: float,
    clock: Clock,
    n_iter: int = 1,
    history: Sequence[dict[str, float]] = (),
) -> Found:
    """Measure parameters by the loss itself; a bound is never above it, nor below zero."""
    value = problem.value(theta)
    bound = min(max(bound, 0.0), value)
    logger.info("%s, loss %.6g, lower bound %.6g", status, value, bound)
    return Found(problem, theta, value, status, bound, n_iter, clock.seconds, list(history))


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
    value: float = np.inf
    best: Array = field(default_factory=lambda: np.zeros((0, 0)))
    nodes: int = 0
    #: The least bound of a node that was left because nothing much better can be in it.
    floor: float = np.inf
    lower_bound: float = 0.0
    #: Loss and bound in the units of the data, wherever one of them changed.
    history: list[dict[str, float]] = field(default_factory=list)

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

    def note(self) -> None:
        """Record loss and bound where they have changed."""
        loss, bound = map(self.samples.in_units, (self.value, self.lower_bound))
        last = self.history[-1] if self.history else {}
        if (last.get("loss"), last.get("lower bound")) != (loss, bound):
            self.history.append({"seconds": self.clock.seconds, "loss": loss, "lower bound": bound})

    @property
    def target(self) -> float:
        """Bounds from here on prove that the best so far is good enough."""
        return self.value * (1.0 - self.tol) - self.zero

    def run(self) -> Status:
        """Search until the gap is closed or a limit is reached; zero is always a bound."""
        if self.value > self.zero and self.clock.late():
            return self.clock.status
        try:
            return self._searched()
        except OutOfTime:
            return self.clock.status

    def _searched(self) -> Status:
        heap = [self._solve({}, {})]
        while heap:
            self.lower_bound = max(0.0, min(heap[0].bound, self.floor, self.value))
            if self.value <= self.zero or heap[0].bound >= self.target:
                return "optimal"
            self.note()
            if self.clock.late():
                return self.clock.status
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
        images = samples.images(node.beta)
        distances = samples.distances(images)
        losses = samples.losses(images, distances)
        if float(samples.weights @ losses) < PROMISING * self.value:
            self.offer(node.beta)
        group, sample = self._most_wrong(node, losses, distances, images)
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
        self, node: Node, losses: Array, distances: Array, images: Array
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
        prices = samples.prices(images)
        own = prices[np.arange(len(prices)), points]
        broken = np.where(points >= 0, own - prices.min(axis=1), 0.0)
        sample = int(broken.argmax())
        return (None, sample) if broken[sample] > FEASIBILITY_TOL else (None, None)


# Good parameters before any proof: soft minimisers, cooled, and programs with fixed points.


def starts(
    samples: EnumeratedSamples, random: np.random.Generator, count: int, clock: Clock
) -> Iterator[Array]:
    """Yield matrices to begin from: clusters around the linear policy first, then random ones."""
    features, x, weights, Z = samples.features, samples.decisions, samples.weights, samples.Z
    policy = least_squares(features, x, weights)
    residuals = np.nan_to_num(x - features @ policy)
    if samples.interchangeable:
        A = np.zeros((*policy.shape, Z.dimension))
        A[0] = _clusters(residuals, weights, Z.dimension, random).T
        yield samples.matrix(Maps(A, policy))
    spread = np.sqrt(weights @ residuals**2)
    for _ in range(count):
        A = random.standard_normal((*policy.shape, Z.dimension)) * spread[:, None]
        yield _cooled(samples, samples.matrix(Maps(A, policy - A @ Z.center())), clock)


def _clusters(points: Array, weights: Array, p: int, random: np.random.Generator) -> Array:
    """Return p centres of groups of points, in turn where there are fewer points."""
    # Half a second that other searches need not wait for.
    from sklearn.cluster import KMeans

    groups, seed = min(p, len(points)), int(random.integers(2**31 - 1))
    with warnings.catch_warnings():
        # Fewer distinct points than groups: equal centres, which the search tells apart.
        warnings.simplefilter("ignore", UserWarning)
        found = KMeans(groups, n_init=1, random_state=seed).fit(points, sample_weight=weights)
    return np.asarray(found.cluster_centers_[np.arange(p) % groups])


def improved(program: NodeProgram, beta: Array) -> tuple[float, Array]:
    """Fix the points that ``beta`` itself takes, solve for the best parameters, and repeat."""
    # Each program holds the parameters before it, so that the loss never rises. The best parameters
    # lie where points tie; a margin keeps images away from there if there is room for one.
    samples = program.samples
    best, value = beta, samples.value(beta)
    for _ in range(ROUNDS):
        if program.clock.late():
            break
        try:
            solved = _with_margin(program, best)
        except OutOfTime:
            break
        reached = np.inf if solved is None else samples.value(solved)
        # What a margin costs is worth paying: the loss counts the nearest of tied points, but a
        # region returns the first.
        allowed = FOR_THE_MARGIN * max(value, 1e-3) if _close(samples, best) else 0.0
        if solved is None or reached > value + allowed:
            break
        gained = value - reached
        best, value = solved, reached
        if gained <= SAME_TOL * value:
            break
    return value, best


def _close(samples: EnumeratedSamples, beta: Array) -> bool:
    """Return whether a sample has two images at almost the same least price."""
    if samples.priced:
        return False
    images = samples.images(beta)
    prices = samples.prices(images)
    far = (prices > prices.min(axis=1, keepdims=True) + 0.5 * NUDGE)[:, :, None]
    high = np.where(far, -np.inf, images).max(axis=1)
    low = np.where(far, np.inf, images).min(axis=1)
    return bool((high - low > NUDGE).any())


def _with_margin(program: NodeProgram, beta: Array) -> Array | None:
    """Return the best parameters that keep the points of ``beta``, or None."""
    samples = program.samples
    images = samples.images(beta)
    distances = samples.distances(images)
    margins: tuple[float, ...] = (0.0,)
    nearest, chosen = dict[int, int](), dict[int, int]()
    if samples.priced:
        nearest = dict(zip(samples.groups.tolist(), distances.argmin(axis=1).tolist(), strict=True))
    else:
        prices = samples.prices(images)
        # Among points that almost tie, the nearest: their order is what a margin can decide.
        close = prices <= prices.min(axis=1, keepdims=True) + 10.0 * NUDGE
        points = np.where(close, distances, np.inf).argmin(axis=1)
        margins, chosen = (NUDGE, 0.0), dict(enumerate(points.tolist()))
    for margin in margins:
        with contextlib.suppress(SolverError):
            return program.solve(nearest, chosen, margin).beta
    return None


def _cooled(samples: EnumeratedSamples, beta: Array, clock: Clock) -> Array:
    """Minimise the squared loss of soft minimisers, at ever lower temperatures; keep the best."""
    best, value = beta, samples.value(beta)
    spread = float(np.ptp(samples.prices(samples.images(beta)), axis=1).mean()) or 1.0
    for temperature in TEMPERATURES:
        if clock.late():
            break
        answer = minimize(
            _soft,
            beta.ravel(),
            (samples, spread * temperature),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": 100},
        )
        beta = answer.x.reshape(beta.shape)
        reached = samples.value(beta)
        if reached < value:
            best, value = beta, reached
    return best


def _soft(flat: Array, samples: EnumeratedSamples, temperature: float) -> tuple[float, Array]:
    """Return the mean squared distance to points drawn with odds ``exp(-price / temperature)``."""
    images = samples.images(flat.reshape(samples.psi.shape[2], -1))
    prices = samples.prices(images)
    odds = np.exp((prices.min(axis=1, keepdims=True) - prices) / temperature)
    odds /= odds.sum(axis=1, keepdims=True)
    gaps = (images - samples.known[:, None, :]) * samples.seen[:, None, :]
    squares = (gaps**2).sum(axis=2)
    means = (odds * squares).sum(axis=1)
    priced = -odds * (squares - means[:, None]) / temperature
    slopes = 2.0 * odds[:, :, None] * gaps + priced[:, :, None] * samples.costs[:, None, :]
    weighted = slopes * samples.weights[:, None, None]
    gradient = np.einsum("imd,imn->dn", samples.psi, weighted)
    return float(samples.weights @ means), gradient.ravel()
