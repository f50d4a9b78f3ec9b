"""When binary and continuous simplices give the same training loss, and when they do not.

The two agree where every training cost has one minimiser at the *continuous* optimum. It is not
enough that it has at the binary one. Three decisions show it: at the binary optimum, 1/6, every
minimiser is unique, yet two columns that tie for the third cost reach 0.0017 with a continuous
simplex. Random data sets show the other side. Binary optima are proved by `MixedInteger`,
continuous ones by `Global` (extra ``scip``). Run it with ``python experiments/binary_simplex.py``;
``--quick`` takes two random data sets instead of eight.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

import feaslearn as fl

COSTS = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.05]])
DECISIONS = np.array([[0.0, -1.0], [0.0, 1.0], [0.0, 0.0]])
SECONDS = 60.0


class Row(NamedTuple):
    """The two optima of a data set: losses, lower bounds, and samples with ties."""

    name: str
    binary: float
    binary_bound: float
    binary_ties: float
    continuous: float
    continuous_bound: float
    continuous_ties: float


def run(seeds: Iterable[int]) -> list[Row]:
    """Compare the optima of the three decisions, and of random data sets of six.

    Parameters
    ----------
    seeds : iterable of int
        The seeds, one random data set each.

    Returns
    -------
    list of Row
        The optima; the continuous loss of the three decisions is that of columns found by hand.
    """
    three = fl.Decisions.from_arrays(COSTS, DECISIONS, [0, 1])
    rows = [_compare("three decisions", three)]
    for seed in seeds:
        data = fl.datasets.make_l1_ball(6, n=2, low=-1.0, noise=0.1, random_state=seed)
        rows.append(_compare(f"random, seed {seed}", data))
    return rows


def tied_columns() -> np.ndarray:
    """Return the two columns nearest to the first two decisions that tie for the third cost."""
    step = 0.05 * COSTS[2] / (COSTS[2] @ COSTS[2])
    return np.column_stack([DECISIONS[0] + step, DECISIONS[1] - step])


def _compare(name: str, data: fl.Decisions) -> Row:
    binary, continuous = (
        fl.RegionRegressor(
            fl.Affine(fl.Simplex(2, binary=binary)), cost=data.cost, trainer=trainer, random_state=0
        ).fit(data.signals, data.decisions)
        for binary, trainer in (
            (True, fl.trainers.MixedInteger(SECONDS)),
            (False, fl.trainers.Global(max_seconds=SECONDS)),
        )
    )
    first, second = binary.result_, continuous.result_
    loss, ties = second.objective, second.tied_share
    if len(data) == len(DECISIONS):
        # A solver meets a tie to its tolerance only; these columns meet it exactly.
        continuous.theta_ = tied_columns().ravel()
        loss = float(
            continuous.sample_losses(fl.Predictability(), data.signals, data.decisions).mean()
        )
        ties = 1 / 3
    return Row(
        name,
        first.objective,
        first.lower_bound,
        first.tied_share,
        loss,
        second.lower_bound,
        ties,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two random data sets, not eight")
    quick = parser.parse_args().quick
    print(
        f"{'data':<16} {'binary':>8} {'bound':>8} {'ties':>5}   {'continuous':>10} "
        f"{'bound':>8} {'ties':>5}"
    )
    for row in run(range(2 if quick else 8)):
        print(
            f"{row.name:<16} {row.binary:>8.4f} {row.binary_bound:>8.4f} {row.binary_ties:>5.2f}"
            f"   {row.continuous:>10.4f} {row.continuous_bound:>8.4f} "
            f"{row.continuous_ties:>5.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
