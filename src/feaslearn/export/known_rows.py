"""Known constraints of a fitted model, whose right-hand sides move with the signal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.export.blended import blended
from feaslearn.export.description import Description
from feaslearn.known import KnownLimits, KnownShape, ResolvedKnown
from feaslearn.known.known_limits import pseudo_inverse

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownRows:
    r"""The rows :math:`G x \ge g(s),\; l(s) \le x \le u(s),\; E x = e(s)` that are there.

    Parameters
    ----------
    shape : KnownShape
        G and E.
    there : ndarray of bool
        Which right-hand sides are not infinite, in the order of `KnownLimits.columns`.
    names : tuple of str
        Names of those that are: coefficients of the description.
    """

    shape: KnownShape
    there: NDArray[np.bool_]
    names: tuple[str, ...]

    @classmethod
    def of(cls, known: ResolvedKnown, decisions: tuple[str, ...], n_signals: int) -> KnownRows:
        """Return the rows; bounds that are not there are so at every signal."""
        anywhere, sides = np.zeros((1, n_signals)), []
        for side in (known.g, known.lower, known.upper, known.e):
            try:
                sides.append(np.isfinite(side.evaluate(anywhere)[0]))
            except DataError:
                # A function that does not take zeros gives numbers elsewhere.
                sides.append(np.ones(side.size, dtype=bool))
        there = np.concatenate(sides)
        labels = [f"known: {name}" for name in known.row_names(decisions)]
        names = tuple(name for name, kept in zip(labels, there, strict=True) if kept)
        return cls(known.shape, there, names)

    def coefficients(self, limits: KnownLimits) -> Array:
        """Return the right-hand sides at one signal."""
        values = limits.columns()[0]
        if not np.array_equal(np.isfinite(values), self.there):
            raise UnsupportedError(
                "a known bound is infinite at some signals and finite at others, which no fixed "
                "set of rows can say; export model.region(signal)"
            )
        return np.asarray(values[self.there])

    def within(self, learned: Description, k: int, *, project: bool) -> Description:
        """Return a description within the rows; its first k coefficients are the features.

        The learned region is projected onto the equalities first if that is asked.
        """
        count, m, n = len(self.names), len(learned.r[0]), learned.n
        none = tuple(sp.csr_array(learned.Z[0].shape) for _ in range(count))
        wider = replace(
            learned,
            Z=(*learned.Z[:k], *none, *learned.Z[k:]),
            r=np.vstack([learned.r[:k], np.zeros((count, m)), learned.r[k:]]),
            coefficients=(*learned.coefficients[:k], *self.names, *learned.coefficients[k:]),
        )
        # Which coefficient is the right-hand side of which row: G, lower, upper, E.
        right = np.zeros((len(wider.coefficients), len(self.there)))
        right[k : k + count] = np.eye(len(self.there))[self.there]
        sizes = np.cumsum([len(self.shape.G), n, n])
        g, lower, upper, e = np.split(right, sizes, axis=1)
        if project and len(self.shape.E):
            inverse = pseudo_inverse(self.shape.E)
            onto = np.eye(n) - inverse @ self.shape.E
            wider = blended(learned.names, len(wider.coefficients), [onto], [wider], e @ inverse.T)
        rows = np.vstack([-self.shape.G, -np.eye(n), np.eye(n)])
        limits = np.hstack([-g, -lower, upper])
        kept = self.there[: len(rows)]
        E, e = (self.shape.E[:0], e[:, :0]) if project else (self.shape.E, e)
        return wider.cut(rows[kept], limits[:, kept], E, e)
