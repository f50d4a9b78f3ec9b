"""Samples of a network: prices, demands and dispatches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.costs import CostSpecification, ResolvedCost, resolve_cost
from feaslearn.data import as_matrix, column_names
from feaslearn.exceptions import Problems
from feaslearn.messages import find_columns, list_first
from feaslearn.network.candidates import CandidateLines
from feaslearn.network.polymatroid_kernels import cheapest_dispatch
from feaslearn.solvers.highs import name_rows


class NetworkSignals(NamedTuple):
    """How prices and demands are read from the signals."""

    cost: ResolvedCost
    demand_columns: tuple[int, ...]
    nodes: tuple[object, ...]

    def read(self, problems: Problems, signals: object) -> tuple[Array, Array] | None:
        """Return prices (N, K) and demands (N, n); None if the signals are invalid."""
        before = len(problems)
        table = as_matrix(signals, name="signals", problems=problems)
        if table is None or len(problems) > before:
            return None
        if table.shape[1] != self.cost.n_signals:
            problems.add(
                f"signals has {table.shape[1]} columns, expected {self.cost.n_signals} as in fit"
            )
            return None
        demands = np.ascontiguousarray(table[:, list(self.demand_columns)])
        negative = np.argwhere(demands < 0)
        if len(negative):
            cells = [
                f"sample {i}, node {self.nodes[j]} ({demands[i, j]:.4g})" for i, j in negative[:5]
            ]
            problems.add(
                f"negative demand at {list_first(cells, len(negative))}; a demand must be at "
                "least 0 (model a fixed injection as a plant)"
            )
        return self.cost.evaluate(table), demands


class NetworkSamples(NamedTuple):
    """Prices, demands and dispatches, one row for each sample."""

    costs: Array
    demands: Array
    decisions: Array

    def rows(self, rows: Indices) -> NetworkSamples:
        """Return some of the samples."""
        return NetworkSamples(*(table[rows] for table in self))


def resolve_signals(
    problems: Problems,
    candidates: CandidateLines | None,
    signals: object,
    cost: CostSpecification,
    demand: Sequence[int | str],
) -> NetworkSignals | None:
    """Find the columns of prices and demands; None if a problem was added."""
    names = column_names(signals)
    table = as_matrix(signals, name="signals", problems=Problems())
    n_signals = None if table is None else table.shape[1]
    n_plants = None if candidates is None else len(candidates.plants)
    resolved = resolve_cost(
        cost, n_decisions=n_plants, signal_names=names, n_signals=n_signals, problems=problems
    )
    wanted = [demand] if isinstance(demand, str) else demand
    if not isinstance(wanted, Iterable):
        problems.add(
            f"demand is {demand!r}, expected the signal that holds the demand of each node: a list "
            "of names or numbers of columns"
        )
        return None
    columns = find_columns(list(wanted), names, n_signals, "demand", "among the signals", problems)
    if candidates is None or resolved is None:
        return None
    if len(columns) != len(candidates.nodes):
        problems.add(
            f"demand: {len(columns)} columns for {len(candidates.nodes)} nodes; give the signal "
            "that holds the demand of each node, in their order"
        )
        return None
    return NetworkSignals(resolved, columns, candidates.nodes)


def read_samples(
    problems: Problems,
    candidates: CandidateLines | None,
    reader: NetworkSignals | None,
    signals: object,
    decisions: object,
) -> NetworkSamples | None:
    """Read and check what was observed; None if a problem was added."""
    n_known = len(problems)
    table = as_matrix(decisions, name="decisions", problems=problems, allow_1d=True)
    if candidates is not None and table is not None and table.shape[1] != len(candidates.plants):
        problems.add(
            f"decisions has {table.shape[1]} columns for {len(candidates.plants)} generators; "
            "give one column for each"
        )
    read = None
    if reader is None:
        as_matrix(signals, name="signals", problems=problems)
    else:
        read = reader.read(problems, signals)
    if read is None or table is None or candidates is None:
        return None
    if len(read[0]) != len(table):
        problems.add(
            f"signals has {len(read[0])} rows and decisions has {len(table)}; give one of each"
        )
    if len(problems) > n_known:
        return None
    # Of one layout, so that kernels compile once.
    tables = (*read, table)
    samples = NetworkSamples(*(np.require(each, np.float64, ["C", "W"]) for each in tables))
    everything = np.ones(len(candidates.lines), dtype=bool)
    dispatch = dispatch_of(candidates, everything, samples.demands, samples.costs)
    unserved = np.flatnonzero(np.isnan(dispatch[:, 0]))
    if len(unserved):
        problems.add(
            f"no network serves the demand of {name_rows(unserved)}, not even all "
            f"{len(candidates.lines)} candidate lines together: raise the capacities, allow more "
            "lines or drop these samples"
        )
    return samples


def dispatch_of(candidates: CandidateLines, network: Mask, demands: Array, costs: Array) -> Array:
    """Return the cheapest dispatch of each sample under a network; NaN where it cannot serve."""
    dispatch = np.empty(costs.shape)
    (cut,) = candidates.cuts(network[None])
    cheapest_dispatch(demands, costs, cut, candidates.outside_capacity, dispatch)
    return dispatch
