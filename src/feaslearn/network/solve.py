"""Networks of least loss and, among these, of fewest lines."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from feaslearn.losses.suboptimality import Suboptimality
from feaslearn.network.cut_search import CutSearch
from feaslearn.network.cuts import find_tight_cuts
from feaslearn.network.enumerated_network import equality_tolerance
from feaslearn.network.flow import FlowProgram, price_levels
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.samples import dispatch_of
from feaslearn.network.search import (
    EnumerationSearch,
    FloatArray,
    Found,
    Limits,
    LineSearch,
    Network,
    Search,
    all_but,
    no_limits,
)
from feaslearn.results import Status, TrainingResult
from feaslearn.runs import Clock
from feaslearn.solvers.mip import Incumbent, Outcome, Rows
from feaslearn.tolerances import ACCEPT_TOL

Solver = Literal["auto", "milp", "enumeration"]

#: Enumeration is taken if it reads no more entries of cuts than this.
ENUMERATED_ENTRIES = 2**33
ENUMERATED_LOSSES = 2**25
#: Networks that tell how long one takes, and the share of a time limit that all of them may take.
LOOKED_AT, ENUMERATION_SHARE = 16, 0.5

#: Samples that are added at once, at the least and as a share of those already there.
FEWEST_ADDED, SHARE_ADDED = 4, 0.5


class Solved(NamedTuple):
    """A network, what is proved of it, and the search that can be asked more."""

    network: Network
    loss: float
    loss_bound: float
    lines_bound: float
    outcome: Outcome
    search: LineSearch


def solve(
    losses: NetworkLosses, solver: Solver, lazy: bool, sparsest: bool, clock: Clock
) -> Solved:
    """Find a network of least loss and, of these, one with the fewest lines."""
    if solver == "auto":
        exact = _solve_by_cuts(losses, sparsest, clock)
        if exact is not None:
            return exact
    search = general_search(losses, solver, lazy, clock)
    limits = no_limits(losses.candidates)
    least = search.least_loss(limits, clock)
    if least.network is None and (clock.interrupted or least.outcome == "interrupted"):
        raise KeyboardInterrupt
    network = least.network
    if network is None:
        # There was no time to find any: all lines together are a network too.
        network = np.ones(len(losses.candidates.lines), dtype=np.bool_)
    bound, outcome = max(0.0, least.bound), least.outcome
    lines_bound = float(losses.candidates.known.sum())
    if sparsest and least.network is not None and outcome != "interrupted":
        ones = np.ones(len(network))
        fewest = search.cheapest(ones, least.value, limits, clock)
        if fewest.network is not None and fewest.value < network.sum():
            network = fewest.network
        if outcome == "optimal":
            lines_bound = max(lines_bound, float(np.ceil(fewest.bound - ACCEPT_TOL)))
        outcome = outcome if outcome != "optimal" else fewest.outcome
    loss = float(losses.nearest(network)[0].mean())
    return Solved(network, loss, bound, lines_bound, outcome, search)


def general_search(losses: NetworkLosses, solver: Solver, lazy: bool, clock: Clock) -> Search:
    """Return the search that serves any loss."""
    candidates = losses.candidates
    n_networks = 2.0 ** np.count_nonzero(~candidates.known)
    n_losses = n_networks * losses.n_samples
    entries = n_losses * candidates.beyond.size
    small = n_losses <= ENUMERATED_LOSSES and entries <= ENUMERATED_ENTRIES
    if solver == "enumeration" or (solver == "auto" and small and _in_time(losses, clock)):
        return EnumerationSearch(losses, clock)
    return FlowSearch(losses, lazy)


def _in_time(losses: NetworkLosses, clock: Clock) -> bool:
    """Say whether all networks can be looked at in a part of the time, by looking at some."""
    networks = 2.0 ** np.count_nonzero(~losses.candidates.known)
    if not clock.limited or networks <= LOOKED_AT:
        return True
    before = clock.seconds
    losses.of(np.ones((LOOKED_AT, len(losses.candidates.lines)), dtype=np.bool_))
    return bool((clock.seconds - before) * networks / LOOKED_AT <= ENUMERATION_SHARE * clock.left)


def _solve_by_cuts(losses: NetworkLosses, sparsest: bool, clock: Clock) -> Solved | None:
    """Return a network of zero loss; None if there is none."""
    cuts = find_tight_cuts(losses, clock)
    if cuts is None:
        return None
    search = CutSearch(losses, cuts)
    limits = no_limits(losses.candidates)
    ones = np.ones(len(losses.candidates.lines))
    found = search.cheapest(ones if sparsest else 0.0 * ones, 0.0, limits, clock)
    if found.network is None:
        return None
    loss = float(losses.nearest(found.network)[0].mean())
    lines_bound = found.bound if sparsest else float(losses.candidates.known.sum())
    # No loss is negative, so a loss that cannot be told from zero is its own bound.
    bound = max(0.0, loss - equality_tolerance(losses))
    return Solved(found.network, loss, bound, lines_bound, found.outcome, search)


def training_result(
    name: str, losses: NetworkLosses, solved: Solved, clock: Clock
) -> TrainingResult:
    """Say how a network was learned."""
    costs, demands, decisions = losses.samples
    returned = dispatch_of(losses.candidates, solved.network, demands, costs)
    ties = [len(price_levels(prices)) < len(prices) - 1 for prices in costs]
    details = {"lines": float(solved.network.sum()), "lower bound on lines": solved.lines_bound}
    if isinstance(solved.search, FlowSearch):
        details["samples in the program"] = float(len(solved.search.flows.samples))
    warnings = []
    status: Status = "interrupted" if clock.interrupted else "time limit"
    if solved.outcome in ("optimal", "interrupted"):
        status = solved.outcome
    if status != "optimal":
        what = "the time ended" if status == "time limit" else "the fit was interrupted"
        warnings.append(f"{what} before the network was proved to be the best")
    if losses.n_samples == 1:
        warnings.append("one sample says little about lines; see identify()")
    return TrainingResult(
        status,
        name,
        solved.loss,
        float(losses.loss.lengths(returned - decisions).mean()),
        n_iter=solved.search.n_solves,
        seconds=clock.seconds,
        lower_bound=min(solved.loss, solved.loss_bound),
        tied_share=float(np.mean(ties)),
        details=details,
        warnings=warnings,
    )


# Search by an integer program over flows, to which samples are added as they are needed.


class FlowSearch:
    """Asks the program with few samples, measures the answer on all, adds those that disagree.

    A sample that is not in the program counts with what it costs in every network, so the program
    bounds the loss from below; the answer itself bounds it from above. A network that the program
    misjudges though all samples are there (rounding in the solver) is excluded by name, its exact
    loss remembered.
    """

    def __init__(self, losses: NetworkLosses, lazy: bool = True) -> None:
        self.losses = losses
        self.tolerance = equality_tolerance(losses)
        self.flows = FlowProgram(losses)
        self.n_solves = 0
        self._unavoidable = unavoidable_losses(losses)
        first = informative_samples(losses) if lazy else range(losses.n_samples)
        for sample in first:
            self.flows.add(int(sample))

    def least_loss(self, limits: Limits, clock: Clock) -> Found:
        """Return the network of least mean loss within the limits."""
        n = self.losses.n_samples
        best, value, bound = None, np.inf, float(self._unavoidable.mean())
        excluded: list[Rows] = []
        while True:
            extra = [*limits.rows(), *excluded]
            cost = np.zeros(self.flows.program.n_columns)
            cost[self.flows.loss_columns()] = 1.0 / n
            answer = self._solve(cost, limits, extra, clock, best)
            if answer.outcome == "infeasible":
                return Found("infeasible" if best is None else "optimal", best, value, value)
            # Networks that were excluded are no better than the best that was kept.
            bound = max(bound, min(value, answer.bound + self._left_out()))
            network = self._network(answer)
            if network is not None:
                losses, points = self.losses.nearest(network)
                if losses.mean() < value:
                    best, value = network, float(losses.mean())
            if value - bound <= self.tolerance:
                return Found("optimal", best, value, bound)
            if answer.outcome != "optimal" or network is None:
                ended: Outcome = "time limit" if answer.outcome == "optimal" else answer.outcome
                return Found(ended, best, value, bound)
            if not self._learn(answer, losses, points):
                excluded.append(all_but(network))

    def cheapest(
        self, weights: FloatArray, most_loss: float, limits: Limits, clock: Clock
    ) -> Found:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        n, bound = self.losses.n_samples, -np.inf
        excluded: list[Rows] = []
        while True:
            columns = self.flows.loss_columns()
            allowed = n * (most_loss + self.tolerance - self._left_out())
            total = Rows()
            total.row([(columns, 1.0)], upper=allowed)
            cost = np.zeros(self.flows.program.n_columns)
            cost[: len(weights)] = weights
            answer = self._solve(cost, limits, [*limits.rows(), *excluded, total], clock, None)
            bound = max(bound, answer.bound)
            network = self._network(answer)
            if network is not None:
                losses, points = self.losses.nearest(network)
                if losses.mean() <= most_loss + self.tolerance:
                    return Found(answer.outcome, network, float(weights @ network), bound)
            if answer.outcome != "optimal" or network is None:
                return Found(answer.outcome, None, np.inf, bound)
            if not self._learn(answer, losses, points):
                excluded.append(all_but(network))

    def _solve(
        self,
        cost: FloatArray,
        limits: Limits,
        extra: list[Rows],
        clock: Clock,
        start: Network | None,
    ) -> Incumbent:
        self.n_solves += 1
        return self.flows.program.best(cost, limits.fixed, extra, clock.left, start)

    def _network(self, answer: Incumbent) -> Network | None:
        if answer.values is None:
            return None
        return np.asarray(answer.values[: len(self.losses.candidates.lines)] > 0.5)

    def _left_out(self) -> float:
        """Return what the samples that are not in the program add to the mean loss at least."""
        inside = list(self.flows.samples)
        return float(
            (self._unavoidable.sum() - self._unavoidable[inside].sum()) / len(self._unavoidable)
        )

    def _learn(self, answer: Incumbent, losses: FloatArray, points: FloatArray) -> bool:
        """Add the samples that disagree most, and tangents; say whether there was anything."""
        disagree = losses - self._unavoidable
        disagree[list(self.flows.samples)] = 0.0
        wrong = np.flatnonzero(disagree > self.tolerance)
        most = max(FEWEST_ADDED, int(SHARE_ADDED * len(self.flows.samples)))
        added = wrong[np.argsort(-disagree[wrong], kind="stable")][:most]
        inside = list(self.flows.samples)
        for sample in added:
            self.flows.add(int(sample))
        learned = len(added) > 0
        if self.losses.is_squared and answer.values is not None:
            learned |= self._add_tangents(inside, answer.values, losses, points)
        return learned

    def _add_tangents(
        self, samples: list[int], values: FloatArray, losses: FloatArray, points: FloatArray
    ) -> bool:
        """Bound the squares that the program took for too small, by tangents at the true ones."""
        short = [
            sample
            for sample in samples
            if values[self.flows.samples[sample].loss].sum() < losses[sample] - self.tolerance
        ]
        for sample in short:
            residual = points[sample] - self.losses.samples.decisions[sample]
            excess = float(np.sqrt(max(0.0, losses[sample] - residual @ residual)))
            self.flows.add_tangents(sample, residual, excess)
        return len(short) > 0


def unavoidable_losses(losses: NetworkLosses) -> FloatArray:
    """Return what each sample costs in every network: all lines together allow the most."""
    free = losses.samples._replace(costs=np.zeros_like(losses.samples.costs))
    distance = Suboptimality("l2" if losses.is_squared else "l1")
    everything = np.ones(len(losses.candidates.lines), dtype=bool)
    return NetworkLosses(losses.candidates, free, distance).nearest(everything)[0]


def informative_samples(losses: NetworkLosses) -> list[int]:
    """Return the samples with far flows, and those that all lines cannot explain."""
    candidates = losses.candidates
    _, demands, decisions = losses.samples
    surplus = -demands
    for plant, node in enumerate(candidates.plants):
        surplus[:, node] += decisions[:, plant]
    far = np.abs(surplus).argmax(axis=0)
    everything = np.ones((1, len(candidates.lines)), dtype=bool)
    unexplained = losses.of(everything)[0]
    worst = np.argsort(-unexplained, kind="stable")[:FEWEST_ADDED]
    return sorted({*far.tolist(), *worst.tolist()})
