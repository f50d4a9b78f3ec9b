"""Small networks whose lines are learned, and the linear programs they stand for."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from feaslearn.paper.network import TransportNetwork
from feaslearn.paper.problem import Data

RING = [(1, 2), (2, 3), (3, 4), (1, 4)]


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
    import cvxpy as cp

    balance, lower, upper = rows_of(network)
    v = cp.Variable(len(lower))
    u = v[: len(x)]
    rules = [balance @ v == demand, v >= lower, v <= upper]
    if cost is not None:
        rules.append(cost @ u <= least_cost(network, demand, cost) + 1e-9)
    gap = cp.norm1(u - x) if norm == "l1" else cp.norm2(u - x)
    return float(cp.Problem(cp.Minimize(gap), rules).solve(solver="CLARABEL"))
