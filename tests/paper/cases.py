"""Sets of every kind and random problems over them: what the tests of paper are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from feaslearn.paper.losses import Loss, Predictability, Suboptimality
from feaslearn.paper.problem import Problem, Samples
from feaslearn.paper.regions import Affine
from feaslearn.sets import Box, Hypersimplex, L1Ball, L2Ball, Polytope, PrimitiveSet, Simplex
from registry import (
    cut_ellipsoid,
    disc_in_a_plane,
    elliptope,
    flow_polytope,
    half_disc,
    ice_cream,
    parabola_cap,
    polyhedral_cone_set,
)

Array = NDArray[np.float64]
ROOT = np.sqrt(2.0)


#: Sets that kernels serve.
SERVED: dict[str, Callable[[], PrimitiveSet]] = {
    "simplex-5": lambda: Simplex(5),
    "box-vector-limits": lambda: Box(3, [-1.0, 0.0, 2.0], [0.5, 4.0, 2.5]),
    "l1-ball-4": lambda: L1Ball(4),
    "l2-ball-3": lambda: L2Ball(3),
    "hypersimplex-middle": lambda: Hypersimplex(6, 3),
    "polytope-flow": flow_polytope,
}
#: Sets with few points, and those of which several entries say the same.
ODD: dict[str, Callable[[], PrimitiveSet]] = {
    "simplex-1": lambda: Simplex(1),
    "box-degenerate": lambda: Box(4, [0.0, 1.0, -1.0, 2.0], [1.0, 1.0, 2.0, 2.0]),
    "l2-ball-1": lambda: L2Ball(1),
    "hypersimplex-all": lambda: Hypersimplex(3, 3),
    "polytope-point": lambda: Polytope(np.eye(2), np.zeros(2), [[1.0, 1.0]], [0.0]),
}
CONIC: dict[str, Callable[[], PrimitiveSet]] = {
    "half-disc": half_disc,
    "cut-ellipsoid": cut_ellipsoid,
    "ice-cream": ice_cream,
    "disc-in-a-plane": disc_in_a_plane,
    "parabola-cap": parabola_cap,
    "elliptope": elliptope,
    "triangle": polyhedral_cone_set,
}
SETS = {**SERVED, **ODD, **CONIC}

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


@cache
def example(name: str) -> PrimitiveSet:
    """Return the set of that name; sets hold no state, so tests share them."""
    return SETS[name]()


def sample(
    name: str,
    loss: Loss,
    *,
    rows: int = 6,
    seed: int = 0,
    tied: bool = False,
    n: int = 3,
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
