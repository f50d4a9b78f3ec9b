"""The paper's table on the IEEE 14-bus system."""

from __future__ import annotations

from itertools import product

from experiments.frame.experiment import Claim, Contest, Experiment, Row, Settings
from experiments.frame.found import Found, all_of
from experiments.frame.methods import HELPERS, REGRESSORS, measure
from experiments.frame.models import COLUMNS, CONVENTIONS, CORRECTED, PUBLISHED
from experiments.power5 import ITERATIONS, LINEAR, QUADRATIC, printed

DATA = {"data": "ieee14", "n_train": 100, "n_test": 200}
#: ℓp_θ/ℓp, ℓsub_θ, ℓsub and seconds, as printed.
ALGORITHM_2 = {
    1: (0.83, 0.68, 0.12, 3.5),
    2: (0.43, 0.06, 0.20, 148.8),
    3: (0.51, 0.06, 0.24, 157.8),
}
OURS = {
    "Annealing, p=3": {"method": "annealing", "p": 3},
    "Minkowski": {"method": "minkowski"},
    "Facets": {"method": "facets"},
    "RegionRegressor(cost=...)": {"method": "default"},
}


def name(p: int, convention: str) -> str:
    """Return what the table calls a row of the paper."""
    return f"Alg 2, p={p}, predictability, {convention}"


def rows(settings: Settings) -> list[Row]:
    """Return the rows; quick mode has p = 2 and few iterations."""
    sizes = (2,) if settings.quick else tuple(ALGORITHM_2)
    iterations = 150 if settings.quick else ITERATIONS
    found = [
        Row(
            name(p, convention),
            {
                **DATA,
                "method": "algorithm 2",
                "convention": convention,
                "p": p,
                "max_iter": iterations,
            },
            printed(ALGORITHM_2[p]),
            seconds=8.0,
        )
        for convention, p in product(CONVENTIONS, sizes)
    ]
    found.append(Row(LINEAR, {**DATA, "method": "linear policy"}, printed(QUADRATIC)))
    ours = {key: OURS[key] for key in OURS if not settings.quick or key == "Facets"}
    found += [
        Row(f"Ours: {key}", {**DATA, **options}, seconds=5.0) for key, options in ours.items()
    ]
    found.append(Row("k-means, p=3", {**DATA, "method": "k-means", "p": 3}))
    if not settings.quick:
        found += [
            Row(f"scikit-learn, tuned: {key}", {**DATA, "method": key}, seconds=3.0)
            for key in REGRESSORS
        ]
    return found


def _two_beats_one(found: Found) -> tuple[bool | None, str]:
    held, told = [], []
    for convention in CONVENTIONS:
        one, two = found.paired(name(1, convention), name(2, convention), "returned")
        held.append(found.lower(name(2, convention), name(1, convention)))
        told.append(f"{convention}: p=1 {one.mean():.3f}, p=2 {two.mean():.3f}")
    return all_of(held), "; ".join(told)


def _copied_row(found: Found) -> str:
    one, linear = found.paired(name(1, PUBLISHED), LINEAR, "returned")
    return (
        "**Cannot be right**: the quadratic cost row, 2.58 / 2.56 / 0.63. It is copied from "
        "the table of "
        f"the five regions; these data give {found.told(LINEAR, 'returned')} (ℓsub "
        f"{found.told(LINEAR, 'true_suboptimality')}). A simplex of one vertex is a single affine "
        "policy, so the row of p = 1 as published says what it should be: "
        f"{one.mean():.3f} against {linear.mean():.3f} for the linear policy."
    )


def _one_vertex(found: Found) -> str:
    return (
        "**Cannot be right**: 0.83 with p = 1. That is a linear regression, a convex "
        "problem; its optimum "
        f"gives {found.told(name(1, PUBLISHED), 'returned')} here (without the prices as features "
        f"{found.told(name(1, CORRECTED), 'returned')})."
    )


EXPERIMENT = Experiment(
    name="ieee14",
    title="IEEE 14-bus system: out-of-sample losses",
    about=(
        "100 rows to learn from, 200 to test on, no noise; 17 signals. "
        f"Algorithm 2 takes up to {ITERATIONS} iterations from one start."
    ),
    rows=rows,
    measure=measure,
    columns=COLUMNS,
    helpers=HELPERS,
    notes=(_copied_row, _one_vertex),
    claims=(Claim("IEEE-14: p=2 predicts better than p=1 (0.43 against 0.83)", _two_beats_one),),
    contests=(
        Contest(
            "IEEE-14",
            LINEAR,
            tuple(name(p, convention) for p, convention in product(ALGORITHM_2, CONVENTIONS)),
            tuple(f"Ours: {key}" for key in OURS),
            (0.43, 2.58),
        ),
    ),
)
