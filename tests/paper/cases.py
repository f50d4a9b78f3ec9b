"""Sets of every kind and random problems over them: what the tests of paper are made of."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from feaslearn.paper.losses import Loss, Predictability, Suboptimality
from feaslearn.paper.problem import Problem, Samples
from feaslearn.paper.regions import Affine
from registry import Array, example

#: Sets that kernels serve.
SERVED = (
    *("simplex-5", "box-vector-limits", "l1-ball-4", "l2-ball-3"),
    *("hypersimplex-middle", "polytope-flow"),
)
#: Sets with few points, and those of which several entries say the same.
ODD = ("simplex-1", "box-degenerate", "l2-ball-1", "hypersimplex-all", "polytope-point")
CONIC = (
    *("conic-half-disc", "conic-cut-ellipsoid", "conic-ice-cream", "conic-disc-in-a-plane"),
    *("semidefinite-parabola-cap", "semidefinite-elliptope", "conic-polyhedral"),
)
SETS = SERVED + ODD + CONIC

LOSSES: dict[str, type[Predictability] | type[Suboptimality]] = {
    "predictability": Predictability,
    "suboptimality": Suboptimality,
}
NORMS: dict[str, tuple[str, bool]] = {
    "squared-l2": ("l2", True),
    "l2": ("l2", False),
    "l1": ("l1", True),
    "linf": ("linf", True),
}


def make_loss(loss: str, norm: str = "squared-l2") -> Loss:
    """Return a loss by its name and that of its norm."""
    return LOSSES[loss](*NORMS[norm])  # type: ignore[arg-type]


#: Losses of integer programs.
LINEAR_OR_SQUARED: dict[str, Loss] = {
    "predictability": Predictability(),
    "predictability-l1": Predictability("l1"),
    "predictability-linf": Predictability("linf"),
    "suboptimality": Suboptimality(),
    "suboptimality-l1": Suboptimality("l1"),
    "suboptimality-linf": Suboptimality("linf", normalize_cost=False),
}


def length(loss: Loss, error: cp.Expression) -> cp.Expression:
    """Return the length of an error and, as a last entry, an excess of cost, for programs."""
    if loss.is_squared_l2:
        return cp.sum_squares(error)
    return cp.norm(error, {"l1": 1, "linf": "inf", "l2": 2}[loss.norm])


def sample(
    name: str, loss: Loss, *, rows: int = 6, seed: int = 0, tied: bool = False, n: int = 3
) -> tuple[Problem, Array]:
    """Return a random problem with uneven weights, and random parameters.

    With ``tied``, parameters and data are small integers, two columns of the map are equal and
    every fourth cost is zero, so that most rows have several minimisers.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    region, k = Affine(example(name)), 2
    size = region.layout(n, k).size
    if tied:
        theta = rng.integers(-2, 3, size).astype(float)
        A = region.layout(n, k).unpack(theta)["A"]
        A[:, :, -1] = A[:, :, 0]
        features = np.column_stack([np.ones(rows), rng.integers(-1, 2, rows)])
        costs = rng.integers(-1, 2, (rows, n)).astype(float)
        costs[::4] = 0.0
        decisions = rng.integers(-3, 4, (rows, n)).astype(float)
    else:
        theta = rng.normal(size=size)
        features = np.column_stack([np.ones(rows), rng.uniform(-1.0, 1.0, rows)])
        costs = rng.normal(size=(rows, n))
        decisions = rng.normal(scale=2.0, size=(rows, n))
    weights = np.random.default_rng(seed).uniform(0.2, 1.0, rows)
    samples = Samples(features, costs, decisions, weights / weights.sum())
    return Problem(region, loss, samples), theta


def with_weights(problem: Problem, weights: Array) -> Problem:
    """Return the problem with other weights."""
    return problem.with_samples(problem.samples._replace(weights=weights))
