"""How few columns explain decisions in a cross-polytope, with proof (the paper's Table 1).

``min { c'x : |x - e|_1 <= 1 }`` in five dimensions with costs uniform on [0, 1]: five vertices are
visited. With p = 4 columns a loss must remain, and branch and bound proves the least; with p = 5
and 6 a loss of zero is its own proof. Learned from 100 decisions, 500 to test on; the features are
a constant, since every signal is a cost. Limits: 300 s for p = 4, 60 s for the others; ``--quick``
runs one seed. Run it with ``python experiments/l1_ball_columns.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NamedTuple

import feaslearn as fl

N_TRAIN, N_TEST = 100, 500
SECONDS = {4: 300.0, 5: 60.0, 6: 60.0}
LOSSES = {"predictability": fl.Predictability(), "suboptimality": fl.Suboptimality()}


class Row(NamedTuple):
    """One fit: what was asked, how it ended, and what it is worth."""

    p: int
    loss: str
    seed: int
    status: str
    train: float
    lower_bound: float
    test: float
    clusters: float
    nodes: int
    seconds: float


def run(seeds: Iterable[int], columns: Iterable[int] = (4, 5, 6)) -> list[Row]:
    """Fit every number of columns, loss and seed.

    Parameters
    ----------
    seeds : iterable of int
        The seeds, one data set each.
    columns : iterable of int
        Numbers of columns.

    Returns
    -------
    list of Row
        The fits; ``clusters`` is the training loss of `NearestVertices` with as many
        vertices, and their hull as its region.
    """
    seeds = list(seeds)
    return [_fit(p, name, seed) for p in columns for name in LOSSES for seed in seeds]


def _fit(p: int, name: str, seed: int) -> Row:
    data = fl.datasets.make_l1_ball(N_TRAIN + N_TEST, random_state=seed)
    train, test = data[:N_TRAIN], data[N_TRAIN:]
    model = fl.RegionRegressor(
        fl.Affine(fl.Simplex(p, binary=True)),
        cost=data.cost,
        loss=LOSSES[name],
        trainer=fl.trainers.MixedInteger(max_seconds=SECONDS[p]),
        random_state=seed,
    ).fit(train.signals, train.decisions)
    clusters = fl.baselines.NearestVertices(p, data.cost, random_state=seed)
    clusters.fit(train.signals, train.decisions)
    result = model.result_
    return Row(
        p,
        name,
        seed,
        result.status,
        result.objective,
        result.lower_bound,
        getattr(fl.evaluate(model, test), name).mean,
        getattr(fl.evaluate(clusters, train), name).mean,
        result.n_iter,
        result.seconds,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one seed instead of five")
    quick = parser.parse_args().quick
    print("p  loss            seed  status      train     bound     test      k-means   nodes    s")
    for row in run(range(1 if quick else 5)):
        print(
            f"{row.p}  {row.loss:<14}  {row.seed:>4}  {row.status:<10}  {row.train:<8.4g}  "
            f"{row.lower_bound:<8.4g}  {row.test:<8.4g}  {row.clusters:<8.4g}  {row.nodes:>5}  "
            f"{row.seconds:>5.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
