"""Networks: dispatch and distances against programs, learned networks against all, one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from feaslearn.exceptions import DataError
from feaslearn.paper.baselines import enumerated_network
from feaslearn.paper.datasets import make_power5
from feaslearn.paper.network import LearnedNetwork, TransportNetwork, flow, learn_network
from feaslearn.paper.network.losses import NetworkLosses
from feaslearn.paper.problem import Clock, Data

RING = [(1, 2), (2, 3), (3, 4), (1, 4)]
LOSSES = ("predictability", "suboptimality")
CANDIDATES = TransportNetwork(5, None, 3.5, (1, 3, 5), 3.5)


# Programs.


def rows_of(network: TransportNetwork) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the balance of each node over dispatch and flows, and the bounds of both."""
    n_plants, n_lines = len(network.plants), len(network.lines)
    balance = np.zeros((network.n_nodes, n_plants + n_lines))
    balance[np.array(network.plants) - 1, np.arange(n_plants)] = 1.0
    ends = np.array(network.lines, dtype=int).reshape(n_lines, 2) - 1
    balance[ends[:, 0], n_plants + np.arange(n_lines)] = -1.0
    balance[ends[:, 1], n_plants + np.arange(n_lines)] = 1.0
    lower = np.concatenate([np.zeros(n_plants), -network.line_capacity])
    upper = np.concatenate([network.generator_capacity, network.line_capacity])
    return balance, lower, upper


def least_cost(network: TransportNetwork, demand: np.ndarray, cost: np.ndarray) -> float | None:
    """Return the least cost by HiGHS, None where the demand cannot be served."""
    balance, lower, upper = rows_of(network)
    costs = np.concatenate([cost, np.zeros(len(network.lines))])
    found = linprog(costs, A_eq=balance, b_eq=demand, bounds=np.column_stack([lower, upper]))
    return float(found.fun) if found.success else None


def distance(
    network: TransportNetwork,
    x: np.ndarray,
    demand: np.ndarray,
    cost: np.ndarray | None = None,
    norm: str = "l2",
) -> float:
    """Return the distance to all dispatches, or to all that cost no more than the cheapest."""
    balance, lower, upper = rows_of(network)
    v = cp.Variable(len(lower))
    u = v[: len(x)]
    rules = [balance @ v == demand, v >= lower, v <= upper]
    if cost is not None:
        rules.append(cost @ u <= least_cost(network, demand, cost) + 1e-9)
    gap = cp.norm1(u - x) if norm == "l1" else cp.norm2(u - x)
    return float(cp.Problem(cp.Minimize(gap), rules).solve(solver="CLARABEL"))


# Dispatch and distances.


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


def test_which_demands_are_served() -> None:
    network = TransportNetwork(2, [(1, 2)], 0.5, [1], 3.0)
    demands = [[1.0, 0.5], [1.0, 0.75], [2.6, 0.5], [2.5, 0.5]]
    assert network.serves(demands).tolist() == [True, False, False, True]
    with pytest.raises(DataError, match=r"cannot be served at sample 1 \(of 1\)"):
        network.solve(demands[:2], [[1.0], [1.0]])
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


# Demands that make vertices degenerate: whole numbers, capacities met exactly, nothing wanted.
DEGENERATE = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 1.5, 1.0]])
# All equal, a pair of equal ones, all different, zero, both signs.
PRICES = np.array([[1.0, 1, 1], [1.0, 1, 2], [0.3, 0.5, 0.2], [0.0, 0, 0], [-1.0, 1, 1]])


def triangle(line: float) -> TransportNetwork:
    """A plant of capacity 2 on each of three nodes."""
    return TransportNetwork(3, [(1, 2), (2, 3), (3, 1)], line, [1, 2, 3], 2.0)


@pytest.mark.parametrize("line", [0.5, 1.0, 5.0])
def test_optimal_faces_with_ties_and_degenerate_vertices(line: float) -> None:
    network, rng = triangle(line), np.random.default_rng(1)
    demands, costs = (np.array(part) for part in zip(*product(DEGENERATE, PRICES), strict=True))
    points = rng.normal(0.7, 1.0, size=costs.shape)
    found = network.distance_to_optimal(points, demands, costs)
    expected = [distance(network, *each) for each in zip(points, demands, costs, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_tiny_distances_are_exact() -> None:
    demands, steps = np.ones((5, 3)), np.array([0.0, 1e-9, 1e-7, 1e-5, 1e-3])
    # Off the plane sum x = 3, at right angles to it.
    points = np.array([1.0, 1.5, 0.5]) + steps[:, None] * np.ones(3) / np.sqrt(3.0)
    found = triangle(5.0).distance_to_feasible(points, demands)
    np.testing.assert_allclose(found, steps, atol=2e-9)


# Learned networks.


def four_nodes(
    seed: int, n_samples: int = 8, noise: float = 0.0, same_capacity: bool = False
) -> tuple[Data, TransportNetwork]:
    """Four nodes, three plants, six candidate lines; some prices tie, lines bind."""
    rng = np.random.default_rng(seed)
    capacity = np.full(6, 0.9) if same_capacity else rng.choice([0.6, 0.8, 1.1, 1.5], size=6)
    candidates = TransportNetwork(4, None, capacity, [1, 2, 4], [2.0, 1.5, 3.0])
    true = [line in RING for line in candidates.lines]
    truth = TransportNetwork(
        4, [line for line in candidates.lines if line in RING], capacity[true], [1, 2, 4],
        [2.0, 1.5, 3.0],
    )  # fmt: skip
    prices = np.round(rng.uniform(0.2, 1.2, size=(n_samples, 3)), 1)
    signals = np.hstack([prices, rng.uniform(0.1, 0.9, size=(n_samples, 4))])
    dispatch = truth.solve(signals, prices)
    decisions = dispatch + noise * rng.standard_normal(dispatch.shape)
    return Data(signals, decisions, prices, (0, 1, 2), truth), candidates


def assert_same_as_enumeration(
    data: Data, candidates: TransportNetwork, **options: Any
) -> tuple[LearnedNetwork, LearnedNetwork]:
    loss = options.get("loss", "predictability")
    every = learn_network(data, candidates, loss, solver="enumeration")
    found = learn_network(data, candidates, solver="milp", **options)
    assert found.status == every.status == "optimal"
    size = np.abs(data.decisions).max()
    assert found.loss == pytest.approx(every.loss, abs=1e-6 * size)
    assert found.bound == pytest.approx(every.loss, abs=1e-6 * size)
    assert found.bound <= found.loss
    assert len(found.lines) == len(every.lines) == found.n_lines_bound == every.n_lines_bound
    for kind in ("certain", "impossible", "undetermined", "unknown"):
        assert getattr(found, kind) == getattr(every, kind), kind
    assert sorted(every.certain + every.impossible + every.undetermined) == list(candidates.lines)
    return found, every


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(2))
def test_the_integer_program_is_as_good_as_all_networks(loss: str, seed: int) -> None:
    assert_same_as_enumeration(*four_nodes(seed, noise=0.2), loss=loss)


@pytest.mark.parametrize("same_capacity", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_networks_of_zero_loss(seed: int, same_capacity: bool) -> None:
    data, candidates = four_nodes(seed, 30, same_capacity=same_capacity)
    found, every = assert_same_as_enumeration(data, candidates)
    assert found.loss < 1e-9
    assert any((row == [line in data.truth.lines for line in candidates.lines]).all()
               for row in every.best)  # fmt: skip


def test_samples_are_added_as_they_are_needed() -> None:
    data, candidates = four_nodes(1, 40)
    losses = NetworkLosses(
        candidates, data.costs, data.signals[:, 3:], data.decisions, "predictability"
    )
    search = flow.FlowSearch(losses)
    assert search.least_loss(Clock()).value < 1e-9
    assert len(search.flows.samples) < 25
    lazy, _ = assert_same_as_enumeration(data, candidates)
    eager, _ = assert_same_as_enumeration(data, candidates, lazy=False)
    assert eager.n_iter <= lazy.n_iter


def test_the_ring_has_644_equivalent_networks() -> None:
    data = make_power5(100, random_state=0)
    for loss in LOSSES:
        every = enumerated_network(data, CANDIDATES, loss)
        assert (every.loss, every.bound, len(every.lines)) == (0.0, 0.0, 4)
        assert (len(every.networks), len(every.best), every.by_size[4]) == (1024, 644, 65)
        assert min(every.by_size) == 4
        assert every.certain == every.impossible == every.unknown == []
        found, _ = assert_same_as_enumeration(data, CANDIDATES, loss=loss)
        np.testing.assert_allclose(found.predict(data), data.decisions, atol=1e-9)


def test_lines_are_certain_where_they_bind() -> None:
    candidates = TransportNetwork(5, None, 1.5, (1, 3, 5), 3.5)
    found, every = assert_same_as_enumeration(
        make_power5(50, random_state=0, line_capacity=1.5), candidates
    )
    assert found.certain == [(1, 2), (2, 3), (4, 5)]
    assert len(every.best) < 644


def test_identification_can_be_left_out() -> None:
    data, candidates = four_nodes(1, 20)
    found = learn_network(data, candidates, solver="milp", identify=False)
    assert found.status == "optimal"
    assert found.unknown == list(candidates.lines)
    assert found.certain == found.impossible == found.undetermined == []


def test_demands_that_the_learned_network_cannot_serve_are_nan() -> None:
    data = make_power5(50, random_state=0)
    found = learn_network(data, CANDIDATES)
    signals = data.signals[:2].copy()
    signals[1, 3:] = 3.0
    answers = found.predict(Data(signals, data.decisions[:2], data.costs[:2]))
    assert np.isnan(answers).tolist() == [[False] * 3, [True] * 3]


@pytest.mark.parametrize("solver", ["milp", "enumeration"])
def test_no_time_is_said(solver: Any) -> None:
    data, candidates = four_nodes(0, 20, noise=0.2)
    found = learn_network(data, candidates, solver=solver, max_seconds=1e-9)
    assert found.status == "time limit"
    assert found.network.all()
    assert np.isfinite(found.loss)
    assert found.bound <= found.loss
    assert found.n_lines_bound == 0
    assert found.unknown == list(candidates.lines)


@pytest.mark.parametrize(("solver", "calls"), [("milp", 5), ("enumeration", 1)])
def test_ctrl_c_returns_the_best_so_far(
    solver: Any, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, candidates = four_nodes(0, 20, noise=0.2)
    whole, of, left = learn_network(data, candidates, solver=solver), NetworkLosses.of, [calls]

    def interrupted(self: NetworkLosses, networks: np.ndarray) -> np.ndarray:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return of(self, networks)

    monkeypatch.setattr(NetworkLosses, "of", interrupted)
    found = learn_network(data, candidates, solver=solver)
    assert found.status == "interrupted"
    assert whole.loss <= found.loss < np.inf
    assert found.bound <= whole.loss
    assert found.certain == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "mlp"}, "solver is 'mlp', expected one of"),
        ({"loss": "squared"}, "loss is 'squared'"),
        ({"max_seconds": 0}, "max_seconds is 0"),
    ],
)
def test_bad_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        learn_network(make_power5(3, random_state=0), CANDIDATES, **options)


def test_bad_data_are_named() -> None:
    data = make_power5(5, random_state=0)
    signals, decisions = data.signals.copy(), data.decisions.copy()
    signals[3, 3:] = 9.0
    with pytest.raises(DataError, match="no network serves the demand of sample 3,"):
        learn_network(Data(signals, decisions, data.costs), CANDIDATES)
    signals[3, 4] = -0.25
    with pytest.raises(DataError, match="a demand must be at least 0"):
        learn_network(Data(signals, decisions, data.costs), CANDIDATES)
    with pytest.raises(DataError, match="2 columns for 3 plants"):
        learn_network(Data(data.signals, data.decisions[:, :2], data.costs[:, :2]), CANDIDATES)
    many = TransportNetwork(8, None, 3.5, (1, 3, 5), 3.5)
    with pytest.raises(DataError, match="serves up to 20 candidate lines, there are 28"):
        learn_network(data, many, solver="enumeration")


@given(seed=st.integers(0, 2**32 - 1), n_nodes=st.integers(1, 5), n_plants=st.integers(1, 4))
def test_losses_equal_those_of_the_linear_program(seed: int, n_nodes: int, n_plants: int) -> None:
    rng = np.random.default_rng(seed)
    n_lines = n_nodes * (n_nodes - 1) // 2
    candidates = TransportNetwork(
        n_nodes,
        None,
        rng.choice([0.0, 0.5, 1.0, 2.0], size=n_lines),
        rng.integers(1, n_nodes + 1, size=n_plants).tolist(),
        rng.choice([1.0, 2.5, 4.0], size=n_plants),
    )
    prices = rng.choice([-1.0, 0.5, 0.5, 1.0, 2.0], size=(3, n_plants))
    demands = rng.uniform(0.0, 0.6, size=(3, n_nodes))
    decisions = rng.normal(1.0, 1.0, (3, n_plants))
    networks = rng.random((2, n_lines)) < 0.7
    near, cheap = (
        NetworkLosses(candidates, prices, demands, decisions, loss).of(networks) for loss in LOSSES
    )
    unit = prices / np.linalg.norm(prices, axis=1, keepdims=True)
    for r, chosen in enumerate(networks):
        network = TransportNetwork(
            n_nodes,
            [candidates.lines[line] for line in np.flatnonzero(chosen)],
            candidates.line_capacity[chosen],
            candidates.plants,
            candidates.generator_capacity,
        )
        for i, (x, d, c) in enumerate(zip(decisions, demands, unit, strict=True)):
            least = least_cost(network, d, c)
            if least is None:
                assert near[r, i] == cheap[r, i] == np.inf
                continue
            assert near[r, i] == pytest.approx(distance(network, x, d, c, "l1"), abs=1e-5)
            expected = distance(network, x, d, norm="l1") + max(0.0, c @ x - least)
            assert cheap[r, i] == pytest.approx(expected, abs=1e-5)
