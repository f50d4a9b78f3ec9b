"""The two power networks with lines that bind, beside those of the paper, where none does."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from experiments.frame import methods
from experiments.frame.experiment import Contest, Experiment, Row, Settings
from experiments.frame.found import Found, short
from experiments.frame.methods import DATASETS, HELPERS
from experiments.frame.models import COLUMNS, CONVENTIONS, LOSSES
from experiments.power5 import ITERATIONS

SIZE = {"n_train": 100, "n_test": 200}
PUBLISHED = ("power5", "ieee14")
TIGHT = ("power5, lines of 1.6", "ieee14, lines of 1.8")
#: More than any line of these networks can be asked to carry.
UNLIMITED = 100.0
BOX, FACETS, LINEAR = "Balance and box alone", "Ours: Facets", "Linear policy"
SIMPLE: dict[str, dict[str, Any]] = {
    BOX: {"method": "balance and box"},
    FACETS: {"method": "facets"},
    LINEAR: {"method": "linear policy"},
}
OURS: dict[str, dict[str, Any]] = {
    "Ours: Annealing, p=9": {"method": "annealing", "p": 9},
    "Ours: Minkowski": {"method": "minkowski"},
    "Ours: RegionRegressor(cost=...)": {"method": "default"},
}
REGRESSORS = {
    f"scikit-learn, tuned: {key}": {"method": key} for key in ("extra trees", "Gaussian process")
}
ALGORITHM_2 = {
    f"Alg 2, p=6, {loss}, {convention}": {
        "method": "algorithm 2",
        "p": 6,
        "loss": loss,
        "convention": convention,
        "max_iter": ITERATIONS,
    }
    for convention, loss in product(CONVENTIONS, LOSSES)
}


def rows(settings: Settings) -> list[Row]:
    """Return few rows where lines do not bind, all where they do; quick mode has the few."""
    found = []
    for case in (*PUBLISHED, *TIGHT):
        chosen = SIMPLE
        if case in TIGHT and not settings.quick:
            chosen = {**ALGORITHM_2, **SIMPLE, **OURS, **REGRESSORS}
        found += [
            Row(
                f"{case}: {name}",
                {**SIZE, "data": case, **options},
                seconds=8.0 if name in ALGORITHM_2 else 2.0,
            )
            for name, options in chosen.items()
        ]
    return found


def measure(seed: int, *, data: str, n_train: int, n_test: int, **options: Any) -> dict[str, Any]:
    """Fit and measure a method, and say in how many rows lines change the dispatch."""
    values = methods.measure(seed, data=data, n_train=n_train, n_test=n_test, **options)
    drawn, free = (
        DATASETS[name](n_train + n_test, random_state=seed, **limit)
        for name, limit in ((data, {}), (data.partition(",")[0], {"line_capacity": UNLIMITED}))
    )
    moved = np.abs(drawn.decisions - free.decisions).max(axis=1)
    return {**values, "binding": float((moved > 1e-6).mean())}


def _none_bind(found: Found) -> str:
    told = []
    for case in PUBLISHED:
        box, facets = (found.told(f"{case}: {name}", "returned") for name in (BOX, FACETS))
        share = float(found.values(f"{case}: {BOX}", "binding").max())
        told.append(
            f"{case}: lines change the dispatch in at most {share:.1%} of the rows of a seed; "
            f"balance and box alone lose {box}, all facets {facets}"
        )
    return f"As published, {'; '.join(told)}."


def _some_bind(found: Found) -> str:
    told = []
    for case in TIGHT:
        box, facets = (f"{case}: {name}" for name in (BOX, FACETS))
        lower = found.lower(facets, box)
        verdict = {True: "clearly less", False: "clearly more", None: "not clearly another loss"}
        told.append(
            f"{case}: they change {short(100 * found.mean(box, 'binding'))} % of the rows; balance "
            f"and box alone lose {found.told(box, 'returned')}, with facets "
            f"{found.told(facets, 'returned')} ({verdict[lower]})"
        )
    return f"With smaller lines, {'; '.join(told)}."


EXPERIMENT = Experiment(
    name="binding_lines",
    title="Power networks with lines that bind",
    about=(
        "100 rows to learn from, 200 to test on, no noise. As published, lines of 3.5 and 3; "
        "here also lines of 1.6 (five regions) and 1.8 (IEEE-14), everything else the same. "
        "*Rows that a line changes*: whose cheapest dispatch would be another one without limits "
        f"of lines. Algorithm 2 takes up to {ITERATIONS} iterations."
    ),
    rows=rows,
    measure=measure,
    columns={"binding": "rows that a line changes", **COLUMNS},
    helpers=(methods.measure, *HELPERS),
    notes=(_none_bind, _some_bind),
    contests=tuple(
        Contest(
            case,
            f"{case}: {LINEAR}",
            tuple(f"{case}: {name}" for name in ALGORITHM_2),
            tuple(f"{case}: {name}" for name in (FACETS, *OURS)),
        )
        for case in TIGHT
    ),
)
