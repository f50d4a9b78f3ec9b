"""Random worlds with a known region, and the decisions that are optimal in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from common.worlds import World
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.trainers.facets import Learned, Task, learn_facets


def learn(world: World, exact: bool = False, **options: Any) -> Learned:
    """Return the region that is learned from the rows of a world."""
    return learn_facets(Task(*world[1:], np.random.default_rng(0), **options), exact=exact)


def make_world(
    seed: int, n: int = 4, k: int = 3, m: int = 2, rows: int = 300, balance: bool = True
) -> World:
    """Draw a box, a sum that is affine in the features, and facets that bind in some rows."""
    random = np.random.default_rng(seed)
    features = np.column_stack([np.ones(rows), random.uniform(0.0, 1.0, (rows, k - 1))])
    costs = random.normal(size=(rows, n)) + (1.0 if balance else 0.0)
    one = np.eye(1, k)
    lower, upper = np.zeros((n, k)), random.uniform(0.8, 1.2, (n, 1)) * one
    E, e = np.ones((int(balance), n)), np.array([[0.35 * n, *(0.1 * n * np.ones(k - 1))]])
    a = random.normal(size=(m, n))
    region = FacetRows(E, e[: len(E)], lower, upper, np.zeros((0, n)), np.zeros((0, k)))
    free = region.solve(features, costs).decisions
    slope = 0.3 * random.normal(size=(m, k))
    values = free @ a.T - features @ slope.T
    # The constant of a facet is such that it cuts off a quarter to a half of the rows.
    slope[:, 0] += [
        np.quantile(v, p) for v, p in zip(values.T, random.uniform(0.5, 0.75, m), strict=True)
    ]
    region = region._replace(a=a, f=slope)
    found = region.solve(features, costs)
    kept = found.status == 0
    return World(region, features[kept], costs[kept], found.decisions[kept])
