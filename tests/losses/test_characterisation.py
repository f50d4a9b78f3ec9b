"""Both losses are zero exactly where the decision is optimal in the learned problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from loss_registry import KINDS, LOSSES, NORMS, VARIATIONS, Array, make_loss

from feaslearn import Affine
from feaslearn.data import Block
from feaslearn.hypotheses import Maps
from feaslearn.losses import Loss
from feaslearn.sets import AffineImage
from oracles import least_cost
from registry import NAMES, example, generators, mixtures, random_map, size_of

ORDERS = {"l1": 1, "l2": 2, "linf": np.inf}
#: The norm that bounds a product with the norm of this name.
DUAL_ORDERS = {"l1": np.inf, "l2": 2, "linf": 1}


#: Examples for each kind of set: a third of what the profile asks of a test.
EXAMPLES = max(4, settings.default.max_examples // 3)
each_kind_of_set = pytest.mark.parametrize(
    "names", [*((kind,) for kind in KINDS), VARIATIONS], ids=[*KINDS, "variations"]
)


class Learned(NamedTuple):
    """One learned problem: its region, its cost, its least cost and the size of its points."""

    name: str
    image: AffineImage
    cost: Array
    least: tuple[float, float]
    size: float

    def loss_of(self, loss: Loss, x: Array) -> float:
        """Return the loss of a decision."""
        hypothesis = Affine(self.image.primitive)
        theta = hypothesis.theta_of(Maps(self.image.matrix[None], self.image.offset[None]))
        block = Block(np.ones((1, 1)), self.cost[None], x[None], np.ones(1))
        return float(loss.samples(hypothesis, theta, block)[0])


@st.composite
def learned_problems(
    draw: st.DrawFn, names: tuple[str, ...]
) -> tuple[Learned, np.random.Generator]:
    """Draw a set, a map and a cost: with ties, flat maps, zero costs among them."""
    name, rng = draw(st.sampled_from(names)), draw(generators())
    primitive, n = example(name), int(rng.integers(1, 4))
    # Whole numbers tie often, others seldom.
    whole = rng.random() < 0.5
    matrix = random_map(rng, n, primitive.dimension)
    matrix = rng.integers(-2, 3, matrix.shape).astype(float) if whole else matrix
    # The offset of a simplex is part of its columns, and not a parameter.
    moves = 0.0 if primitive.absorbs_offset else 1.0
    image = AffineImage(primitive, matrix, moves * rng.integers(-2, 3, n))
    cost = rng.integers(-1, 2, n).astype(float) if whole else rng.normal(size=n)
    least = least_cost(primitive.conic_form(), matrix.T @ cost)
    shift = float(cost @ image.offset)
    size = max(1.0, float(np.abs(matrix).max())) * size_of(name) + 2.0
    return Learned(name, image, cost, (least[0] + shift, least[1] + shift), size), rng


def losses() -> st.SearchStrategy[Loss]:
    """Draw a loss in one of the norms; the square says nothing that l2 does not."""
    norms = [norm for norm in NORMS if norm != "squared-l2"]
    return st.builds(make_loss, st.sampled_from(list(LOSSES)), st.sampled_from(norms))


@each_kind_of_set
@settings(max_examples=EXAMPLES)
@given(st.data(), st.booleans())
def test_decisions_that_are_not_optimal_have_a_loss(
    names: tuple[str, ...], data: st.DataObject, feasible: bool
) -> None:
    """A loss is at least the distance to the region and, in its unit, the excess cost.

    So a loss of zero implies that both are zero.
    """
    learned, rng = data.draw(learned_problems(names))
    loss = data.draw(losses())
    if feasible:
        x = learned.image.at(mixtures(learned.image.primitive, rng, 1)[0])
    else:
        x = rng.normal(scale=2.0, size=learned.image.n)
    distance = 0.0 if feasible else learned.image.distance(x, loss.norm)
    excess = float(learned.cost @ x) - learned.least[1]
    order = 2 if hasattr(loss, "normalize_cost") else DUAL_ORDERS[loss.norm]
    price = float(np.linalg.norm(learned.cost, order)) or 1.0
    bound = max(distance, excess / price)
    assert learned.loss_of(loss, x) >= bound - 3e-6 * learned.size
    assume(bound > 1e-3 * learned.size)
    assert learned.loss_of(loss, x) > 0.0


@given(learned_problems(NAMES), st.sampled_from(list(ORDERS)))
def test_suboptimality_is_the_norm_of_distance_and_excess_cost(
    problem: tuple[Learned, np.random.Generator], norm: str
) -> None:
    learned, rng = problem
    x = rng.normal(scale=2.0, size=learned.image.n)
    loss = make_loss("suboptimality", norm, normalize_cost=False)
    gaps = [max(float(learned.cost @ x) - least, 0.0) for least in learned.least]
    distance = learned.image.distance(x, norm)
    found = learned.loss_of(loss, x)
    expected = [np.linalg.norm([distance, gap], ORDERS[norm]) for gap in gaps]
    slack = 1e-6 * (learned.size + found)
    assert min(expected) - slack <= found <= max(expected) + slack
