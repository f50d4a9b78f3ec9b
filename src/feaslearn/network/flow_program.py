"""The program that learns a network: flows, cuts and the lines that are there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.kernels.set_code import TIE_TOLERANCE
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.integer_program import FloatArray, IntegerProgram, Rows
from feaslearn.problem.candidate_lines import CandidateLines

Columns = NDArray[np.int64]

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

    Parameters
    ----------
    losses : NetworkLosses
        The samples and their loss.
    """

    def __init__(self, losses: NetworkLosses) -> None:
        self.losses = losses
        self.program = IntegerProgram(len(losses.candidates.lines))
        self.samples: dict[int, SampleColumns] = {}
        self._scale = float(np.abs(losses.samples.decisions).mean()) / 4.0 or 1.0
        needs = serving_needs(losses)
        if needs is not None:
            self.program.add_rows(needs.rows())

    def loss_columns(self) -> Columns:
        """Return the variables whose sum is the loss of the samples that were added."""
        nothing = np.empty(0, dtype=np.int64)
        return np.concatenate([nothing, *(sample.loss for sample in self.samples.values())])

    def add(self, sample: int) -> None:
        """Add the rows of one sample."""
        losses, program = self.losses, self.program
        candidates = losses.candidates
        c, d, x = (table[sample] for table in losses.samples)
        builder = RowBuilder()
        u = program.add_columns(0.0, candidates.generator_capacity, len(c))
        _add_flows(builder, program, candidates, u, d)
        levels = price_levels(c)
        cuts = [_Cut(builder, program, candidates, level, d) for level in levels]
        nothing = np.empty(0, dtype=np.int64)
        excess = nothing
        if losses.is_predictability:
            for level, cut in zip(levels, cuts, strict=True):
                builder.add_sum(cut.constant, np.inf, (u[level], 1.0), (cut.columns, -cut.factors))
        else:
            excess = program.add_columns(0.0, np.inf, 1)
            _add_excess(builder, levels, cuts, c, d, x, excess)
        loss = self._add_loss(builder, u, excess, x)
        self.samples[sample] = SampleColumns(u, excess, loss)
        program.add_rows(builder.rows())
        if losses.is_squared:
            for step in FIRST_TANGENTS:
                at = np.full(len(c), step * self._scale)
                self.add_tangents(sample, at, abs(step) * self._scale)

    def add_tangents(self, sample: int, residual: FloatArray, excess: float) -> None:
        """Bound the squares from below by their tangents at a residual ``u - x``."""
        u, extra, loss = self.samples[sample]
        x = self.losses.samples.decisions[sample]
        builder = RowBuilder()
        g = residual
        builder.add(-(g**2) - 2.0 * g * x, np.inf, len(u), (loss[: len(u)], 1.0), (u, -2.0 * g))
        if len(extra):
            builder.add(-(excess**2), np.inf, 1, (loss[-1:], 1.0), (extra, -2.0 * excess))
        self.program.add_rows(builder.rows())

    def _add_loss(self, builder: RowBuilder, u: Columns, excess: Columns, x: FloatArray) -> Columns:
        program = self.program
        if self.losses.is_squared:
            return program.add_columns(0.0, np.inf, len(u) + len(excess))
        over = program.add_columns(0.0, np.inf, len(u))
        under = program.add_columns(0.0, np.inf, len(u))
        builder.add(x, x, len(u), (u, 1.0), (over, -1.0), (under, 1.0))
        return np.concatenate([over, under, excess])


class _Cut:
    """``d'τ + C(S) - C'τ + f'w``, a fractional cut that bounds what the plants S deliver."""

    def __init__(
        self,
        builder: RowBuilder,
        program: IntegerProgram,
        candidates: CandidateLines,
        level: NDArray[np.intp],
        d: FloatArray,
    ) -> None:
        n_lines = len(candidates.lines)
        inside = program.add_columns(0.0, 1.0, len(d))
        crosses = program.add_columns(0.0, 1.0, n_lines)
        y = np.arange(n_lines)
        first, second = inside[candidates.ends[:, 0]], inside[candidates.ends[:, 1]]
        for one, other in ((first, second), (second, first)):
            builder.add(-1.0, np.inf, n_lines, (crosses, 1.0), (one, -1.0), (other, 1.0), (y, -1.0))
        output = np.zeros(len(d))
        np.add.at(output, candidates.plants[level], candidates.generator_capacity[level])
        self.constant = float(candidates.generator_capacity[level].sum())
        self.columns = np.concatenate([inside, crosses])
        self.factors = np.concatenate([d - output, candidates.line_capacity])


def _add_flows(
    builder: RowBuilder,
    program: IntegerProgram,
    candidates: CandidateLines,
    u: Columns,
    d: FloatArray,
) -> None:
    n_lines = len(candidates.lines)
    y = np.arange(n_lines)
    z = program.add_columns(-candidates.line_capacity, candidates.line_capacity, n_lines)
    for node in range(len(d)):
        out, into = candidates.ends[:, 0] == node, candidates.ends[:, 1] == node
        at = u[candidates.plants == node]
        builder.add_sum(d[node], d[node], (at, 1.0), (z[out], -1.0), (z[into], 1.0))
    for sign in (1.0, -1.0):
        builder.add(-np.inf, 0.0, n_lines, (z, sign), (y, -candidates.line_capacity))


def _add_excess(
    builder: RowBuilder,
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
    builder.add_sum(least, np.inf, *parts)


def price_levels(c: FloatArray) -> list[NDArray[np.intp]]:
    """Return the plants of the k lowest prices for every k but the last, equal prices together.

    Parameters
    ----------
    c : ndarray of shape (K,)
        The prices.

    Returns
    -------
    list of ndarray
        The plants of each level.
    """
    order = np.argsort(c, kind="stable")
    steps = np.flatnonzero(np.diff(c[order]) > TIE_TOLERANCE * np.abs(c).max())
    return [order[: step + 1] for step in steps]


def serving_needs(losses: NetworkLosses, most_rows: int = 300) -> RowBuilder | None:
    """Return rows that any network keeps that serves all samples: enough capacity into each set.

    Parameters
    ----------
    losses : NetworkLosses
        The samples.
    most_rows : int
        How many rows to return at the most, those that ask for the largest share of a cut first.

    Returns
    -------
    RowBuilder or None
        The rows; None if there are none.
    """
    candidates = losses.candidates
    own = candidates.beyond[-1, 0] - candidates.beyond[-1]
    need = np.full(len(own), -np.inf)
    for d in losses.samples.demands:
        need = np.maximum(need, candidates.members @ d)
    need -= own
    available = candidates.crossing @ candidates.line_capacity
    share = np.where(need > 1e-9, need / np.maximum(available, 1e-300), 0.0)
    kept = np.argsort(-share, kind="stable")[:most_rows]
    kept = kept[share[kept] > 0.0]
    if not len(kept):
        return None
    builder = RowBuilder()
    for T in kept:
        lines = np.flatnonzero(candidates.crossing[T])
        builder.add_sum(need[T] - 1e-9, np.inf, (lines, candidates.line_capacity[lines]))
    return builder


# Rows of a sparse program, put together from parts.


class RowBuilder:
    """Collects rows ``lower <= sum of value * variable <= upper``."""

    def __init__(self) -> None:
        self._lower: list[FloatArray] = []
        self._upper: list[FloatArray] = []
        self._entries: list[tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]] = []
        self._count = 0

    def add(
        self, lower: ArrayLike, upper: ArrayLike, count: int, *parts: tuple[ArrayLike, ArrayLike]
    ) -> None:
        """Add ``count`` rows; each part has a variable (or one for each row) and its factor."""
        rows = np.arange(self._count, self._count + count)
        for variables, values in parts:
            spread = np.broadcast_arrays(rows, np.asarray(variables), np.asarray(values, float))
            self._entries.append((spread[0], spread[1].astype(np.int64), spread[2]))
        self._bounds(lower, upper, count)

    def add_sum(
        self, lower: float, upper: float, *parts: tuple[NDArray[np.int64], ArrayLike]
    ) -> None:
        """Add one row; each part has some variables and their factors."""
        for variables, values in parts:
            rows = np.full(len(variables), self._count)
            factors = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(variables),))
            self._entries.append((rows, variables, factors))
        self._bounds(lower, upper, 1)

    def _bounds(self, lower: ArrayLike, upper: ArrayLike, count: int) -> None:
        self._lower.append(np.broadcast_to(np.asarray(lower, dtype=np.float64), (count,)))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), (count,)))
        self._count += count

    def rows(self) -> Rows:
        """Return what was collected."""
        return Rows(
            np.concatenate(self._lower),
            np.concatenate(self._upper),
            np.concatenate([entry[0] for entry in self._entries]),
            np.concatenate([entry[1] for entry in self._entries]),
            np.concatenate([entry[2] for entry in self._entries]),
        )
