"""The program that learns a network: flows, cuts and the lines that are there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.network.candidates import CandidateLines
from feaslearn.network.losses import NetworkLosses
from feaslearn.network.search import NetworkProgram
from feaslearn.solvers.mip import Rows
from feaslearn.tolerances import CAPACITY_TOL, TIE_TOL, TINY

Columns = NDArray[np.intp]
FloatArray = NDArray[np.float64]

#: Where the squares of a sample are first approximated from below, in units of their scale.
FIRST_TANGENTS = (-4.0, -1.5, -0.5, 0.5, 1.5, 4.0)


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
        needs = serving_needs(losses)
        if needs is not None:
            self.program.extend(needs)

    def loss_columns(self) -> Columns:
        """Return the variables whose sum is the loss of the samples that were added."""
        nothing = np.empty(0, dtype=np.intp)
        return np.concatenate([nothing, *(sample.loss for sample in self.samples.values())])

    def add(self, sample: int) -> None:
        """Add the rows of one sample."""
        losses, program = self.losses, self.program
        candidates = losses.candidates
        c, d, x = (table[sample] for table in losses.samples)
        u = program.columns(len(c), lower=0.0, upper=candidates.generator_capacity)
        _add_flows(program, candidates, u, d)
        levels = price_levels(c)
        cuts = [_Cut(program, candidates, level, d) for level in levels]
        nothing = np.empty(0, dtype=np.intp)
        excess = nothing
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

    def add_tangents(self, sample: int, residual: FloatArray, excess: float) -> None:
        """Bound the squares from below by their tangents at a residual ``u - x``."""
        u, extra, loss = self.samples[sample]
        x = self.losses.samples.decisions[sample]
        g = residual
        terms = [(loss[: len(u)], 1.0), (u, -2.0 * g)]
        self.program.rows(len(u), terms, lower=-(g**2) - 2.0 * g * x)
        if len(extra):
            self.program.row([(loss[-1:], 1.0), (extra, -2.0 * excess)], lower=-(excess**2))

    def _add_loss(self, u: Columns, excess: Columns, x: FloatArray) -> Columns:
        program = self.program
        if self.losses.is_squared:
            return program.columns(len(u) + len(excess), lower=0.0)
        over, under = (program.columns(len(u), lower=0.0) for _ in range(2))
        program.rows(len(u), [(u, 1.0), (over, -1.0), (under, 1.0)], lower=x, upper=x)
        return np.concatenate([over, under, excess])


class _Cut:
    """``d'τ + C(S) - C'τ + f'w``, a fractional cut that bounds what the plants S deliver."""

    def __init__(
        self,
        program: NetworkProgram,
        candidates: CandidateLines,
        level: NDArray[np.intp],
        d: FloatArray,
    ) -> None:
        n_lines = len(candidates.lines)
        inside = program.columns(len(d), lower=0.0, upper=1.0)
        crosses = program.columns(n_lines, lower=0.0, upper=1.0)
        y = np.arange(n_lines)
        first, second = inside[candidates.ends[:, 0]], inside[candidates.ends[:, 1]]
        for one, other in ((first, second), (second, first)):
            terms = [(crosses, 1.0), (one, -1.0), (other, 1.0), (y, -1.0)]
            program.rows(n_lines, terms, lower=-1.0)
        output = np.zeros(len(d))
        np.add.at(output, candidates.plants[level], candidates.generator_capacity[level])
        self.constant = float(candidates.generator_capacity[level].sum())
        self.columns = np.concatenate([inside, crosses])
        self.factors = np.concatenate([d - output, candidates.line_capacity])


def _add_flows(
    program: NetworkProgram,
    candidates: CandidateLines,
    u: Columns,
    d: FloatArray,
) -> None:
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
    levels: list[NDArray[np.intp]],
    cuts: list[_Cut],
    c: FloatArray,
    d: FloatArray,
    x: FloatArray,
    excess: Columns,
) -> None:
    """Bound the excess cost ``c'x - [c_K d(V) - sum_k (c_{k+1} - c_k) cut_k]`` from above."""
    least = float(c @ x) - c.max() * d.sum()
    parts: list[tuple[Columns, FloatArray]] = [(excess, np.ones(1))]
    for level, cut in zip(levels, cuts, strict=True):
        rest = np.setdiff1d(np.arange(len(c)), level)
        step = c[rest].min() - c[level].max()
        least += step * cut.constant
        parts.append((cut.columns, -step * cut.factors))
    program.row(parts, lower=least)


def price_levels(c: FloatArray) -> list[NDArray[np.intp]]:
    """Return the plants of the k lowest prices for every k but the last, equal prices together."""
    order = np.argsort(c, kind="stable")
    steps = np.flatnonzero(np.diff(c[order]) > TIE_TOL * np.abs(c).max())
    return [order[: step + 1] for step in steps]


def serving_needs(losses: NetworkLosses, most_rows: int = 300) -> Rows | None:
    """Return rows that any network keeps that serves all samples: enough capacity into each set."""
    candidates = losses.candidates
    own = candidates.beyond[-1, 0] - candidates.beyond[-1]
    need = np.full(len(own), -np.inf)
    for d in losses.samples.demands:
        need = np.maximum(need, candidates.members @ d)
    need -= own
    available = candidates.crossing @ candidates.line_capacity
    share = np.where(need > CAPACITY_TOL, need / np.maximum(available, TINY), 0.0)
    kept = np.argsort(-share, kind="stable")[:most_rows]
    kept = kept[share[kept] > 0.0]
    if not len(kept):
        return None
    rows = Rows()
    for T in kept:
        lines = np.flatnonzero(candidates.crossing[T])
        rows.row([(lines, candidates.line_capacity[lines])], lower=need[T] - CAPACITY_TOL)
    return rows
