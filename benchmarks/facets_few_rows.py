"""Facets with few rows: regret of shortest paths on a 5 x 5 grid, squared loss of power5.

Claims, without anything known but the costs. Shortest paths from one corner to the other over 40
arcs, 500 test rows, mean over ten seeds: the regret is at most 0.7 % of the length of the shortest
paths with 50 rows and 0.1 % with 100. power5, 100 rows to learn and 200 to test: the mean squared
loss over 20 seeds is at most 0.003. Lengths of arcs follow five signals as in Elmachtoub and
Grigas, "Smart 'Predict, then Optimize'", Management Science 68(1), 2022: degree 4, noise 50 %, so
that some arcs are hardly ever used. A path that the grid does not allow counts by how much its
length differs, above or below.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import feaslearn as fl
from feaslearn.datasets import AffineRows, LinearProgram

Array = NDArray[np.float64]

SIDE, TEST_PATHS = 5, 500
CONTEXT, DEGREE, NOISE = 5, 4, 0.5
PATH_SEEDS, POWER_SEEDS = range(10), range(20)
MOST_REGRET = {50: 0.007, 100: 0.001}
MOST_LOSS, POWER_TRAIN, POWER_TEST = 0.003, 100, 200
FEASIBLE = 1e-6


class Paths(NamedTuple):
    """Lengths of arcs, signals that they follow, and the shortest paths: one for an arc in use."""

    lengths: Array
    context: Array
    arcs: Array

    @property
    def signals(self) -> Array:
        """Lengths, which are costs, and the other signals."""
        return np.hstack([self.lengths, self.context])


def grid_balances(side: int = SIDE) -> tuple[Array, Array]:
    """Return the matrix of balances of a grid, and what leaves each crossing.

    Arcs lead to the right and down; a path begins at the first crossing and ends at the last.
    """
    crossing = np.arange(side * side).reshape(side, side)
    starts = np.concatenate([crossing[:, :-1].ravel(), crossing[:-1].ravel()])
    ends = np.concatenate([crossing[:, 1:].ravel(), crossing[1:].ravel()])
    arcs = np.arange(len(starts))
    shape = (side * side, len(arcs))
    ones = np.ones(len(arcs))
    balances = sparse.coo_array((ones, (starts, arcs)), shape).toarray()
    balances -= sparse.coo_array((ones, (ends, arcs)), shape).toarray()
    leaves = np.zeros(side * side)
    leaves[[0, -1]] = 1.0, -1.0
    return balances, leaves


def shortest_paths(count: int, seed: int, side: int = SIDE) -> Paths:
    """Draw lengths of the arcs and return the shortest paths."""
    balances, leaves = grid_balances(side)
    n = balances.shape[1]
    random = np.random.default_rng(seed)
    weights = random.integers(0, 2, (CONTEXT, n))
    context = random.normal(size=(count, CONTEXT))
    lengths = (context @ weights / np.sqrt(CONTEXT) + 3.0) ** DEGREE + 1.0
    lengths *= random.uniform(1.0 - NOISE, 1.0 + NOISE, (count, n)) / 3.5**DEGREE
    rows = AffineRows(leaves, np.zeros((len(leaves), n)))
    program = LinearProgram(balances, rows, rows, np.zeros(n), np.ones(n), n)
    return Paths(lengths, context, np.round(program.solve(lengths, lengths)))


def path_regret(rows: int, seed: int) -> tuple[float, float, float]:
    """Return the relative regret, the share of paths that the grid forbids, the seconds."""
    paths = shortest_paths(rows + TEST_PATHS, seed)
    n = paths.arcs.shape[1]
    model = fl.RegionRegressor(fl.Facets(), cost=list(range(n)), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        began = time.perf_counter()
        model.fit(paths.signals[:rows], paths.arcs[:rows])
        seconds = time.perf_counter() - began
        predicted = np.asarray(model.predict(paths.signals[rows:]))
    lengths, best = paths.lengths[rows:], paths.arcs[rows:]
    excess = np.abs((lengths * (predicted - best)).sum(axis=1))
    balances, leaves = grid_balances()
    broken = np.abs(predicted @ balances.T - leaves).max(axis=1)
    broken = np.maximum(broken, np.maximum(-predicted, predicted - 1.0).max(axis=1))
    regret = float(excess.sum() / (lengths * best).sum())
    return regret, float((broken > FEASIBLE).mean()), seconds


def power5_loss(seed: int) -> tuple[float, float]:
    """Return the squared test loss and the seconds of the fit."""
    data = fl.datasets.make_power5(POWER_TRAIN + POWER_TEST, random_state=seed)
    train, test = data[:POWER_TRAIN], data[POWER_TRAIN:]
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        began = time.perf_counter()
        model.fit(train.signals, train.decisions)
        seconds = time.perf_counter() - began
        errors = model.predict(test.signals) - test.decisions
    return float((errors**2).sum(axis=1).mean()), seconds


def run(path_seeds: Sequence[int], power_seeds: Sequence[int]) -> bool:
    """Print regrets and losses; return whether all claims hold."""
    holds = True
    for rows, most in MOST_REGRET.items():
        found = np.array([path_regret(rows, seed) for seed in path_seeds])
        regret, forbidden, seconds = found.mean(axis=0)
        print(
            f"shortest path, {rows:>3} rows: regret {regret:.3%} (claim: at most {most:.1%}), "
            f"{found[:, 0].min():.3%} to {found[:, 0].max():.3%}, "
            f"{forbidden:.1%} forbidden, {seconds:.2f} s",
            flush=True,
        )
        holds &= bool(regret <= most)
    found = np.array([power5_loss(seed) for seed in power_seeds])
    loss, seconds = found.mean(axis=0)
    print(
        f"power5, {POWER_TRAIN} rows: squared loss {loss:.5f} (claim: at most {MOST_LOSS}), "
        f"{found[:, 0].min():.5f} to {found[:, 0].max():.5f}, {seconds:.2f} s",
        flush=True,
    )
    return holds and bool(loss <= MOST_LOSS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print regrets and losses; the exit code says whether the claims hold."""
    parser = argparse.ArgumentParser(description="Facets with few rows.")
    parser.add_argument("--quick", action="store_true", help="one seed of paths, three of power5")
    quick = parser.parse_args(arguments).quick
    holds = run(PATH_SEEDS[:1], POWER_SEEDS[:3]) if quick else run(PATH_SEEDS, POWER_SEEDS)
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
