"""Predicting a million decisions, in units of one matrix product, and with trust.

Claims: for ``Affine(Simplex(9))``, 3 decisions and 6 features, it takes at most 3 times as long as
the product (N, 6) x (6, 27) that evaluates all columns of all samples, both on one thread. For
`Facets`, with limits not seen and with all bounds known, trust takes at most 1.2 times as long as
decisions alone; for images of a set, whose limits take further minima, it is printed only.
"""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np

import feaslearn as fl
from common.timing import (
    COLUMNS,
    DECISIONS,
    FEATURES,
    MAX_RATIO,
    make_samples,
    median_seconds,
)
from feaslearn import Affine, Simplex

#: Rows of one prediction, and how much longer one with trust may take.
ROWS, MAX_TRUST = 1_000_000, 1.2


def trust_ratios() -> dict[str, float]:
    """Return how much longer predictions with trust take, by model."""
    data = fl.datasets.make_power5(500, line_capacity=1.6, random_state=0)
    signals = np.tile(data.signals[:250], (ROWS // 250, 1))
    signals *= np.random.default_rng(0).uniform(0.95, 1.05, signals.shape)
    models = {
        "Facets": fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0),
        "Facets, known bounds": fl.RegionRegressor(
            fl.Facets(), cost=data.cost, known=fl.Known(bounds=(0.0, 10.0)), random_state=0
        ),
        "Minkowski": fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=data.cost),
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        for name, model in models.items():
            model.fit(data.signals, data.decisions)
            both = {
                "decisions": partial(model.predict, signals),
                "with trust": partial(model.predict, signals, return_trust=True),
            }
            alone, trusted = median_seconds(both).values()
            found[name] = trusted / alone
    return found


def main() -> int:
    """Print the times and the ratios; the exit code says whether the claims hold."""
    theta, samples = make_samples()
    matrix = theta.reshape(FEATURES, DECISIONS * COLUMNS)
    hypothesis = Affine(Simplex(COLUMNS))
    product, predict = median_seconds(
        {
            "product": lambda: samples.features @ matrix,
            "predict": lambda: hypothesis.predict(theta, samples.features, samples.costs),
        }
    ).values()
    print(f"product (N, 6) x (6, 27)   {product:8.4f} s")
    print(f"predict                    {predict:8.4f} s")
    print(f"ratio                      {predict / product:8.2f}     (claim: at most {MAX_RATIO})")
    ratios = trust_ratios()
    for name, ratio in ratios.items():
        claim = f"     (claim: at most {MAX_TRUST})" if name.startswith("Facets") else ""
        print(f"trust, {name:20}{ratio:8.2f}{claim}")
    slow = any(ratio > MAX_TRUST for name, ratio in ratios.items() if name.startswith("Facets"))
    return int(predict > MAX_RATIO * product or slow)


if __name__ == "__main__":
    sys.exit(main())
