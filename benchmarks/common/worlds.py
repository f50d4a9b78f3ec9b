"""Random regions with known rows, and the decisions that are optimal in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from common.facet_truth import Inequalities, bounds_as_rows
from golden_api import Array, cheapest

#: Shares of the rows in which facets bind when they are added; the others are in between.
OFTEN, RARELY, BETWEEN = 0.97, 0.01, (0.05, 0.6)
#: Signals that a facet may leave without any decision; beyond that it is drawn again.
MOST_EMPTY = 0.05
#: Facets that are drawn before fewer rows are cut off.
TRIES = 20


class Known(NamedTuple):
    """The region ``E x = e phi, lower phi <= x <= upper phi, a x <= f phi``."""

    E: Array
    e: Array
    lower: Array
    upper: Array
    a: Array
    f: Array

    def with_facets(self, a: Array, f: Array) -> Known:
        """Return the region with these facets instead of its own."""
        return self._replace(a=a, f=f)

    def solve(self, features: Array, costs: Array) -> Array:
        """Return the cheapest decision of each row; NaN where the region is empty."""
        right = features @ np.vstack([self.e, self.f]).T
        ends = [np.ascontiguousarray(features @ end.T) for end in (self.lower, self.upper)]
        return cheapest(np.vstack([self.E, self.a]), len(self.E), (right, *ends), costs)


class World(NamedTuple):
    """A region and rows that are optimal in it."""

    region: Known
    features: Array
    costs: Array
    decisions: Array

    def on(self) -> NDArray[np.bool_]:
        """Say which facets each row lies on."""
        slack = self.features @ self.region.f.T - self.decisions @ self.region.a.T
        return np.abs(slack) < 1e-9

    @property
    def signals(self) -> Array:
        """Costs, then the features but the constant, as a model reads them."""
        return np.hstack([self.costs, self.features[:, 1:]])

    def truth(self) -> Inequalities:
        """Return facets and bounds as rows."""
        region = self.region
        ends = region.lower[:, 0], region.upper[:, 0]
        return Inequalities(region.a, region.f) + bounds_as_rows(*ends, region.f.shape[1])


def draw_world(seed: int, facets: bool = True, rows: int = 500) -> World:
    """Draw a world with 2 to 20 decisions and 1 to 8 signals, every second with a balance.

    Its box is ``0 <= x <= u``. With facets there are two to six that bind in 5 to 60 % of the rows
    or, in some worlds, in 97 % or 1 % when they are added; the other side of one of them; and three
    redundant rows: one parallel to a facet and beyond it, the sum of two facets, and a multiple of
    one. Normals and right-hand sides are sparse or dense.
    """
    random = np.random.default_rng([seed, int(facets)])
    n, k = int(random.integers(2, 21)), 1 + int(random.integers(1, 9))
    balance = seed % 2 == 1
    drawn = rows + rows // 2
    features = np.column_stack([np.ones(drawn), random.uniform(0.0, 1.0, (drawn, k - 1))])
    costs = random.normal(size=(drawn, n)) + float(balance)
    upper = random.uniform(0.8, 1.2, (n, 1)) * np.eye(1, k)
    served = np.full((1, k), 0.2 * n / (k - 1))
    served[0, 0] = 0.25 * n
    some = int(balance)
    none = np.zeros((0, n)), np.zeros((0, k))
    region = Known(np.ones((some, n)), served[:some], np.zeros((n, k)), upper, *none)
    world = _optimal(World(region, features, costs, np.zeros((drawn, n))))
    if facets:
        world = _with_facets(world, random)
    kept = [part[:rows] for part in world[1:]]
    return World(world.region, *kept)


def _with_facets(world: World, random: np.random.Generator) -> World:
    shares = list(random.uniform(*BETWEEN, size=int(random.integers(2, 5))))
    shares += [OFTEN] * int(random.random() < 0.5) + [RARELY] * int(random.random() < 0.5)
    for share in shares:
        world = _cut(world, random, share)
    first = world.region.a[0], world.region.f[0]
    world = _cut(world, random, float(random.uniform(0.05, 0.3)), (-first[0], -first[1]))
    a, f = world.region.a, world.region.f
    i, j = random.choice(len(a), 2, replace=False)
    beyond = f[i] + random.uniform(0.1, 0.5) * np.linalg.norm(a[i]) * np.eye(1, f.shape[1])[0]
    redundant = np.array([a[i], a[i] + a[j], 2.0 * a[j]])
    limits = np.array([beyond, f[i] + f[j], 2.0 * f[j]])
    order = random.permutation(len(a) + 3)
    every = np.vstack([a, redundant])[order], np.vstack([f, limits])[order]
    return world._replace(region=world.region.with_facets(*every))


def _cut(
    world: World,
    random: np.random.Generator,
    share: float,
    given: tuple[Array, Array] | None = None,
) -> World:
    """Add a facet that cuts off that share of the rows, whose decisions then lie on it.

    Where cuts leave too many signals without a decision, the share is halved.
    """
    attempts = 0
    while True:
        a, f = given if given is not None else _draw_row(random, world)
        values = world.decisions @ a - world.features[:, 1:] @ f[1:]
        f = np.append(np.quantile(values, 1.0 - share), f[1:])
        every = np.vstack([world.region.a, a]), np.vstack([world.region.f, f])
        found = _optimal(world._replace(region=world.region.with_facets(*every)))
        if len(found.costs) >= (1.0 - MOST_EMPTY) * len(world.costs):
            return found
        attempts += 1
        if given is not None or attempts % TRIES == 0:
            share /= 2.0


def _draw_row(random: np.random.Generator, world: World) -> tuple[Array, Array]:
    n, k = world.region.lower.shape
    a, f = random.normal(size=n), 0.3 * random.normal(size=k)
    if random.random() < 0.5:
        a[random.permutation(n)[max(2, n // 4) :]] = 0.0
        f[1:] *= random.random(k - 1) < 0.5
    return a, f


def _optimal(world: World) -> World:
    """Return the world with the decisions of its region, without rows that have none."""
    found = world.region.solve(world.features, world.costs)
    kept = ~np.isnan(found).any(axis=1)
    return World(world.region, world.features[kept], world.costs[kept], found[kept])
