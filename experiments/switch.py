"""Example 1 of the paper: a decision that jumps, learned as a region, as a line and as a cost.

``min { s x_1 + (1 - s) x_2 : x_1 + x_2 = 1, 0 <= x <= 2 }`` switches from (1, 0) to (0, 1) at
s = 0.5. A region of two columns recovers it exactly, and the proof is that its loss is zero. The
linear policy cannot jump. Nor can a strictly convex quadratic cost over the known constraints: its
policy is continuous, so that it is wrong somewhere near 0.5, however little it is regularised.
Learned from 100 decisions, tested on 1000, ten seeds (``--quick``: two). Run it with
``python experiments/switch.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np

import feaslearn as fl

N_TRAIN, N_TEST = 100, 1_000
KNOWN = fl.Polytope([[1, 0], [0, 1], [-1, 0], [0, -1]], [0, 0, -2, -2], [[1, 1]], [1])
RIDGES = (1e-2, 1e-4, 1e-6)


def run(seeds: Iterable[int], n_test: int = N_TEST) -> dict[str, np.ndarray]:
    """Return mean squared loss and largest error on test data by the name of the model.

    Parameters
    ----------
    seeds : iterable of int
        The seeds, one data set each.
    n_test : int
        Test decisions.

    Returns
    -------
    dict of str to ndarray of shape (n_seeds, 2)
        Losses and largest errors.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        data = fl.datasets.make_switch(N_TRAIN + n_test, random_state=seed)
        train, test = data[:N_TRAIN], data[N_TRAIN:]
        for name, model in _models(data, seed).items():
            model.fit(train.signals, train.decisions)
            errors = model.predict(test.signals) - test.decisions
            row = float((errors**2).sum(axis=1).mean()), float(np.abs(errors).max())
            found.setdefault(name, []).append(row)
    return {name: np.array(rows) for name, rows in found.items()}


def _models(data: fl.Decisions, seed: int) -> dict[str, object]:
    region = {"cost": data.cost, "random_state": seed}
    quadratic = {
        f"quadratic cost, ridge {ridge:g}": fl.baselines.QuadraticCost(KNOWN, ridge)
        for ridge in RIDGES
    }
    return {
        "MixedInteger, binary simplex": fl.RegionRegressor(
            fl.Affine(fl.Simplex(2, binary=True)), **region
        ),
        "Convex, scaled simplex": fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), **region),
        "nearest vertices": fl.baselines.NearestVertices(2, data.cost, random_state=seed),
        "linear policy": fl.baselines.LinearPolicy(),
        **quadratic,
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two seeds, 500 test decisions")
    quick = parser.parse_args().quick
    table = run(range(2), 500) if quick else run(range(10))
    print(f"{'model':<32} {'test loss':>10} {'std':>9} {'largest error':>14}")
    for name, values in table.items():
        loss, worst = values[:, 0], values[:, 1]
        print(f"{name:<32} {loss.mean():>10.2e} {loss.std():>9.1e} {worst.max():>14.3g}")


if __name__ == "__main__":
    main()
