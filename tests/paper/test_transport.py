"""Cheapest-first dispatch and closed distances against the programs they must equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feaslearn.exceptions import DataError
from feaslearn.paper.network import TransportNetwork
from paper.small_networks import distance, least_cost


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
    demands = servable_demands(network, rng, 4)
    costs = rng.choice([-1.0, 0.5, 0.5, 1.0, 2.0], size=(4, n_plants))
    dispatch = network.solve(demands, costs)
    for x, c, d in zip(dispatch, costs, demands, strict=True):
        assert x @ c == pytest.approx(least_cost(network, d, c), abs=1e-8)
        # No smaller bound than the dispatch itself serves its demand: it is feasible.
        bounded = TransportNetwork(
            n_nodes, network.lines, network.line_capacity, network.plants, np.abs(x) + 1e-9
        )
        assert least_cost(bounded, d, c) is not None
    np.testing.assert_allclose(dispatch.sum(axis=1), demands.sum(axis=1), atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), n_nodes=st.integers(1, 5), n_plants=st.integers(1, 4))
def test_distances_are_those_of_the_programs(seed: int, n_nodes: int, n_plants: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, n_nodes, n_plants) if n_nodes > 1 else TransportNetwork(
        1, [], 1.0, [1] * n_plants, 2.0
    )  # fmt: skip
    demands = servable_demands(network, rng, 2)
    costs = rng.choice([-1.0, 0.5, 0.5, 1.0], size=(2, n_plants))
    points = rng.normal(1.0, 1.0, (2, n_plants))
    feasible = [distance(network, *pair) for pair in zip(points, demands, strict=True)]
    np.testing.assert_allclose(network.distance_to_feasible(points, demands), feasible, atol=1e-5)
    optimal = [distance(network, *each) for each in zip(points, demands, costs, strict=True)]
    np.testing.assert_allclose(
        network.distance_to_optimal(points, demands, costs), optimal, atol=1e-5
    )


def test_what_is_feasible_or_optimal_has_distance_zero() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1, 2], 3.0)
    signals, costs = np.array([[1.0, 2.0]]), np.array([[1.0, 5.0]])
    best, dear = network.solve(signals, costs), np.array([[0.6, 2.4]])
    assert network.distance_to_optimal(best, signals, costs) == [0.0]
    assert network.distance_to_feasible(dear, signals) == [0.0]
    np.testing.assert_allclose(
        network.distance_to_optimal(dear, signals, costs), np.linalg.norm(dear - best)
    )


def test_equal_prices_go_to_the_first_plant() -> None:
    network = TransportNetwork(2, [(1, 2)], 5.0, [1, 2], 2.0)
    np.testing.assert_allclose(
        network.solve([[1.0, 2.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]), [[2, 1], [1, 0]]
    )


def test_demands_are_the_last_signals() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1, 2], 3.0)
    np.testing.assert_allclose(network.solve([[9.0, 9.0, 1.0, 2.0]], [[1.0, 5.0]]), [[1.5, 1.5]])
    with pytest.raises(DataError, match="the last 2 signals are the demands"):
        network.solve([[1.0]], [[1.0, 5.0]])


def test_demand_that_cannot_be_served_is_named() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1], 3.0)
    with pytest.raises(DataError, match=r"cannot be served at sample 1 \(of 1\)"):
        network.solve([[1.0, 0.5], [1.0, 0.75]], [[1.0], [1.0]])


def test_which_demands_are_served() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1], 3.0)
    demands = [[1.0, 0.5], [1.0, 0.75], [2.6, 0.5], [2.5, 0.5]]
    assert network.serves(demands).tolist() == [True, False, False, True]
    for wrong in (-1.0, np.nan):
        with pytest.raises(DataError, match="a demand must be at least 0"):
            network.serves([[wrong, 0.5]])


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ((3, [(0, 3)], 1.0, [1], 1.0), r"\(0, 3\) is no line"),
        ((3, [(2, 2)], 1.0, [1], 1.0), r"\(2, 2\) is no line"),
        ((3, [(1, 2)], 1.0, [4], 1.0), "nodes are 1 to 3"),
        ((3, [(1, 2)], [1.0, 2.0], [1], 1.0), r"line_capacity is \[1.0, 2.0\]"),
        ((3, [(1, 2)], 1.0, [1], -1.0), "generator_capacity is -1.0"),
        ((3, [(1, 2)], np.inf, [1], 1.0), "line_capacity is inf"),
        ((17, [(1, 2)], 1.0, [1], 1.0), "17 nodes and 1 plants"),
        ((3, [(1, 2)], 1.0, [], 1.0), "3 nodes and 0 plants"),
    ],
)
def test_what_is_wrong_with_a_network_is_named(parts: tuple, told: str) -> None:
    with pytest.raises(DataError, match=told):
        TransportNetwork(*parts)
