"""The congested 39-bus system with known capacities and a known balance: pooled test R².

Claims: with what is known, Minkowski sums are better than without, and facets at most 0.005 below,
for the first 200 and 1000 rows. The line limits stay hidden. Rows 2000-2999 are for testing alone.
The scales of the Minkowski sums are constant, or what cross-validation chooses.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import feaslearn as fl
from facets_case39 import DATA, GENERATORS, SIGNALS, Array, Rows
from feaslearn.metrics import pooled_r2

#: What each zone draws at its maximum, and capacities, in 100 MW; see data/README.md.
ZONES = np.array([5.3599, 4.8899, 9.9280, 22.9601, 9.1788, 0.0, 31.5211, 17.0972])
CAPACITY = [0.08, 15.1, 25.55, 8.65, 8.77, 11.2, 9.22, 15.18, 11.89, 26.72]
DEMAND = fl.AffineCost([0.0], [[*np.zeros(GENERATORS), *ZONES]])
KNOWN = fl.Known(bounds=(0.0, CAPACITY), balance=(np.ones(GENERATORS), DEMAND))
WORSE = {"Minkowski, constant": 0.0, "Minkowski": 0.0, "Facets": 0.005}


def models() -> dict[str, Any]:
    """Return hypotheses by name."""
    return {
        "Minkowski, constant": fl.Minkowski("auto", scale="constant"),
        "Minkowski": fl.Minkowski("auto"),
        "Facets": fl.Facets(),
    }


def score(hypothesis: Any, known: fl.Known | None, train: Rows, test: Rows) -> float:
    """Fit, print one line, return the pooled R²."""
    model = fl.RegionRegressor(
        hypothesis, cost=list(range(GENERATORS)), known=known, random_state=0
    )
    began = time.perf_counter()
    model.fit(*train)
    seconds = time.perf_counter() - began
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fl.exceptions.FeaslearnWarning)
        decisions = model.predict(test[0])
    reached = float(pooled_r2(test[1], decisions))
    told = f"R² {reached:.4f}, {seconds:.1f} s"
    if known is not None:
        told += f", violated by at most {violation(decisions, test[0]):.1e}"
    what = "nothing known" if known is None else "known bounds and balance"
    print(f"{len(train[0]):>5} rows  {what:<26}{told}", flush=True)
    return reached


def violation(decisions: Array, signals: Array) -> float:
    """Return by how much decisions violate bounds or balance at most."""
    balance = np.abs(decisions.sum(axis=1) - signals[:, GENERATORS:] @ ZONES).max()
    return float(max(balance, -decisions.min(), (decisions - CAPACITY).max()))


def run(quick: bool = False) -> dict[tuple[str, int], float]:
    """Print all scores; return what is gained by knowing, by hypothesis and number of rows."""
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    signals, decisions = table[:, :SIGNALS], table[:, SIGNALS:]
    test = signals[2000:], decisions[2000:]
    gained: dict[tuple[str, int], float] = {}
    for name, hypothesis in models().items():
        print(name)
        for count in (200,) if quick else (200, 1000):
            train = signals[:count], decisions[:count]
            without, within = (score(hypothesis, known, train, test) for known in (None, KNOWN))
            gained[name, count] = within - without
    return gained


def main() -> int:
    """Print the scores; the exit code says whether the claims hold."""
    gained = run("--quick" in sys.argv[1:])
    missed = {case: gain for case, gain in gained.items() if gain < -WORSE[case[0]]}
    for (name, count), gain in missed.items():
        print(f"claim missed: {name}, {count} rows: {gain:+.4f}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
