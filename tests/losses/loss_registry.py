"""Sets, losses and norms, and random samples for each: what generates the tests of the losses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from feaslearn import Affine, Predictability, Suboptimality
from feaslearn.data import Block
from feaslearn.hypotheses import Hypothesis
from feaslearn.losses import Loss
from registry import NAMES, example

Array = NDArray[np.float64]

#: One set of each kind; the other sets of the registry are variations that tend to break code.
KINDS = (
    "simplex-5",
    "box-vector-limits",
    "l1-ball-4",
    "l2-ball-3",
    "hypersimplex-middle",
    "polytope-flow",
    "conic-half-disc",
    "product-polyhedral",
    "product-with-ball",
)
VARIATIONS = tuple(name for name in NAMES if name not in KINDS)

NORMS: dict[str, dict[str, object]] = {
    "squared-l2": {"norm": "l2", "squared": True},
    "l2": {"norm": "l2", "squared": False},
    "l1": {"norm": "l1"},
    "linf": {"norm": "linf"},
}

LOSSES: dict[str, type[Loss]] = {
    "predictability": Predictability,
    "suboptimality": Suboptimality,
}

#: Hypotheses on three decisions that are not a free map of one set.
HYPOTHESES: dict[str, Hypothesis] = {
    "scaled-l1-ball": fl.Scaled(fl.L1Ball(3)),
    "scaled-l2-ball": fl.Scaled(fl.L2Ball(3)),
    "minkowski": fl.Minkowski.union(
        fl.Minkowski.hypersimplices(3), fl.Minkowski.segments([[1.0, -1.0, 0.0]])
    ),
    "minkowski-with-ball": fl.Minkowski(
        [fl.Term(fl.L2Ball(2), [0, 2]), fl.Term(fl.Simplex(2), [1, 2])], scale="box"
    ),
}

#: Every set x loss x norm, by name.
CASES = [(z, loss, norm) for z in KINDS for loss in LOSSES for norm in NORMS]
#: Every solve of a semidefinite set is slow: many rows in one norm for each loss. The variations
#: hold the other norms, with few rows.
CASES += [
    ("conic-parabola-cap", "predictability", "squared-l2"),
    ("conic-parabola-cap", "suboptimality", "l2"),
]


class Sample(NamedTuple):
    """A hypothesis with parameters, and rows to evaluate a loss on."""

    hypothesis: Hypothesis
    theta: Array
    block: Block


def make_loss(loss: str, norm: str, **parameters: object) -> Loss:
    """Return a loss of the registry."""
    return LOSSES[loss](**NORMS[norm], **parameters)


def sample(
    name: str, *, rows: int, seed: int, tied: bool = False, hidden: float = 0.0, n: int = 3
) -> Sample:
    """Return random rows under a random region; ``hidden`` is the share of unobserved entries.

    With ``tied``, parameters and data are small integers, two columns of the map are equal and
    every fourth cost is zero, so that most rows have several minimisers.
    """
    rng = np.random.default_rng([seed, *name.encode()])
    hypothesis, k = HYPOTHESES.get(name) or Affine(example(name)), 2
    size = hypothesis.layout(n, k).size
    if tied:
        theta = rng.integers(-2, 3, size).astype(float)
        blocks = hypothesis.layout(n, k).unpack(theta)
        if "A" in blocks:
            blocks["A"][:, :, -1] = blocks["A"][:, :, 0]
        features = np.column_stack([np.ones(rows), rng.integers(-1, 2, rows)])
        costs = rng.integers(-1, 2, (rows, n)).astype(float)
        costs[::4] = 0.0
        decisions = rng.integers(-3, 4, (rows, n)).astype(float)
    else:
        theta = rng.normal(size=size)
        features = np.column_stack([np.ones(rows), rng.uniform(-1.0, 1.0, rows)])
        costs = rng.normal(size=(rows, n))
        decisions = rng.normal(scale=2.0, size=(rows, n))
    knots = hypothesis.layout(n, k).unpack(theta).get("knots")
    if knots is not None:
        knots[:] = [[-1.0], [1.0]]
    decisions[rng.random((rows, n)) < hidden] = np.nan
    return Sample(hypothesis, theta, Block(features, costs, decisions, np.ones(rows)))
