"""Example 1 of the paper: a decision that jumps, learned as a region, as a line and as a cost."""

from __future__ import annotations

from typing import Any

import numpy as np

import feaslearn as fl
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.models import CONVENTIONS, CORRECTED, algorithm_2, predictions, problem
from feaslearn import paper

N_TRAIN, N_TEST = 100, 1_000
REGIONS = (
    "Region, MILP",
    "Region, convex",
    *(f"Region, Alg 2, {convention}" for convention in CONVENTIONS),
)
RIDGES = (1e-2, 1e-4, 1e-6)


def rows(settings: Settings) -> list[Row]:
    """Return regions, then what only learns a policy or a cost."""
    ridges = RIDGES[:1] if settings.quick else RIDGES
    names = [*REGIONS, "k-means", "Linear policy"]
    found = [Row(name, {"model": name}) for name in names]
    return found + [
        Row(
            f"Quadratic cost over the known set, ridge {ridge:g}", {"model": "cost", "ridge": ridge}
        )
        for ridge in ridges
    ]


def fit(model: str, train: paper.Data, seed: int, ridge: float) -> Any:
    """Return a fitted model."""
    if model == "cost":
        known = fl.Polytope([[1, 0], [0, 1], [-1, 0], [0, -1]], [0, 0, -2, -2], [[1, 1]], [1])
        return paper.baselines.quadratic_cost(train, known, ridge)
    if model == "k-means":
        return paper.baselines.nearest_vertices(train, 2, seed)
    if model == "Linear policy":
        return paper.baselines.linear_policy(train)
    if model == "Region, MILP":
        binary = paper.Affine(fl.Simplex(2, binary=True))
        return paper.mixed_integer(problem(binary, train, CORRECTED), seed=seed)
    if model == "Region, convex":
        return paper.convex(problem(paper.Scaled(fl.Simplex(2)), train, CORRECTED))
    convention = model.removeprefix("Region, Alg 2, ")
    posed = problem(paper.Affine(fl.Simplex(2)), train, convention)
    return algorithm_2(posed, convention, seed=seed)


def measure(seed: int, *, model: str, ridge: float = 0.0) -> dict[str, Any]:
    """Fit one model, and return its mean squared and its largest error on test rows."""
    data = paper.datasets.make_switch(N_TRAIN + N_TEST, random_state=seed)
    train, test = data[:N_TRAIN], data[N_TRAIN:]
    errors = predictions(fit(model, train, seed, ridge), test) - test.decisions
    return {
        "returned": float((errors**2).sum(axis=1).mean()),
        "largest": float(np.abs(errors).max()),
        "gap": _gap(train),
    }


def _gap(train: paper.Data) -> float:
    """Return the width of the stretch around 0.5 in which no training row lies."""
    s = train.signals[:, 0]
    return float(s[s > 0.5].min() - s[s < 0.5].max())


def _regions_recover_it(found: Found) -> tuple[bool | None, str]:
    worst = {row: float(found.values(row, "returned").max()) for row in REGIONS}
    told = ", ".join(f"{row} {loss:.1e}" for row, loss in worst.items())
    return max(worst[row] for row in REGIONS[:2]) < 1e-9, f"largest test loss of a seed: {told}"


def _costs_do_not(found: Found) -> tuple[bool | None, str]:
    others = [row for row in found.cells if row.startswith(("Quadratic", "Linear"))]
    losses = {row: float(found.values(row, "largest").min()) for row in others}
    told = ", ".join(f"{row} {loss:.2f}" for row, loss in losses.items())
    return bool(losses) and min(losses.values()) > 0.3, f"least of the largest errors: {told}"


EXPERIMENT = Experiment(
    name="switch",
    title="Example 1: a decision that jumps",
    about=(
        "min s x₁ + (1 - s) x₂ : x₁ + x₂ = 1, x in [0, 2]². 100 rows to learn from, 1000 to "
        "test on. The "
        "decision jumps at s = 0.5; a strictly convex cost gives a continuous policy."
    ),
    rows=rows,
    measure=measure,
    columns={"returned": "test loss", "largest": "largest error"},
    helpers=(fit, algorithm_2, problem, predictions),
    claims=(
        Claim(
            "Example 1: the hypothesis class recovers a discontinuous policy", _regions_recover_it
        ),
        Claim("Example 1: learning a quadratic cost cannot", _costs_do_not),
    ),
)
