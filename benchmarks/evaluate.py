"""Measuring a model, in units of predicting the same rows.

Claim: ``fl.evaluate`` with its default losses takes at most 3 times as long as ``predict`` on 500
rows, for facets of a 39-bus grid with ten generators (with prices of two decimals, so that some
decisions tie), of the five-node grid and of a plant of 24 hours, and for a Minkowski sum.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

import feaslearn as fl
from value_and_gradient import median_seconds

DATA = Path(__file__).parent / "data" / "case39_api.csv"
ROWS, PLANT_ROWS = 500, 300
MAX_RATIO = 3.0


def make_models() -> dict[str, tuple[fl.RegionRegressor, fl.Decisions]]:
    """Return fitted models and 500 rows to measure each on."""
    table = np.genfromtxt(DATA, delimiter=",", skip_header=1)[: 2 * ROWS]
    table[:, :10] = table[:, :10].round(2)
    grid = fl.Decisions.from_arrays(table[:, :18], table[:, 18:28], cost=list(range(10)))
    power = fl.datasets.make_power5(2 * ROWS, line_capacity=1.4, random_state=0)
    plant = fl.datasets.make_flexible_plant(PLANT_ROWS + ROWS, random_state=0)
    cases = {
        "39 buses, facets": (fl.Facets(), grid, ROWS),
        "power5, facets": (fl.Facets(), power, ROWS),
        "power5, Minkowski sum": (fl.Minkowski.pairs(3), power, ROWS),
        "plant of 24 hours, facets": (fl.Facets(), plant, PLANT_ROWS),
    }
    found = {}
    for name, (hypothesis, data, rows) in cases.items():
        model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
        found[name] = (model.fit(data.signals[:rows], data.decisions[:rows]), data[rows:])
    return found


def main() -> int:
    """Print the times and the ratios; the exit code says whether the claim holds."""
    warnings.simplefilter("ignore")
    ratios = []
    print(f"{'':26}  predict  evaluate  ratio     (claim: at most {MAX_RATIO:g})")
    for name, (model, data) in make_models().items():
        predict, evaluate = median_seconds(
            {
                "predict": lambda model=model, data=data: model.predict(data.signals),
                "evaluate": lambda model=model, data=data: fl.evaluate(model, data),
            }
        ).values()
        ratios.append(evaluate / predict)
        print(f"{name:26} {1e3 * predict:6.1f} ms {1e3 * evaluate:6.1f} ms  {ratios[-1]:5.2f}")
    return int(max(ratios) > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
