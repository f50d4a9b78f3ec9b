"""Known constraints at some samples, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Balances closer than this, relative to the size of their numbers, hold.
HOLDS = 1e-13
#: Singular values of the equalities below this share of the largest are zero.
DEPENDENT = 1e-10
#: Corrections beside one for each entry that may meet a bound: they remove rounding.
EXTRA_ROUNDS = 2


def pseudo_inverse(E: Array) -> Array:
    """Return the inverse of equalities; rows that say what others say do not count twice."""
    return np.asarray(np.linalg.pinv(E, DEPENDENT))


class KnownShape(NamedTuple):
    """The rows that do not change with the signal: ``G`` (m, n) and ``E`` (q, n).

    Right-hand sides travel with the samples, as columns behind their features: those of G, lower
    bounds, upper bounds, those of E.
    """

    G: Array
    E: Array

    @property
    def n(self) -> int:
        """Number of decisions."""
        return int(self.G.shape[1])

    @property
    def width(self) -> int:
        """Number of columns of the right-hand sides."""
        return len(self.G) + 2 * self.n + len(self.E)

    def split(self, columns: Array) -> tuple[Array, KnownLimits]:
        """Return features (N, k) and constraints, given both side by side."""
        k = columns.shape[1] - self.width
        sizes = np.cumsum([k, len(self.G), self.n, self.n])
        features, *sides = (np.ascontiguousarray(part) for part in np.split(columns, sizes, axis=1))
        return features, KnownLimits(self.G, self.E, *sides)


class KnownLimits(NamedTuple):
    """The constraints ``G x >= g, lower <= x <= upper, E x = e``, one row for each sample.

    Bounds that are not there are infinite.
    """

    G: Array
    E: Array
    g: Array
    lower: Array
    upper: Array
    e: Array

    @property
    def shape(self) -> KnownShape:
        """The rows alone."""
        return KnownShape(self.G, self.E)

    def columns(self) -> Array:
        """Return the right-hand sides side by side, as `KnownShape.split` reads them."""
        return np.hstack([self.g, self.lower, self.upper, self.e])

    def rows(self, chosen: NDArray[np.generic] | slice) -> KnownLimits:
        """Return the constraints of some samples."""
        sides = (np.ascontiguousarray(side[chosen]) for side in self[2:])
        return KnownLimits(self.G, self.E, *sides)

    def inner_costs(self, costs: Array) -> Array:
        """Return costs without their part across the equalities, which no decision changes."""
        if not len(self.E):
            return costs
        return np.ascontiguousarray(costs - costs @ pseudo_inverse(self.E) @ self.E)

    def on_flat(self, decisions: Array) -> Array:
        """Return the nearest decisions that satisfy the equalities."""
        if not len(self.E):
            return decisions
        gap = self.e - decisions @ self.E.T
        return np.asarray(decisions + gap @ pseudo_inverse(self.E).T)

    def beyond(self, decisions: Array) -> Array:
        """Return by how much each decision breaks each row: G, lower, upper, E; NaN is none."""
        parts = [
            self.g - decisions @ self.G.T,
            self.lower - decisions,
            decisions - self.upper,
            np.abs(decisions @ self.E.T - self.e),
        ]
        return np.asarray(np.nan_to_num(np.maximum(np.hstack(parts), 0.0), posinf=np.inf))

    def sizes(self, decisions: Array) -> Array:
        """Return the size of the numbers that each row is made of, in any unit.

        A row whose own numbers are small is as large as the decisions and bounds of its sample
        make it: a bound of zero is met up to the rounding of what is near.
        """
        x = np.abs(np.nan_to_num(decisions))
        g, lower, upper, e = (np.abs(np.where(np.isfinite(side), side, 0.0)) for side in self[2:])
        reach = np.maximum(np.maximum(lower, upper), x).max(axis=1, keepdims=True)
        x = np.broadcast_to(reach, x.shape)
        rows, flat = (x @ np.abs(matrix).T for matrix in (self.G, self.E))
        return np.hstack([g + rows, lower + x, upper + x, e + flat])

    def broken(self, decisions: Array, tolerance: float) -> NDArray[np.bool_]:
        """Say which decisions break a row by more than a share of its size."""
        over = self.beyond(decisions) > tolerance * self.sizes(decisions)
        return np.asarray(over.any(axis=1))

    def settled(self, decisions: Array) -> Array:
        """Return decisions that a solver left within its tolerances, exactly within the bounds.

        What the equalities then lack is spread over the entries that have room to move.
        """
        x = np.clip(decisions, self.lower, self.upper)
        if len(self.E):
            size = np.abs(self.e) + np.abs(x) @ np.abs(self.E).T
            gap = np.abs(self.e - x @ self.E.T)
            for i in np.flatnonzero((gap > HOLDS * size).any(axis=1)):
                x[i] = self._on_flat_and_box(x[i], i)
        return x

    def _on_flat_and_box(self, x: Array, i: np.intp) -> Array:
        """Move to the equalities by least steps; entries that meet a bound stay there."""
        free = np.ones(len(x), dtype=bool)
        for _ in range(len(x) + EXTRA_ROUNDS):
            gap = self.e[i] - self.E @ x
            if not free.any() or not gap.any():
                break
            step = np.zeros(len(x))
            step[free] = np.linalg.lstsq(self.E[:, free], gap, rcond=1e-10)[0]
            moved = np.clip(x + step, self.lower[i], self.upper[i])
            free &= moved == x + step
            x = moved
        return x
