"""Search by an integer program over flows, to which samples are added as they are needed."""

from __future__ import annotations

import numpy as np

from feaslearn.baselines.enumerated_network import equality_tolerance
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.losses.suboptimality import Suboptimality
from feaslearn.network.flow_program import FlowProgram
from feaslearn.network.integer_program import FloatArray, IntegerAnswer, Outcome, Rows, all_but
from feaslearn.network.search import Found, Limits, Network
from feaslearn.runs import Clock

#: Samples that are added at once, at the least and as a share of those already there.
FEWEST_ADDED, SHARE_ADDED = 4, 0.5


class FlowSearch:
    """Asks the program with few samples, measures the answer on all, adds those that disagree.

    A sample that is not in the program counts with what it costs in every network, so the program
    bounds the loss from below; the answer itself bounds it from above. A network that the program
    misjudges though all samples are there (rounding in the solver) is excluded by name, its exact
    loss remembered.

    Parameters
    ----------
    losses : NetworkLosses
        The samples and their loss.
    lazy : bool
        Whether samples are added as they are needed; otherwise all are there from the start.
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
            total = Rows(
                np.array([-np.inf]),
                np.array([allowed]),
                np.zeros(len(columns), dtype=np.int64),
                columns,
                np.ones(len(columns)),
            )
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
    ) -> IntegerAnswer:
        self.n_solves += 1
        return self.flows.program.solve(cost, limits.fixed, extra, clock.left, start)

    def _network(self, answer: IntegerAnswer) -> Network | None:
        if answer.values is None:
            return None
        return np.asarray(answer.values[: len(self.losses.candidates.lines)] > 0.5)

    def _left_out(self) -> float:
        """Return what the samples that are not in the program add to the mean loss at least."""
        inside = list(self.flows.samples)
        return float(
            (self._unavoidable.sum() - self._unavoidable[inside].sum()) / len(self._unavoidable)
        )

    def _learn(self, answer: IntegerAnswer, losses: FloatArray, points: FloatArray) -> bool:
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
    """Return what each sample costs in every network: all lines together allow the most.

    Parameters
    ----------
    losses : NetworkLosses
        The samples and their loss.

    Returns
    -------
    ndarray of shape (N,)
        The distance to the dispatches that the network of all lines allows.
    """
    free = losses.samples._replace(costs=np.zeros_like(losses.samples.costs))
    distance = Suboptimality("l2" if losses.is_squared else "l1")
    everything = np.ones(len(losses.candidates.lines), dtype=bool)
    return NetworkLosses(losses.candidates, free, distance).nearest(everything)[0]


def informative_samples(losses: NetworkLosses) -> list[int]:
    """Return the samples that say most about lines: far flows, and what all lines cannot explain.

    Parameters
    ----------
    losses : NetworkLosses
        The samples and their loss.

    Returns
    -------
    list of int
        A few samples.
    """
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
