"""Costs that are zero, tied, of both signs or in other units; one row; what ties do to a loss."""

from __future__ import annotations

import numpy as np
import pytest
from loss_registry import KINDS, LOSSES, NORMS, make_loss, sample

import feaslearn as fl
from feaslearn.data import Block
from feaslearn.formulations import losses_by_program
from registry import example, mixtures


@pytest.mark.parametrize("norm", ["squared-l2", "l1"])
@pytest.mark.parametrize("name", KINDS)
def test_a_cost_at_right_angles_to_the_region(name: str, norm: str) -> None:
    """Equal prices in a region whose sum is constant: all of it is optimal, up to rounding."""
    hypothesis, theta, block = sample(name, rows=5, seed=35)
    A = hypothesis.layout(3, 2).unpack(theta)["A"]
    A -= A.mean(axis=1, keepdims=True)
    block.costs[:] = 0.3
    rng = np.random.default_rng(0)
    for i, phi in enumerate(block.features):
        image = hypothesis.image(theta, phi, 3)
        block.decisions[i] = image.at(mixtures(image.primitive, rng, 1)[0])
    loss = make_loss("predictability", norm)
    nothing = pytest.approx(np.zeros(5), abs=1e-6)
    assert loss.rows(hypothesis, theta, block).tied.all()
    assert loss.samples(hypothesis, theta, block) == nothing
    assert losses_by_program(loss, hypothesis, theta, block) == nothing


@pytest.mark.parametrize("unit", [1e-2, 1e6])
@pytest.mark.parametrize("name", KINDS)
def test_the_unit_of_money(name: str, unit: float) -> None:
    hypothesis, theta, block = sample(name, rows=6, seed=33)
    tied = sample(name, rows=6, seed=33, tied=True)
    other, tied_other = (s._replace(costs=unit * s.costs) for s in (block, tied.block))
    for loss in LOSSES:
        measured = make_loss(loss, "squared-l2")
        for params, here, there in ((theta, block, other), (tied.theta, tied.block, tied_other)):
            assert measured.samples(hypothesis, params, there) == pytest.approx(
                measured.samples(hypothesis, params, here), rel=1e-6, abs=1e-6
            ), loss
    raw = make_loss("suboptimality", "squared-l2", normalize_cost=False)
    changed = raw.samples(hypothesis, theta, other) - raw.samples(hypothesis, theta, block)
    assert np.abs(changed).max() > 0.01


@pytest.mark.parametrize("norm", ["squared-l2", "l1"])
@pytest.mark.parametrize("name", KINDS)
def test_the_loss_never_exceeds_that_of_the_returned_decision(name: str, norm: str) -> None:
    """The loss takes the best of several minimisers, a prediction is one of them."""
    hypothesis, theta, block = sample(name, rows=24, seed=34, tied=True)
    measured = make_loss("predictability", norm)
    optimistic, tied, _ = measured.rows(hypothesis, theta, block)
    returned = hypothesis.predict(theta, block.features, block.costs)
    order = {"squared-l2": 2, "l2": 2, "l1": 1, "linf": np.inf}[norm]
    losses = np.linalg.norm(returned - block.decisions, order, axis=1)
    if norm == "squared-l2":
        losses = losses**2
    assert (optimistic <= losses * (1.0 + 1e-6) + 1e-6).all()
    assert optimistic[~tied] == pytest.approx(losses[~tied], rel=1e-6, abs=1e-6)
    assert (optimistic < losses - 1e-3).any()


@pytest.mark.parametrize("norm", NORMS)
def test_a_decision_cheaper_than_the_region_has_no_excess(norm: str) -> None:
    """The region is the square around 0; (-3, 0) is off it by 2 and costs less than all of it."""
    primitive, theta = fl.Box(2), np.append(np.eye(2).ravel(), np.zeros(2))
    block = Block(np.ones((1, 1)), np.array([[1.0, 0.0]]), np.array([[-3.0, 0.25]]), np.ones(1))
    loss = make_loss("suboptimality", norm)
    value, gradient = loss.value_and_gradient(fl.Affine(primitive), theta, block)
    assert value == pytest.approx(4.0 if norm == "squared-l2" else 2.0, abs=1e-6)
    # The region moved by (t, u) is off by 2 + t: what it costs does not count.
    moved = fl.Affine(primitive).layout(2, 1).unpack(gradient)["b"][0]
    assert moved == pytest.approx([4.0 if norm == "squared-l2" else 1.0, 0.0], abs=1e-5)


def test_prices_that_only_rounding_makes_tie_beside_a_column_of_zeros() -> None:
    """Columns at right angles to the cost up to rounding: all of the half disc is optimal."""
    hypothesis, cost = fl.Affine(example("conic-half-disc")), np.array([[0.1, 0.2, 0.3]])
    # 0.1 * 3 is not 0.3 in binary: the latent cost is about 1e-17, and not zero.
    A, inside = np.array([[3.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]), np.array([0.25, 0.5])
    assert (A.T @ cost[0])[0] != 0.0
    theta = np.zeros(hypothesis.layout(3, 1).size)
    hypothesis.layout(3, 1).unpack(theta)["A"][0] = A
    block = Block(np.ones((1, 1)), cost, (A @ inside)[None], np.ones(1))
    found = make_loss("predictability", "squared-l2").rows(hypothesis, theta, block)
    assert found.tied.all()
    assert found.values == pytest.approx([0.0], abs=1e-9)


def test_nearly_tied_faces_are_whole_where_a_solver_measures_them() -> None:
    """No kernel has the largest error over a face: a solver finds the nearest point of it."""
    hypothesis, loss = fl.Affine(fl.Simplex(2)), fl.Predictability("linf", squared=False)
    theta = np.eye(2).ravel()
    middle = np.array([[0.5, 0.5]])
    for apart, expected in ((0.0, 0.0), (1e-11, 0.0), (1e-6, 0.5)):
        costs = np.array([[1.0, 1.0 + apart]])
        block = Block(np.ones((1, 1)), costs, middle, np.ones(1))
        assert loss.samples(hypothesis, theta, block)[0] == pytest.approx(expected, abs=1e-7)
