r"""Appendix G, equations (27) and (28): Problem 2 as a mixed-integer linear program.

One binary ``y_l`` says whether candidate line ``l`` is there, however many the samples. For each
sample, with ``u`` the dispatch, ``z`` the flows and ``S_k`` the plants of the k lowest prices,

.. math::
    E u = B z + d,\; |z_l| \le f_l y_l,\; 0 \le u \le C,\quad
    u(S_k) \ge d'\tau^k + C(S_k) - C'\tau^k + f'w^k,\quad
    w^k_l \ge |\tau^k_i - \tau^k_j| - (1 - y_l),\; 0 \le \tau^k, w^k \le 1

The right-hand side is a fractional cut; the least of them is ``F_y(S_k)``, the most that the plants
``S_k`` deliver, so ``u`` is optimal. This is the dual row of the dispatch,

.. math::
    c'u \le \pi'd - C'\psi - f'w,\quad \psi_k \ge \pi_{r(k)} - c_k,\quad
    w_l \ge |\pi_i - \pi_j| - M (1 - y_l)

taken apart by price levels: prices do not enter, so that two prices that almost agree do no harm.
For suboptimality the same cuts bound the least cost,
``c_K d(V) - sum_k (c_{k+1} - c_k) F_y(S_k)``.

Beside the paper: its dual row has wrong signs and holds for every network; its ``A in {0, 1}``
describes no flow (see `transport`). The rows assume that demands are not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.paper.mip import Columns, Incumbent, MixedIntegerProgram, Outcome, Rows
from feaslearn.paper.network.losses import NetworkLosses
from feaslearn.paper.network.transport import price_levels
from feaslearn.paper.problem import Clock
from feaslearn.tolerances import CAPACITY_TOL, HIGHS_TOL, TINY

#: Rows on cuts in the first program.
MAX_CUT_ROWS = 300
#: Samples that are added at once, at the least and as a share of those in the program.
MIN_ADDED, ADDED_SHARE = 4, 0.5


class SearchResult(NamedTuple):
    """The incumbent of a search, its value and a bound on the optimal one."""

    outcome: Outcome
    network: Mask | None
    value: float
    bound: float


class _Cut(NamedTuple):
    """``d'τ + C(S) - C'τ + f'w``, a fractional cut that bounds what the plants S deliver."""

    columns: Columns
    factors: Array
    constant: float


class FlowProgram:
    """The rows of the samples that were added, and the columns of their losses."""

    def __init__(self, losses: NetworkLosses) -> None:
        self.losses, self.candidates = losses, losses.candidates
        self.program = MixedIntegerProgram("network")
        self.lines = self.program.columns(
            len(self.candidates.lines), lower=0.0, upper=1.0, integer=True
        )
        self.samples: dict[int, Columns] = {}
        self.program.extend(serving_needs(losses))

    def add(self, sample: int) -> None:
        """Add the rows of one sample."""
        losses, program = self.losses, self.program
        c, d, x = losses.costs[sample], losses.demands[sample], losses.decisions[sample]
        u = program.columns(len(c), lower=0.0, upper=self.candidates.generator_capacity)
        self._add_flows(u, d)
        groups = price_levels(c)
        levels = [np.concatenate(groups[:k]) for k in range(1, len(groups))]
        cuts = [self._add_cut(level, d) for level in levels]
        excess = np.empty(0, dtype=np.intp)
        if losses.loss == "predictability":
            for level, cut in zip(levels, cuts, strict=True):
                program.row([(u[level], 1.0), (cut.columns, -cut.factors)], lower=cut.constant)
        else:
            excess = self._add_excess(levels, cuts, sample)
        over, under = (program.columns(len(u), lower=0.0) for _ in range(2))
        program.rows(len(u), [(u, 1.0), (over, -1.0), (under, 1.0)], lower=x, upper=x)
        self.samples[sample] = np.concatenate([over, under, excess])

    def best(self, cost: Array, extra: list[Rows], clock: Clock) -> Incumbent:
        """Solve with rows that hold this time only."""
        return self.program.solve(
            cost,
            seconds=clock.left,
            extra=extra,
            feasible=False,
            mip_rel_gap=0.0,
            mip_abs_gap=HIGHS_TOL,
            dual_feasibility_tolerance=HIGHS_TOL,
        )

    def _add_flows(self, u: Columns, d: Array) -> None:
        """Add the flows that carry a dispatch to the demands, on lines of the network alone."""
        candidates, program = self.candidates, self.program
        capacity = candidates.line_capacity
        z = program.columns(len(capacity), lower=-capacity, upper=capacity)
        for node in range(len(d)):
            out, into = candidates.ends[:, 0] == node, candidates.ends[:, 1] == node
            at = u[candidates.plant_nodes == node]
            program.row([(at, 1.0), (z[out], -1.0), (z[into], 1.0)], lower=d[node], upper=d[node])
        for sign in (1.0, -1.0):
            program.rows(len(capacity), [(z, sign), (self.lines, -capacity)], upper=0.0)

    def _add_cut(self, level: Indices, d: Array) -> _Cut:
        """Add the cut of the plants of the lowest prices."""
        candidates, program, y = self.candidates, self.program, self.lines
        inside, crosses = (program.columns(size, lower=0.0, upper=1.0) for size in (len(d), len(y)))
        first, second = inside[candidates.ends].T
        for one, other in ((first, second), (second, first)):
            terms = [(crosses, 1.0), (one, -1.0), (other, 1.0), (y, -1.0)]
            program.rows(len(y), terms, lower=-1.0)
        output = np.zeros(len(d))
        np.add.at(output, candidates.plant_nodes[level], candidates.generator_capacity[level])
        factors = np.concatenate([d - output, candidates.line_capacity])
        return _Cut(np.concatenate([inside, crosses]), factors, float(output.sum()))

    def _add_excess(self, levels: list[Indices], cuts: list[_Cut], sample: int) -> Columns:
        """Bound the excess cost ``c'x - [c_K d(V) - sum_k (c_{k+1} - c_k) cut_k]`` from above."""
        losses, excess = self.losses, self.program.columns(1, lower=0.0)
        c = losses.costs[sample]
        least = float(c @ losses.decisions[sample]) - c.max() * losses.demands[sample].sum()
        parts: list[tuple[Columns, Array]] = [(excess, np.ones(1))]
        for level, cut in zip(levels, cuts, strict=True):
            rest = np.setdiff1d(np.arange(len(c)), level)
            step = c[rest].min() - c[level].max()
            least += step * cut.constant
            parts.append((cut.columns, -step * cut.factors))
        self.program.row(parts, lower=least)
        return excess


def row_of_lines(factors: Array, lower: float = -np.inf, upper: float = np.inf) -> Rows:
    """Return one row over the lines."""
    rows = Rows()
    rows.row([(np.arange(len(factors)), factors)], lower, upper)
    return rows


def serving_needs(losses: NetworkLosses) -> Rows:
    """Return rows of every network that serves all samples: enough capacity into each set."""
    candidates = losses.candidates
    need = (candidates.node_sets @ losses.demands.T).max(axis=1)
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
        self.losses, self.flows, self.n_solves = losses, FlowProgram(losses), 0
        self._unavoidable = losses.unavoidable()
        for sample in self._informative() if lazy else range(losses.n_samples):
            self.flows.add(int(sample))

    def least_loss(self, clock: Clock) -> SearchResult:
        """Return the network of least mean loss."""
        best, value, bound = None, np.inf, float(self._unavoidable.mean())
        for answer, network, losses in self._answers(None, np.inf, [], clock):
            if answer.outcome == "infeasible":
                return SearchResult("infeasible" if best is None else "optimal", best, value, value)
            # Networks that were excluded are no better than the best that was kept.
            bound = max(bound, min(value, answer.bound + self._left_out()))
            if network is not None and losses.mean() < value:
                best, value = network, float(losses.mean())
            if value - bound <= self.losses.tolerance:
                return SearchResult("optimal", best, value, bound)
        ended: Outcome = "time limit" if answer.outcome == "optimal" else answer.outcome
        return SearchResult(ended, best, value, bound)

    def cheapest(
        self, weights: Array, most_loss: float, extra: list[Rows], clock: Clock
    ) -> SearchResult:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        bound, allowed = -np.inf, most_loss + self.losses.tolerance
        for answer, network, losses in self._answers(weights, allowed, extra, clock):
            bound = max(bound, answer.bound)
            if network is not None and losses.mean() <= allowed:
                return SearchResult(answer.outcome, network, float(weights @ network), bound)
        return SearchResult(answer.outcome, None, np.inf, bound)

    def _answers(
        self, weights: Array | None, most_loss: float, extra: list[Rows], clock: Clock
    ) -> Iterator[tuple[Incumbent, Mask | None, Array]]:
        """Yield answers of the program, with samples added in between, until one is not optimal.

        It minimises ``weights @ y``, by default the loss; beside each answer are its network and
        the true losses.
        """
        excluded: list[Rows] = []
        lines = self.flows.lines
        while True:
            columns, total = np.concatenate([lines[:0], *self.flows.samples.values()]), Rows()
            cost = np.zeros(self.flows.program.n_columns)
            if weights is None:
                cost[columns] = 1.0 / self.losses.n_samples
            else:
                cost[lines] = weights
                most = self.losses.n_samples * (most_loss - self._left_out())
                total.row([(columns, 1.0)], upper=most)
            self.n_solves += 1
            answer = self.flows.best(cost, [*extra, *excluded, total], clock)
            if answer.values is None:
                yield answer, None, np.empty(0)
                return
            network = np.asarray(answer.values[lines] > 0.5)
            losses = self.losses.of_one(network)
            yield answer, network, losses
            if answer.outcome != "optimal":
                return
            if not self._add_wrong(losses):
                factors = np.where(network, -1.0, 1.0)
                excluded.append(row_of_lines(factors, lower=1.0 - float(network.sum())))

    def _left_out(self) -> float:
        """Return a bound on what samples outside of the program add to the mean loss."""
        inside = self._unavoidable[list(self.flows.samples)].sum()
        return float((self._unavoidable.sum() - inside) / len(self._unavoidable))

    def _add_wrong(self, losses: Array) -> bool:
        """Add the samples that disagree most; return whether any was added."""
        disagree = losses - self._unavoidable
        disagree[list(self.flows.samples)] = 0.0
        wrong = np.flatnonzero(disagree > self.losses.tolerance)
        most = max(MIN_ADDED, int(ADDED_SHARE * len(self.flows.samples)))
        added = wrong[np.argsort(-disagree[wrong], kind="stable")][:most]
        for sample in added:
            self.flows.add(int(sample))
        return len(added) > 0

    def _informative(self) -> list[int]:
        """Return the samples with far flows, and those that all lines cannot explain."""
        losses, candidates = self.losses, self.losses.candidates
        surplus = -losses.demands
        np.add.at(surplus.T, candidates.plant_nodes, losses.decisions.T)
        unexplained = losses.of_one(np.ones(len(candidates.lines), dtype=bool))
        worst = np.argsort(-unexplained, kind="stable")[:MIN_ADDED]
        return sorted({*np.abs(surplus).argmax(axis=0).tolist(), *worst.tolist()})
