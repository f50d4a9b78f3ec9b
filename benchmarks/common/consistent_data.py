"""Data of a Minkowski class, and the same with one wrong sample."""

from __future__ import annotations

import numpy as np

import feaslearn as fl


def drawn(seed: int, n: int = 3, k: int = 6) -> tuple[fl.Minkowski, fl.Decisions]:
    """Return a class and noiseless data of it, three samples for each parameter."""
    rng = np.random.default_rng(seed)
    hypothesis = fl.Minkowski.hypersimplices(n)
    layout = hypothesis.layout(n, k)
    count = 3 * layout.size
    features = np.hstack([np.ones((count, 1)), rng.uniform(0.3, 2.0, (count, k - 1))])
    costs = rng.uniform(0.2, 2.0, (count, n))
    blocks = {"alpha": rng.uniform(0.0, 1.0, (n - 1, k)), "b": rng.normal(size=(k, n))}
    decisions = hypothesis.predict(layout.pack(blocks), features, costs)
    signals = np.hstack([costs, features[:, 1:]])
    return hypothesis, fl.Decisions.from_arrays(signals, decisions, cost=list(range(n)))


def corrupted(data: fl.Decisions, seed: int) -> tuple[fl.Decisions, int]:
    """Move one decision by a fifth of the range of the decisions in a random direction."""
    rng = np.random.default_rng(1000 + seed)
    decisions = data.decisions.copy()
    wrong = int(rng.integers(len(data)))
    direction = rng.normal(size=decisions.shape[1])
    direction /= np.linalg.norm(direction)
    decisions[wrong] += 0.2 * np.ptp(decisions, axis=0) * direction
    return fl.Decisions.from_arrays(data.signals, decisions, cost=data.cost), wrong
