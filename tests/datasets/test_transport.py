"""Cheapest-first dispatch against the linear program it must equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.datasets import TransportNetwork
from feaslearn.exceptions import DataError

RING = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 1)]


def random_network(rng: np.random.Generator, n_nodes: int, n_plants: int) -> TransportNetwork:
    """A ring, or a random tree with some more lines; capacities that bind, also whole numbers."""
    order = rng.permutation(n_nodes) + 1
    if rng.random() < 0.5:
        lines = [(int(order[i - 1]), int(order[i])) for i in range(n_nodes)]
    else:
        lines = [(int(order[rng.integers(i)]), int(order[i])) for i in range(1, n_nodes)]
        lines += [(int(a), int(b)) for a, b in rng.integers(1, n_nodes + 1, (3, 2)) if a != b]
    line_capacity = rng.choice([0.0, 0.5, 1.0, 2.0, 3.3], size=len(lines))
    generator_capacity = rng.choice([1.0, 2.5, 4.0], size=n_plants)
    plants = rng.integers(1, n_nodes + 1, size=n_plants).tolist()
    return TransportNetwork(n_nodes, lines, line_capacity, plants, generator_capacity)


def servable_demands(
    network: TransportNetwork, rng: np.random.Generator, n_samples: int
) -> np.ndarray:
    """What random outputs and flows within the capacities leave at the nodes, if not negative."""
    demands = np.zeros((n_samples, network.n_nodes))
    for i in range(n_samples):
        output = rng.uniform(0.0, 1.0, len(network.plants)) * network.generator_capacity
        np.add.at(demands[i], np.array(network.plants) - 1, output)
        for _ in range(3):
            left = network.line_capacity / 3.0
            for (first, second), most in zip(network.lines, left, strict=True):
                source, sink = (first, second) if rng.random() < 0.5 else (second, first)
                flow = rng.uniform(0.0, min(most, demands[i, source - 1]) + 1e-300)
                demands[i, source - 1] -= flow
                demands[i, sink - 1] += flow
    return np.maximum(demands, 0.0)


@given(seed=st.integers(0, 2**32 - 1), n_nodes=st.integers(2, 8), n_plants=st.integers(1, 4))
def test_dispatch_is_an_optimal_vertex_of_the_linear_program(
    seed: int, n_nodes: int, n_plants: int
) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_nodes, n_plants)
    demands = servable_demands(network, rng, 5)
    costs = rng.choice([-1.0, 0.5, 0.5, 1.0, 2.0], size=(5, n_plants))
    dispatch = network.dispatch(demands, costs)
    program = network.linear_program()
    np.testing.assert_allclose(
        (dispatch * costs).sum(axis=1), program.optimal_value(demands, costs), atol=1e-8
    )
    assert program.distance_to_feasible(dispatch, demands, norm="linf").max() < 1e-8
    np.testing.assert_allclose(dispatch.sum(axis=1), demands.sum(axis=1), atol=1e-9)
    distinct = rng.permuted(np.tile(np.linspace(0.5, 2.0, n_plants), (5, 1)), axis=1)
    np.testing.assert_allclose(
        network.dispatch(demands, distinct), program.solve(demands, distinct), atol=1e-8
    )


def test_equal_prices_go_to_the_first_plant() -> None:
    network = TransportNetwork(2, [(1, 2)], 5.0, [1, 2], 2.0)
    np.testing.assert_allclose(
        network.dispatch([[1.0, 2.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]), [[2, 1], [1, 0]]
    )


def test_demand_may_stand_anywhere_among_the_signals() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1, 2], 3.0)
    program = network.linear_program(4, demand_columns=[3, 1])
    solved = program.solve([[9.0, 2.0, 9.0, 1.0]], [[1.0, 5.0]])
    np.testing.assert_allclose(solved, [[1.5, 1.5]])
    with pytest.raises(DataError, match=r"demand_columns is \[0, 4\]"):
        network.linear_program(4, demand_columns=[0, 4])


def test_demand_that_cannot_be_served_is_named() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1], 3.0)
    with pytest.raises(DataError, match=r"cannot be served at sample 1 \(up to 0.25 is missing\)"):
        network.dispatch([[1.0, 0.5], [1.0, 0.75]], [[1.0], [1.0]])


def test_which_demands_are_served() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1], 3.0)
    demands = [[1.0, 0.5], [1.0, 0.75], [2.6, 0.5], [2.5, 0.5]]
    assert network.serves(demands).tolist() == [True, False, False, True]
    with pytest.raises(DataError, match="a demand must be at least 0"):
        network.serves([[-1.0, 0.5]])


def test_every_problem_of_a_network_is_named() -> None:
    with pytest.raises(DataError) as caught:
        TransportNetwork(3, [(1, 2), (0, 3), (2, 2), (1.5, 2)], [1.0], [4], -1.0)
    for part in (
        "line 0-3 names node 0; nodes are 1 to 3",
        "line 2-2 joins a node to itself",
        "line (1.5, 2) is not a pair",
        "a plant is at node 4",
        "line_capacity has shape (1,)",
        "generator_capacity is -1.0",
    ):
        assert part in str(caught.value)
