"""Noise on signals as well as on decisions, which the paper names as a reason to relax."""

from __future__ import annotations

from itertools import product
from typing import Any

from experiments.frame.contest import best
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found, all_of
from experiments.frame.methods import HELPERS, measure
from experiments.frame.models import COLUMNS

CASES = {
    "no noise": {},
    "decisions": {"noise": 0.2},
    "signals": {"signal_noise": 0.05},
    "both": {"noise": 0.2, "signal_noise": 0.05},
}
DATA = {"data": "power5", "n_train": 100, "n_test": 200}
DEFAULT = "Ours: RegionRegressor(cost=...)"
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
    DEFAULT: {"method": "default"},
    "Linear policy": {"method": "linear policy"},
}
#: With noise, the choice among hypotheses takes its time.
LONG: dict[str, dict[str, Any]] = {DEFAULT: {"most_seeds": 3, "seconds": 30.0}}


def name(case: str, method: str) -> str:
    """Return what the table calls a row."""
    return f"noise on {case}, {method}" if CASES[case] else f"{case}, {method}"


def rows(settings: Settings) -> list[Row]:
    """Return every method in every case; quick mode has the ends of both lists."""
    cases = ("no noise", "both") if settings.quick else tuple(CASES)
    methods = ("Ours: Facets", "Linear policy") if settings.quick else tuple(METHODS)
    return [
        Row(name(case, key), {**DATA, **CASES[case], **METHODS[key]}, **LONG.get(key, {}))
        for case, key in product(cases, methods)
    ]


def _regions_still_win(found: Found) -> tuple[bool | None, str]:
    told, verdicts = [], []
    for case in ("decisions", "signals", "both"):
        linear = name(case, "Linear policy")
        regions = tuple(name(case, key) for key in METHODS if key != "Linear policy")
        chosen, _ = best(regions, linear, found)
        verdicts.append(found.lower(chosen, linear))
        told.append(
            f"{chosen} {found.told(chosen, 'returned')}, linear {found.told(linear, 'returned')}"
        )
    return all_of(verdicts), "; ".join(told)


def _facets_alone(found: Found) -> str:
    facets, default, linear = (
        found.told(name("decisions", key), "returned")
        for key in ("Ours: Facets", DEFAULT, "Linear policy")
    )
    return (
        f"With noise on the decisions, facets alone have {facets}, "
        f"`RegionRegressor(cost=...)`, which chooses by cross-validation, {default}, "
        f"and the linear policy {linear}."
    )


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
    notes=(_facets_alone,),
    claims=(
        Claim(
            "Losses allow for noise on signals and/or decisions: the best region on validation "
            "rows predicts better than a line",
            _regions_still_win,
        ),
    ),
)
