"""The loss against the number of lines, bootstrap, and what to observe next."""

from __future__ import annotations

import numpy as np
import pytest

import feaslearn as fl
from network.cases import four_nodes


def test_the_curve_of_the_integer_program_is_that_of_all_networks() -> None:
    signals, decisions, arguments = four_nodes(2, 6, noise=0.2)
    everything = fl.baselines.EnumeratedNetwork(**arguments).fit(signals, decisions)
    sizes = everything.networks_.sum(axis=1)
    expected = [everything.losses_[sizes <= k].min() for k in range(7)]
    for solver in ("auto", "milp"):
        learner = fl.NetworkLearner(**arguments, solver=solver).fit(signals, decisions)
        curve = learner.loss_curve()
        np.testing.assert_array_equal(curve.n_lines, np.arange(7))
        np.testing.assert_allclose(curve.losses, expected, atol=1e-6)
        finite = np.isfinite(curve.losses)
        np.testing.assert_allclose(curve.bounds[finite], curve.losses[finite], atol=1e-6)
        assert (curve.networks.sum(axis=1)[finite] <= curve.n_lines[finite]).all()
        assert curve.losses[curve.n_lines == curve.elbow(0.0)] == pytest.approx(learner.loss_)


def test_the_elbow_is_where_lines_stop_to_pay() -> None:
    curve = fl.network.LineCurve(
        np.arange(4), np.array([np.inf, 1.0, 0.03, 0.0]), np.zeros(4), np.zeros((4, 3), dtype=bool)
    )
    assert curve.elbow() == 2
    assert curve.elbow(0.0) == 3


def test_bootstrap_frequencies() -> None:
    signals, decisions, arguments = four_nodes(4, 12, noise=0.05)
    learner = fl.NetworkLearner(**arguments).fit(signals, decisions)
    shares = learner.bootstrap(10, random_state=0)
    assert list(shares) == learner.candidate_lines_
    assert all(0.0 <= share <= 1.0 for share in shares.values())
    assert shares == learner.bootstrap(10, random_state=0)
    # By hand: the sparsest best networks of each draw, all counted alike.
    everything = fl.baselines.EnumeratedNetwork(**arguments)
    generator = np.random.default_rng(0)
    total = np.zeros(6)
    for _ in range(10):
        rows = generator.integers(12, size=12)
        everything.fit(signals[rows], decisions[rows])
        sizes = everything.best_.sum(axis=1)
        total += everything.best_[sizes == sizes.min()].mean(axis=0)
    np.testing.assert_allclose(list(shares.values()), total / 10)


def test_bootstrap_by_the_integer_program() -> None:
    signals, decisions, arguments = four_nodes(4, 6, noise=0.05)
    learner = fl.NetworkLearner(**arguments, solver="milp").fit(signals, decisions)
    shares = learner.bootstrap(2, random_state=0)
    assert set(shares.values()) <= {0.0, 0.5, 1.0}


def test_the_next_signal_separates_what_remains() -> None:
    # One plant at node 1 and node 2 with its own dearer plant: the line shows only at high demand.
    arguments = {
        "nodes": 3,
        "generators": [1, 2],
        "generator_capacity": 5.0,
        "line_capacity": 1.0,
        "candidate_lines": [(1, 2), (1, 3), (2, 3)],
        "cost": [1.0, 3.0],
        "demand": [0, 1, 2],
    }
    # Node 3 takes one unit from the cheap plant: directly, or through node 2.
    signals, decisions = np.array([[1.0, 0.0, 1.0]]), np.array([[2.0, 0.0]])
    learner = fl.NetworkLearner(**arguments).fit(signals, decisions)
    found = learner.identify()
    remaining = {
        tuple(line for line, is_one in zip(learner.candidate_lines_, row, strict=True) if is_one)
        for row in found.networks
    }
    direct, around = ((1, 3),), ((1, 2), (2, 3))
    assert {direct, around} <= remaining
    useless, useful = [1.0, 0.0, 0.5], [1.0, 1.0, 0.5]
    chosen = learner.next_signal([useless, useful], identification=found)
    assert chosen.row == 1
    assert chosen.n_answers >= 2
    assert chosen.expected_left < chosen.n_networks == len(remaining)
    only_useless = learner.next_signal([useless])
    assert only_useless.n_answers == 1
    assert only_useless.expected_left == len(remaining)
    drawn = learner.next_signal(widen=3.0, random_state=1)
    assert drawn.signal.shape == (3,)
