"""Noise on signals as well as on decisions, which the paper names as a reason to relax."""

from __future__ import annotations

from itertools import product
from typing import Any

from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.methods import HELPERS, measure
from experiments.frame.models import COLUMNS

CASES = {
    "no noise": {},
    "decisions": {"noise": 0.2},
    "signals": {"signal_noise": 0.05},
    "both": {"noise": 0.2, "signal_noise": 0.05},
}
METHODS: dict[str, dict[str, Any]] = {
    "Alg 2, p=6, predictability": {"method": "algorithm 2", "p": 6, "max_iter": 500},
    "Alg 2, p=6, suboptimality": {
        "method": "algorithm 2",
        "p": 6,
        "max_iter": 500,
        "loss": "suboptimality",
    },
    "Ours: Annealing, p=9": {"method": "annealing", "p": 9},
    "Ours: Minkowski": {"method": "minkowski"},
    "Ours: Facets": {"method": "facets"},
    "Linear policy": {"method": "linear policy"},
}


def rows(settings: Settings) -> list[Row]:
    """Return every method in every case; quick mode has the ends of both lists."""
    cases = ("no noise", "both") if settings.quick else tuple(CASES)
    methods = ("Ours: Facets", "Linear policy") if settings.quick else tuple(METHODS)
    data = {"data": "power5", "n_train": 100, "n_test": 200}
    return [
        Row(
            f"noise on {case}, {key}" if CASES[case] else f"{case}, {key}",
            {**data, **CASES[case], **METHODS[key]},
        )
        for case, key in product(cases, methods)
    ]


def _regions_still_win(found: Found) -> tuple[bool | None, str]:
    told, held = [], []
    for case in ("decisions", "signals", "both"):
        linear = found.mean(f"noise on {case}, Linear policy", "returned")
        best = {
            key: found.mean(f"noise on {case}, {key}", "returned")
            for key in METHODS
            if key != "Linear policy"
        }
        key = min(best, key=lambda one: best[one])
        held.append(best[key] < linear)
        told.append(f"{case}: {key} {best[key]:.3f}, linear policy {linear:.3f}")
    return all(held), "; ".join(told)


EXPERIMENT = Experiment(
    name="signal_noise",
    title="Noise on signals as well as on decisions",
    about=(
        "The five regions, 100 rows and 200 to test on; Gaussian noise of deviation 0.2 on "
        "decisions, 0.05 on observed "
        "signals (prices and demands), on train and test rows. Corrected convention, 500 "
        "iterations of Algorithm 2."
    ),
    rows=rows,
    measure=measure,
    columns=COLUMNS,
    helpers=HELPERS,
    claims=(
        Claim(
            "Losses allow for noise on signals and/or decisions: a region still predicts "
            "better than a line",
            _regions_still_win,
        ),
    ),
)
