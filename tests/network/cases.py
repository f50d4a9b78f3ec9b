"""Small networks whose lines are learned."""

from __future__ import annotations

from typing import Any

import numpy as np

import feaslearn as fl

RING = [(1, 2), (2, 3), (3, 4), (1, 4)]


def four_nodes(
    seed: int, n_samples: int = 8, noise: float = 0.0, same_capacity: bool = False
) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Four nodes, three plants, six candidate lines; some prices tie, lines bind."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(1, 5) for j in range(i + 1, 5)]
    capacity = np.full(6, 0.9) if same_capacity else rng.choice([0.6, 0.8, 1.1, 1.5], size=6)
    truth = [line for line in pairs if line in RING]
    network = fl.datasets.TransportNetwork(
        4, truth, capacity[[pairs.index(line) for line in truth]], [1, 2, 4], [2.0, 1.5, 3.0]
    )
    prices = np.round(rng.uniform(0.2, 1.2, size=(n_samples, 3)), 1)
    demands = rng.uniform(0.1, 0.9, size=(n_samples, 4))
    dispatch = network.dispatch(demands, prices)
    decisions = dispatch + noise * rng.standard_normal(dispatch.shape)
    arguments = {
        "nodes": 4,
        "generators": [1, 2, 4],
        "generator_capacity": [2.0, 1.5, 3.0],
        "line_capacity": capacity,
        "cost": [0, 1, 2],
        "demand": [3, 4, 5, 6],
    }
    return np.column_stack([prices, demands]), decisions, arguments


def classes(model: fl.baselines.EnumeratedNetwork) -> tuple[list, list, list]:
    """Certain, impossible and undetermined lines, from all best networks."""
    always, ever = model.best_.all(axis=0), model.best_.any(axis=0)
    lines = model.candidate_lines_
    return (
        [line for line, is_one in zip(lines, always, strict=True) if is_one],
        [line for line, is_one in zip(lines, ~ever, strict=True) if is_one],
        [line for line, is_one in zip(lines, ever & ~always, strict=True) if is_one],
    )
