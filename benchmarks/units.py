"""Units, and the order of rows and columns: how much predictions change with them.

Claim: fits that are solved, and facets, by no more than 1e-6 of the largest prediction, but for
what depends on units by its definition (a dash). Searches and
programs with several optima are as good, not equal; the table says by how much. Five regions, 40
noisy samples; factors 2**20, 3.7e6 and 1e-7. Prints the table of
results/reliability_log.md. Names of rows as arguments measure those alone.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl

Array = NDArray[np.float64]

FACTORS = (2.0**20, 3.7e6, 1e-7)
SHIFT = (3.0, -20.0, 0.7)
ROWS, NEW, SAME = 40, 40, 1e-6
PLANTS, DEMANDS = slice(0, 3), slice(3, 8)


@dataclass(frozen=True)
class Case:
    """The data in some units and order; what is known of them goes along."""

    signals: Array
    decisions: Array
    new: Array
    weights: Array
    #: Columns of the signals, and of the decisions, in the order in which they came.
    columns: tuple[int, ...] = tuple(range(8))
    plants: tuple[int, ...] = (0, 1, 2)
    unit: float = 1.0
    shift: tuple[float, ...] = (0.0, 0.0, 0.0)
    demand: float = 1.0

    @property
    def cost(self) -> list[int]:
        """Where the prices of the decisions stand."""
        return [self.columns.index(j) for j in self.plants]

    def known(self) -> fl.Known:
        """Return the limits of the plants and the balance."""
        shift = np.array(self.shift)[list(self.plants)]
        low, high = ([float(edge * self.unit + s) for s in shift] for edge in (0.0, 3.5))
        rates = np.zeros((1, 8))
        rates[0, [self.columns.index(j) for j in range(3, 8)]] = self.unit / self.demand
        total = fl.AffineCost([float(shift.sum())], rates)
        return fl.Known(
            bounds=(low, high),
            balance=(np.ones(3), total),
            contradictions="project",
        )

    def back(self, predicted: Array) -> Array:
        """Return predictions in the units and the order of the first case."""
        found = np.empty_like(predicted)
        found[:, list(self.plants)] = (
            predicted - np.array(self.shift)[list(self.plants)]
        ) / self.unit
        return found


Predict = Callable[[Case], Array]


def region(hypothesis: Any, trainer: Any = "auto", known: bool = False, **given: Any) -> Predict:
    """Return what a model predicts for new signals, as a function of the case."""

    def predict(case: Case) -> Array:
        told = given | ({"known": case.known()} if known else {})
        model = fl.RegionRegressor(
            hypothesis, cost=case.cost, trainer=trainer, random_state=0, **told
        ).fit(case.signals, case.decisions, sample_weight=case.weights)
        return np.asarray(case.back(model.predict(case.new)))

    return predict


def models() -> dict[str, Predict]:
    """Return what is measured, by the name of its row."""
    simplex = fl.Affine(fl.Simplex(4))
    return {
        "`Affine`": region(simplex),
        "`Minkowski`": region(fl.Minkowski("auto")),
        "`Facets`": region(fl.Facets()),
        "`hypothesis=None`": region(None),
        "`Affine`, `known=`": region(simplex, known=True),
        "`Minkowski`, `known=`": region(fl.Minkowski.pairs(3), known=True),
        "`Facets`, `known=`": region(fl.Facets(), known=True),
        "`hypothesis=None`, `known=`": region(None, known=True),
    }


def solved(model: str) -> bool:
    """Say whether a row is about fits that have one answer, found exactly, or about facets."""
    searched = "Affine" in model or "None" in model
    return not searched and ("known=" not in model or "Facets" in model)


def scaled(case: Case, columns: slice, factor: float) -> Case:
    """Return a case with some signals in another unit."""
    unit = np.ones(8)
    unit[columns] = factor
    return replace(case, signals=case.signals * unit, new=case.new * unit)


def changes(case: Case) -> dict[str, Iterable[Case]]:
    """Return the case in other units and orders, by the name of the column."""
    random = np.random.default_rng(1)
    order = random.permutation(len(case.signals))
    counts = random.integers(1, 4, len(case.signals))
    every = np.repeat(np.arange(len(case.signals)), counts)
    sorted_ = replace(case, signals=case.signals[order], decisions=case.decisions[order])
    columns, plants = random.permutation(8), (2, 0, 1)
    exchanged = replace(
        case,
        signals=case.signals[:, columns],
        new=case.new[:, columns],
        decisions=case.decisions[:, plants],
        columns=tuple(columns),
        plants=plants,
    )
    return {
        "signals": [replace(scaled(case, DEMANDS, f), demand=f) for f in FACTORS],
        "costs": [scaled(case, PLANTS, f) for f in FACTORS],
        "decisions": [replace(case, decisions=case.decisions * f, unit=f) for f in FACTORS],
        "moved decisions": [replace(case, decisions=case.decisions + SHIFT, shift=SHIFT)],
        "samples": [sorted_],
        "copies, weights": [
            replace(case, weights=counts.astype(float)),
            replace(
                case,
                signals=case.signals[every],
                decisions=case.decisions[every],
                weights=np.ones(len(every)),
            ),
        ],
        "columns": [exchanged],
    }


def change(predict: Predict, column: str, case: Case) -> float:
    """Return the largest change of a prediction."""
    others = list(changes(case)[column])
    first = case if column != "copies, weights" else others.pop()
    expected = predict(first)
    found = [predict(other) for other in others]
    return float(max(np.abs(each - expected).max() for each in found) / np.abs(expected).max())


def five_regions() -> Case:
    """Return the data as they are."""
    data = fl.datasets.make_power5(ROWS + NEW, noise=0.1, random_state=0)
    return Case(data.signals[:ROWS], data.decisions[:ROWS], data.signals[ROWS:], np.ones(ROWS))


def run(chosen: list[str]) -> bool:
    """Print the table; return whether the claim holds."""
    case = five_regions()
    names = list(changes(case))
    print("| model | " + " | ".join(names) + " |", flush=True)
    print("|---|" + "---|" * len(names), flush=True)
    held = True
    for model, predict in models().items():
        if chosen and not any(part in model for part in chosen):
            continue
        print(f"| {model} |", end="", flush=True)
        for name in names:
            found = change(predict, name, case)
            held &= found <= SAME or not solved(model)
            print(f" {found:.0e} |", end="", flush=True)
        print(flush=True)
    return held


def main() -> int:
    """Print the table; the exit code says whether the claim holds."""
    warnings.simplefilter("ignore")
    return int(not run(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
