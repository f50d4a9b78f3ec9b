"""Sums over samples: weights, blocks, threads."""

from __future__ import annotations

import numpy as np
import pytest
from loss_registry import KINDS, LOSSES, NORMS, make_loss, sample

import feaslearn as fl
from feaslearn.data import Block, Samples
from feaslearn.losses import Objective


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", KINDS)
def test_blocks_add_up_to_the_whole(name: str, loss: str) -> None:
    hypothesis, theta, block = sample(name, rows=23, seed=21, hidden=0.1)
    measured = make_loss(loss, "l2")
    whole, slope = measured.value_and_gradient(hypothesis, theta, block)
    for size in (5, 100):
        objective = Objective(measured, hypothesis, Samples.of(block, size))
        value, gradient = objective.value_and_gradient(theta)
        assert value == pytest.approx(whole, rel=1e-12)
        assert gradient == pytest.approx(slope, rel=1e-9, abs=1e-9 * np.abs(slope).max())


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["simplex-5", "product-with-ball"])
def test_the_number_of_threads_changes_no_bit(name: str, norm: str) -> None:
    hypothesis, theta, block = sample(name, rows=1000, seed=22)
    parts = Samples.of(block, 64)
    measured = make_loss("predictability", norm)
    results = [
        Objective(measured, hypothesis, parts, n_jobs=jobs).value_and_gradient(theta)
        for jobs in (1, 3)
    ]
    for value, gradient in results[1:]:
        assert value == results[0][0]
        assert gradient.tobytes() == results[0][1].tobytes()


@pytest.mark.parametrize("rows", [1, 129])
def test_the_blocks_of_the_hot_path_lose_no_row(rows: int) -> None:
    """Rows of a simplex are handled in blocks; each is as if it were alone."""
    hypothesis, theta, block = sample("simplex-5", rows=rows, seed=23, hidden=0.1)
    block.costs[::7] = 0.0
    measured = make_loss("predictability", "squared-l2")
    values, tied, gradient = measured.rows(hypothesis, theta, block)
    alone = [
        measured.rows(hypothesis, theta, Block(*(array[i : i + 1] for array in block)))
        for i in range(rows)
    ]
    assert values.tolist() == [float(row.values[0]) for row in alone]
    assert tied.tolist() == [bool(row.tied[0]) for row in alone]
    total = sum(row.gradient.A for row in alone)
    assert pytest.approx(total, rel=1e-12, abs=1e-12) == gradient.A
    predicted = hypothesis.predict(theta, block.features, block.costs)
    one_by_one = [
        hypothesis.predict(theta, block.features[i : i + 1], block.costs[i : i + 1])[0]
        for i in range(rows)
    ]
    assert predicted.tolist() == np.array(one_by_one).tolist()


@pytest.mark.parametrize("loss", [fl.Predictability(), fl.Suboptimality(), fl.Predictability("l1")])
@pytest.mark.parametrize("hypothesis", [fl.Affine(fl.Simplex(3)), fl.Scaled(fl.Box(2))])
def test_a_value_counts_rows_by_their_weights(loss: object, hypothesis: object) -> None:
    """Both passes agree with rows that are written as often as their weight says."""
    random = np.random.default_rng(0)
    features = np.column_stack([np.ones(6), random.normal(size=6)])
    costs, decisions = random.normal(size=(2, 6, 2))
    times = np.array([1, 4, 2, 1, 3, 1])
    weighted = Block(features, costs, decisions, times / times.sum())
    again = [np.repeat(part, times, axis=0) for part in (features, costs, decisions)]
    written = Block(*again, np.full(times.sum(), 1.0 / times.sum()))
    values = []
    theta = random.normal(size=hypothesis.layout(2, 2).size)
    for block in (weighted, written):
        objective = Objective(loss, hypothesis, Samples.of(block, 4))
        value, gradient = objective.value_and_gradient(theta)
        assert objective.value(theta) == pytest.approx(value, rel=1e-12)
        values.append((value, gradient))
    assert values[0][0] == pytest.approx(values[1][0], rel=1e-12)
    np.testing.assert_allclose(values[0][1], values[1][1], rtol=1e-9, atol=1e-12)
    even = Objective(loss, hypothesis, Samples.of(weighted._replace(weights=np.full(6, 1 / 6)), 4))
    assert abs(even.value(theta) - values[0][0]) > 1e-3
