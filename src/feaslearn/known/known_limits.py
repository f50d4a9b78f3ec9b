"""Known constraints at some samples, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array, Mask
from feaslearn.tolerances import EXACT_TOL, RANK_TOL

#: Corrections beside one for each entry that may meet a bound: they remove rounding.
EXTRA_ROUNDS = 2

#: What can be done with observed decisions that violate known constraints.
CONTRADICTIONS = ("raise", "project", "keep")


def pseudo_inverse(E: Array) -> Array:
    """Return the inverse of equalities; rows that say what others say do not count twice."""
    return np.asarray(np.linalg.pinv(E, RANK_TOL))


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
    """The constraints ``G x >= g, lower <= x <= upper, E x = e``, one row for each sample."""

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

    def violation(self, decisions: Array) -> Array:
        """Return by how much each decision violates each row: G, lower, upper, E; NaN is none."""
        parts = [
            self.g - decisions @ self.G.T,
            self.lower - decisions,
            decisions - self.upper,
            np.abs(decisions @ self.E.T - self.e),
        ]
        return np.asarray(np.nan_to_num(np.maximum(np.hstack(parts), 0.0), posinf=np.inf))

    def sizes(self, decisions: Array) -> Array:
        """Return the size of the numbers that each row is made of, in any unit."""
        # A row whose numbers are small is as large as the decisions and bounds of its sample
        # make it: a bound of zero is met up to the rounding of what is near.
        x = np.abs(np.nan_to_num(decisions))
        g, lower, upper, e = (np.abs(np.where(np.isfinite(side), side, 0.0)) for side in self[2:])
        reach = np.maximum(np.maximum(lower, upper), x).max(axis=1, keepdims=True)
        x = np.broadcast_to(reach, x.shape)
        rows, balances = (x @ np.abs(matrix).T for matrix in (self.G, self.E))
        return np.hstack([g + rows, lower + x, upper + x, e + balances])

    def violated(self, decisions: Array, tolerance: float) -> Mask:
        """Say which decisions violate a row by more than a share of its size."""
        over = self.violation(decisions) > tolerance * self.sizes(decisions)
        return np.asarray(over.any(axis=1))

    def repaired(self, decisions: Array) -> Array:
        """Return decisions that a solver left within its tolerances, exactly within the bounds.

        What the equalities then lack is spread over the entries that can move.
        """
        x = np.clip(decisions, self.lower, self.upper)
        if len(self.E):
            size = np.abs(self.e) + np.abs(x) @ np.abs(self.E).T
            gap = np.abs(self.e - x @ self.E.T)
            for i in np.flatnonzero((gap > EXACT_TOL * size).any(axis=1)):
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
            step[free] = np.linalg.lstsq(self.E[:, free], gap, rcond=RANK_TOL)[0]
            moved = np.clip(x + step, self.lower[i], self.upper[i])
            free &= moved == x + step
            x = moved
        return x


# What the user knows about the region before anything is learned.


@dataclass(eq=False, repr=False)
class Known(BaseEstimator):
    r"""Linear constraints on the decisions that need not be learned.

    .. math:: G x \ge g(s), \qquad l(s) \le x \le u(s), \qquad E x = e(s)

    Predictions minimise the cost over the learned region intersected with these constraints. A
    right-hand side is a number, a list with one entry for each row, an `AffineCost` (an affine map
    of the signals), or a function of all signals, plain or as a `FunctionCost`. In lists, names are
    columns of the signals, numbers with a point are constants, and None (or an infinite number) is
    a bound that is missing. Integers are columns, ``[4, 5, None]``, unless a number with a
    point stands beside them: ``[4, 4.5, None]`` holds constants.

    Parameters
    ----------
    G : array-like of shape (m, n), default=None
        Rows of the inequalities.
    g : right-hand side, default=None
        What ``G x`` is at least.
    bounds : pair of right-hand sides, default=None
        Lower and upper bounds of the decisions; either may be None.
    balance : pair (E, e), default=None
        Equalities: rows ``E`` of shape (q, n), or one row, and their right-hand side.
    contradictions : {"raise", "project", "keep"}, default="raise"
        What to do with observed decisions that violate the constraints: refuse them by name, move
        them to the nearest decision that does not, or keep them as they are, because decisions are
        noisy.
    tolerance : float, default=1e-6
        Violations below this share of the size of a row are rounding.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Problem 2, whose plants have known limits.

    Examples
    --------
    Three plants of capacity 3.5 that together serve the demand of five regions:

    >>> import numpy as np
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(200, random_state=0)
    >>> demand = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
    >>> known = fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), demand))
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, known=known, random_state=0)
    >>> model = model.fit(data.signals[:100], data.decisions[:100])
    >>> x = model.predict(data.signals[100:])
    >>> bool(np.abs(x.sum(axis=1) - data.signals[100:, 3:].sum(axis=1)).max() < 1e-9)
    True
    """

    G: ArrayLike | None = None
    g: Any = None
    bounds: tuple[Any, Any] | None = None
    balance: tuple[ArrayLike, Any] | None = None
    contradictions: Literal["raise", "project", "keep"] = "raise"
    tolerance: float = 1e-6
