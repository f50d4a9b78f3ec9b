"""Networks of least loss, by an integer program over flows and cuts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.losses.suboptimality import Suboptimality
from feaslearn.network.candidates import CandidateLines
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.search import Limits, Network, NetworkProgram, SearchResult, excluding
from feaslearn.runs import Clock
from feaslearn.solvers.mip import Columns, Incumbent, Outcome, Rows
from feaslearn.tolerances import CAPACITY_TOL, TIE_TOL, TINY

#: Where the squares of a sample are first approximated from below, in units of their scale.
FIRST_TANGENTS = (-4.0, -1.5, -0.5, 0.5, 1.5, 4.0)
#: Rows on cuts in the first program.
MAX_CUT_ROWS = 300
#: Samples that are added at once, at the least and as a share of those in the program.
MIN_ADDED, ADDED_SHARE = 4, 0.5


class SampleColumns(NamedTuple):
    """The variables of one sample: what is measured, and what its loss is the sum of."""

    dispatch: Columns
    excess: Columns
    loss: Columns


class FlowProgram:
    r"""Rows that hold a network y to the samples it must explain.

    For each sample, with the plants ``S_k`` of the k lowest prices,

    .. math::
        E u = B z + d,\; |z_l| \le f_l y_l,\; 0 \le u \le C,\quad
        u(S_k) \ge d'\tau^k + C(S_k) - C'\tau^k + f'w^k,\quad
        w^k_l \ge |\tau^k_i - \tau^k_j| - (1 - y_l)

    The right-hand side is a fractional cut; the least of them is ``F_y(S_k)``, the most that the
    plants deliver, so ``u`` is optimal. It is the dual row of the dispatch taken apart by price
    levels: prices do not enter, so that two prices that almost agree do no harm. For suboptimality
    the same cuts bound the least cost, ``c_K d(V) - sum_k (c_{k+1} - c_k) F_y(S_k)``.
    """

    def __init__(self, losses: NetworkLosses) -> None:
        self.losses = losses
        self.program = NetworkProgram(len(losses.candidates.lines))
        self.samples: dict[int, SampleColumns] = {}
        self._scale = float(np.abs(losses.samples.decisions).mean()) / 4.0 or 1.0
        self.program.extend(serving_needs(losses))

    def loss_columns(self) -> Columns:
        """Return the variables whose sum is the loss of the samples that were added."""
        none = np.empty(0, dtype=np.intp)
        return np.concatenate([none, *(sample.loss for sample in self.samples.values())])

    def add(self, sample: int) -> None:
        """Add the rows of one sample."""
        losses, program = self.losses, self.program
        candidates = losses.candidates
        c, d, x = (table[sample] for table in losses.samples)
        u = program.columns(len(c), lower=0.0, upper=candidates.generator_capacity)
        _add_flows(program, candidates, u, d)
        levels = price_levels(c)
        cuts = [_add_cut(program, candidates, level, d) for level in levels]
        excess = np.empty(0, dtype=np.intp)
        if losses.is_predictability:
            for level, cut in zip(levels, cuts, strict=True):
                program.row([(u[level], 1.0), (cut.columns, -cut.factors)], lower=cut.constant)
        else:
            excess = program.columns(1, lower=0.0)
            _add_excess(program, levels, cuts, c, d, x, excess)
        loss = self._add_loss(u, excess, x)
        self.samples[sample] = SampleColumns(u, excess, loss)
        if losses.is_squared:
            for step in FIRST_TANGENTS:
                at = np.full(len(c), step * self._scale)
                self.add_tangents(sample, at, abs(step) * self._scale)

    def add_tangents(self, sample: int, residual: Array, excess: float) -> None:
        """Bound the squares from below by their tangents at a residual ``u - x``."""
        u, extra, loss = self.samples[sample]
        x = self.losses.samples.decisions[sample]
        g = residual
        terms = [(loss[: len(u)], 1.0), (u, -2.0 * g)]
        self.program.rows(len(u), terms, lower=-(g**2) - 2.0 * g * x)
        if len(extra):
            self.program.row([(loss[-1:], 1.0), (extra, -2.0 * excess)], lower=-(excess**2))

    def _add_loss(self, u: Columns, excess: Columns, x: Array) -> Columns:
        """Add the variables whose sum is the loss of a sample."""
        program = self.program
        if self.losses.is_squared:
            return program.columns(len(u) + len(excess), lower=0.0)
        over, under = (program.columns(len(u), lower=0.0) for _ in range(2))
        program.rows(len(u), [(u, 1.0), (over, -1.0), (under, 1.0)], lower=x, upper=x)
        return np.concatenate([over, under, excess])


class _Cut(NamedTuple):
    """``d'τ + C(S) - C'τ + f'w``, a fractional cut that bounds what the plants S deliver."""

    columns: Columns
    factors: Array
    constant: float


def _add_cut(program: NetworkProgram, candidates: CandidateLines, level: Indices, d: Array) -> _Cut:
    """Add the cut of the plants of a price level."""
    y = np.arange(len(candidates.lines))
    inside, crosses = (program.columns(size, lower=0.0, upper=1.0) for size in (len(d), len(y)))
    first, second = inside[candidates.ends].T
    for one, other in ((first, second), (second, first)):
        terms = [(crosses, 1.0), (one, -1.0), (other, 1.0), (y, -1.0)]
        program.rows(len(y), terms, lower=-1.0)
    output = np.zeros(len(d))
    np.add.at(output, candidates.plants[level], candidates.generator_capacity[level])
    factors = np.concatenate([d - output, candidates.line_capacity])
    return _Cut(np.concatenate([inside, crosses]), factors, float(output.sum()))


def _add_flows(
    program: NetworkProgram,
    candidates: CandidateLines,
    u: Columns,
    d: Array,
) -> None:
    """Add the flows that carry a dispatch to the demands, on lines of the network alone."""
    n_lines = len(candidates.lines)
    y = np.arange(n_lines)
    capacity = candidates.line_capacity
    z = program.columns(n_lines, lower=-capacity, upper=capacity)
    for node in range(len(d)):
        out, into = candidates.ends[:, 0] == node, candidates.ends[:, 1] == node
        at = u[candidates.plants == node]
        program.row([(at, 1.0), (z[out], -1.0), (z[into], 1.0)], lower=d[node], upper=d[node])
    for sign in (1.0, -1.0):
        program.rows(n_lines, [(z, sign), (y, -capacity)], upper=0.0)


def _add_excess(
    program: NetworkProgram,
    levels: list[Indices],
    cuts: list[_Cut],
    c: Array,
    d: Array,
    x: Array,
    excess: Columns,
) -> None:
    """Bound the excess cost ``c'x - [c_K d(V) - sum_k (c_{k+1} - c_k) cut_k]`` from above."""
    least = float(c @ x) - c.max() * d.sum()
    parts: list[tuple[Columns, Array]] = [(excess, np.ones(1))]
    for level, cut in zip(levels, cuts, strict=True):
        rest = np.setdiff1d(np.arange(len(c)), level)
        step = c[rest].min() - c[level].max()
        least += step * cut.constant
        parts.append((cut.columns, -step * cut.factors))
    program.row(parts, lower=least)


def price_levels(c: Array) -> list[Indices]:
    """Return the plants of the k lowest prices for every k but the last, equal prices together."""
    order = np.argsort(c, kind="stable")
    steps = np.flatnonzero(np.diff(c[order]) > TIE_TOL * np.abs(c).max())
    return [order[: step + 1] for step in steps]


def serving_needs(losses: NetworkLosses) -> Rows:
    """Return rows of every network that serves all samples: enough capacity into each set."""
    candidates = losses.candidates
    need = np.full(len(candidates.members), -np.inf)
    for d in losses.samples.demands:
        need = np.maximum(need, candidates.members @ d)
    need -= candidates.outside_capacity[-1, 0] - candidates.outside_capacity[-1]
    available = candidates.crossing @ candidates.line_capacity
    share = np.where(need > CAPACITY_TOL, need / np.maximum(available, TINY), 0.0)
    kept = np.argsort(-share, kind="stable")[:MAX_CUT_ROWS]
    rows = Rows()
    for T in kept[share[kept] > 0.0]:
        lines = np.flatnonzero(candidates.crossing[T])
        rows.row([(lines, candidates.line_capacity[lines])], lower=need[T] - CAPACITY_TOL)
    return rows


class FlowSearch:
    """Row generation: solve with few samples, measure on all, add those that disagree.

    A sample that is not in the program counts with what it costs in every network, so the program
    bounds the loss from below; the answer itself bounds it from above. A network that the program
    misjudges although all samples are in it (rounding in the solver) is excluded by a row, its
    exact loss remembered.
    """

    def __init__(self, losses: NetworkLosses, lazy: bool = True) -> None:
        self.losses = losses
        self.tolerance = losses.tolerance
        self.flows = FlowProgram(losses)
        self.n_solves = 0
        self._unavoidable = unavoidable_losses(losses)
        first = informative_samples(losses) if lazy else range(losses.n_samples)
        for sample in first:
            self.flows.add(int(sample))

    def least_loss(self, limits: Limits, clock: Clock) -> SearchResult:
        """Return the network of least mean loss within the limits."""
        best, value, bound = None, np.inf, float(self._unavoidable.mean())
        for answer, network, losses in self._answers(None, np.inf, limits, clock):
            if answer.outcome == "infeasible":
                return SearchResult("infeasible" if best is None else "optimal", best, value, value)
            # Networks that were excluded are no better than the best that was kept.
            bound = max(bound, min(value, answer.bound + self._left_out()))
            if network is not None and losses.mean() < value:
                best, value = network, float(losses.mean())
            if value - bound <= self.tolerance:
                return SearchResult("optimal", best, value, bound)
        ended: Outcome = "time limit" if answer.outcome == "optimal" else answer.outcome
        return SearchResult(ended, best, value, bound)

    def cheapest(
        self, weights: Array, most_loss: float, limits: Limits, clock: Clock
    ) -> SearchResult:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        bound, allowed = -np.inf, most_loss + self.tolerance
        for answer, network, losses in self._answers(weights, allowed, limits, clock):
            bound = max(bound, answer.bound)
            if network is not None and losses.mean() <= allowed:
                return SearchResult(answer.outcome, network, float(weights @ network), bound)
        return SearchResult(answer.outcome, None, np.inf, bound)

    def _answers(
        self, weights: Array | None, most_loss: float, limits: Limits, clock: Clock
    ) -> Iterator[tuple[Incumbent, Network | None, Array]]:
        """Yield answers of the program, with samples added in between, until one is not optimal.

        It minimises ``weights @ y``, by default the loss; beside each answer are its network and
        the true losses.
        """
        excluded: list[Rows] = []
        while True:
            columns, total = self.flows.loss_columns(), Rows()
            cost = np.zeros(self.flows.program.n_columns)
            if weights is None:
                cost[columns] = 1.0 / self.losses.n_samples
            else:
                cost[: len(weights)] = weights
                most = self.losses.n_samples * (most_loss - self._left_out())
                total.row([(columns, 1.0)], upper=most)
            self.n_solves += 1
            extra = [*limits.rows(), *excluded, total]
            answer = self.flows.program.best(cost, limits.fixed, extra, clock.left)
            if answer.values is None:
                yield answer, None, np.empty(0)
                return
            network = np.asarray(answer.values[: len(self.losses.candidates.lines)] > 0.5)
            losses, points = self.losses.nearest(network)
            yield answer, network, losses
            if answer.outcome != "optimal":
                return
            if not self._learn(answer.values, losses, points):
                excluded.append(excluding(network))

    def _left_out(self) -> float:
        """Return a bound on what samples outside of the program add to the mean loss."""
        inside = self._unavoidable[list(self.flows.samples)].sum()
        return float((self._unavoidable.sum() - inside) / len(self._unavoidable))

    def _learn(self, values: Array, losses: Array, points: Array) -> bool:
        """Add the samples that disagree most, and tangents; return whether any was added."""
        disagree = losses - self._unavoidable
        disagree[list(self.flows.samples)] = 0.0
        wrong = np.flatnonzero(disagree > self.tolerance)
        most = max(MIN_ADDED, int(ADDED_SHARE * len(self.flows.samples)))
        added = wrong[np.argsort(-disagree[wrong], kind="stable")][:most]
        inside = list(self.flows.samples)
        for sample in added:
            self.flows.add(int(sample))
        learned = len(added) > 0
        for sample in inside if self.losses.is_squared else ():
            # Squares that the program underestimates: tangents at the true ones bound them.
            if values[self.flows.samples[sample].loss].sum() < losses[sample] - self.tolerance:
                residual = points[sample] - self.losses.samples.decisions[sample]
                excess = float(np.sqrt(max(0.0, losses[sample] - residual @ residual)))
                self.flows.add_tangents(sample, residual, excess)
                learned = True
        return learned


def unavoidable_losses(losses: NetworkLosses) -> Array:
    """Return what each sample costs in every network: all lines together allow the most."""
    free = losses.samples._replace(costs=np.zeros_like(losses.samples.costs))
    distance = Suboptimality("l2" if losses.is_squared else "l1")
    everything = np.ones(len(losses.candidates.lines), dtype=bool)
    return NetworkLosses(losses.candidates, free, distance).nearest(everything)[0]


def informative_samples(losses: NetworkLosses) -> list[int]:
    """Return the samples with far flows, and those that all lines cannot explain."""
    candidates = losses.candidates
    _, demands, decisions = losses.samples
    far = np.abs(candidates.surplus(demands, decisions)).argmax(axis=0)
    unexplained = losses.nearest(np.ones(len(candidates.lines), dtype=bool))[0]
    worst = np.argsort(-unexplained, kind="stable")[:MIN_ADDED]
    return sorted({*far.tolist(), *worst.tolist()})
