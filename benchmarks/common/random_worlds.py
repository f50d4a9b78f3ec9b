"""Random regions with known rows; decisions that rest on them, and at what-if prices too."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from common.facet_truth import Inequalities
from golden_api import Array, cheapest, described, fitted, predicted

#: What regions look like, and whether prices have both signs or one.
KINDS = ("plain", "int", "affub", "balance", "const")
PRICES = ("both signs", "one sign")
#: Training rows of the seeds, in turn; test rows; those of them asked what-ifs; rows that may
#: have no decision.
ROWS, TEST, ASKED, SPARE = (60, 150, 400), 500, 200, 200
SAME = 1e-6


class World(NamedTuple):
    """The region ``a x <= f phi``, with equalities; phi is the constant and then the signals."""

    truth: Inequalities
    equal: Inequalities
    random: np.random.Generator

    def solve(self, signals: Array, costs: Array) -> Array:
        """Return the cheapest decision of each row; NaN where there is none."""
        phi, n = np.column_stack([np.ones(len(signals)), signals]), costs.shape[1]
        a, f = (np.vstack(pair) for pair in zip(self.equal, self.truth, strict=True))
        # The last 2 n of the true limits are the ends of the columns.
        right, upper = phi @ f[: -2 * n].T, np.ascontiguousarray(phi @ f[-2 * n : -n].T)
        limits = np.ascontiguousarray(right), np.zeros(costs.shape), upper
        return cheapest(a[: -2 * n], len(self.equal.a), limits, costs)

    def draw_rows(self, sign: str, count: int) -> tuple[Array, Array]:
        """Draw signals and prices; without a balance, prices of one sign are profits."""
        n, k = self.truth.a.shape[1], self.truth.f.shape[1] - 1
        side = 1.0 if len(self.equal.a) else -1.0
        rows = []
        for _ in range(count):
            signal, both = self.random.random(k), sign == PRICES[0]
            price = self.random.normal(size=n) if both else self.random.uniform(0.1, 1.0, n) * side
            rows.append((signal, price))
        signals, prices = zip(*rows, strict=True)
        return np.array(signals), np.array(prices)

    def nearest(self, normal: Array, limit: Array) -> float:
        """Return how far a facet is from the nearest true one, both modulo the balance."""
        best = np.inf
        A, F = self.truth
        if len(self.equal.a):
            share = A @ self.equal.a.T / (self.equal.a @ self.equal.a.T)
            A, F = A - share * self.equal.a, F - share * self.equal.f
        for a, f in zip(A, F, strict=True):
            length = np.linalg.norm(a)
            if length > 1e-9:
                apart = np.abs(a / length - normal).max(), np.abs(f / length - limit).max()
                best = min(best, float(max(apart)))
        return best


def draw(kind: str, seed: int) -> World:
    """Draw a region of 2 to 6 decisions and 1 to 3 signals in [0, 1] with 1 to 5 facets.

    Its columns are within 0 and u, which may follow the signals ("affub"); facets are of integers
    ("int") or do not move ("const"); "balance" has an equality.
    """
    random = np.random.default_rng(seed)
    n, k, m = (int(random.integers(*ends)) for ends in ((2, 7), (1, 4), (1, 6)))
    a = (
        random.integers(-2, 3, (m, n)).astype(float)
        if kind == "int"
        else random.normal(size=(m, n))
    )
    a = a[np.abs(a).sum(axis=1) > 0.0]
    upper = random.uniform(1.0, 4.0, n)
    inside = upper * random.uniform(0.3, 0.7, n)
    slopes = random.normal(size=(len(a), k)) * (0.0 if kind == "const" else 0.4)
    slack = random.uniform(0.1, 1.0, len(a)) * np.linalg.norm(a, axis=1)
    # The inner point is feasible at every signal.
    constant = a @ inside + slack - np.minimum(slopes, 0.0).sum(axis=1)
    moving = np.zeros((n, k))
    if kind == "affub":
        moving = random.uniform(0.0, 0.5, (n, k)) * (random.random((n, k)) < 0.5)
    f = np.vstack(
        [
            np.column_stack([constant, slopes]),
            np.column_stack([upper, moving]),
            np.zeros((n, k + 1)),
        ]
    )
    equal = Inequalities(np.zeros((0, n)), np.zeros((0, k + 1)))
    if kind == "balance":
        level = np.concatenate([[inside.sum() - 0.25, 0.5], np.zeros(k - 1)])
        equal = Inequalities(np.ones((1, n)), level[None])
    return World(Inequalities(np.vstack([a, np.eye(n), -np.eye(n)]), f), equal, random)


def measure(kind: str, sign: str, number: int) -> dict[str, int] | None:
    """Learn one world and count trusted, wrong and right answers; None where too few rows exist.

    Ordinary test rows have prices like those of the log, what-ifs have normal ones.
    """
    world, rows = draw(kind, 1000 * number + 7), ROWS[number % len(ROWS)]
    n, k = world.truth.a.shape[1], world.truth.f.shape[1] - 1
    signals, costs = world.draw_rows(sign, rows + TEST + SPARE)
    decisions = world.solve(signals, costs)
    kept = np.flatnonzero(~np.isnan(decisions).any(axis=1))[: rows + TEST]
    if len(kept) < rows + TEST:
        return None
    signals, costs, decisions = signals[kept], costs[kept], decisions[kept]
    table = np.hstack([signals, costs])
    model = fitted(table[:rows], decisions[:rows], list(range(k, k + n)), facets=True)
    found = described(model)[1]
    near = [world.nearest(each.normal, each.limit) for each in found if each.identified]
    counts = {"facets": len(found), "identified": len(near)}
    counts["true"] = sum(distance <= SAME for distance in near)
    counts |= _count(model, table[rows:], decisions[rows:], None, "")
    asked = np.random.default_rng(1000 * number + 1006).normal(size=(ASKED, n))
    some = slice(rows, rows + ASKED)
    return counts | _count(model, table[some], world.solve(signals[some], asked), asked, "what-if ")


def _count(
    model: Any, table: Array, truth: Array, costs: Array | None, what: str
) -> dict[str, int]:
    decisions, trusted = predicted(model, table, costs)
    right = np.abs(decisions - truth).max(axis=1) <= SAME
    numbers = trusted, trusted & ~right, right, right & trusted
    names = "trusted", "trusted wrong", "right", "right trusted"
    return {what + name: int(each.sum()) for name, each in zip(names, numbers, strict=True)}
