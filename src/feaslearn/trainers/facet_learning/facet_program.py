r"""One facet from rows that a cheaper point shows to be hindered: one linear program.

Over facets :math:`(a, f)` with slack :math:`\sigma_i = f'\phi_i - a'x_i`,

.. math::
    \min \; \mathrm{mean}_U\, \sigma_i + M\, \mathrm{mean}_{all}\, (-\sigma_i)_+
    \quad \text{s.t.} \quad \mathrm{mean}_U\, a'(y_i - x_i) = 1

tight where it must explain (the rows U), violated by no observation, and a cut of depth one.
Its dual has one bounded variable for each sample and as many rows as a facet has parameters, which
is what the small dual simplex wants. But for the depth it asks of the cut it is homogeneous: all
its rows meet at :math:`(a, f) = 0`, where a simplex method may turn for ever. Where it does, rows
are moved apart a little, and the program is solved from what that gives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels.small_lp import OPTIMAL, UNSOLVED, solve_rows, workspace

Array = NDArray[np.float64]

#: A facet whose mean slack exceeds this many times the depth of its cut explains nothing.
USELESS = 2.0
#: How far rows are moved apart, in units of the depth of the cut.
APART = 1e-6
#: Up to so many rows are solved at once; of more, one in `PART` is solved first.
FEW, PART = 4_000, 4
#: Rows left open, in units of what the facet of a part is wrong about, and how many more if that
#: leaves no facet.
NEAR, NEARER = 6.0, 3


def fit_facet(
    points: Array, weights: Array, cut: Array, chosen: NDArray[np.bool_], strictness: float
) -> Array | None:
    """Return the parameters w of the facet with slack ``points @ w``, or None if there is none.

    Parameters
    ----------
    points : ndarray of shape (N, r)
        Rows ``(-x, phi)``, x modulo the equalities.
    weights : ndarray of shape (N,)
        Weights of the samples.
    cut : ndarray of shape (r,)
        Mean of ``(y - x, 0)`` over the rows to explain.
    chosen : ndarray of bool of shape (N,)
        The rows to explain.
    strictness : float
        How many times a violation costs what slack in a row to explain costs; infinite would let
        no observation violate the facet, two fits the median.

    Returns
    -------
    ndarray of shape (r,) or None
        Parameters of the facet, not normalised.
    """
    share = weights * chosen
    total = share.sum()
    program = _Program(points, strictness * weights / total, cut, share @ points / total)
    if len(points) <= FEW:
        return program.solve()
    some, counts = _some(weights, chosen)
    guess = fit_facet(points[some], counts, cut, chosen[some], strictness)
    return None if guess is None else program.solve_from(guess)


class _Program(NamedTuple):
    """The dual: a row weighs nothing where it keeps the facet, ``upper`` where it breaks it."""

    points: Array
    upper: Array
    cut: Array
    right: Array

    def solve(self) -> Array | None:
        """Return the facet, or None if there is none."""
        count, size = self.points.shape
        nowhere, together = np.zeros(size), np.zeros(count)
        status, facet = self._from(nowhere, together)
        if status != UNSOLVED:
            return facet
        apart = np.random.default_rng(0).uniform(APART, 2.0 * APART, together.shape)
        near = self._from(nowhere, apart)[1]
        return None if near is None else self._from(near, together)[1]

    def _from(self, start: Array, apart: Array) -> tuple[int, Array | None]:
        """Return how it ended, and the facet; begun at one, with rows moved out by ``apart``.

        Equality rows times prices may be added to the costs: prices are then told from there.
        """
        count, size = self.points.shape
        G = np.empty((size, count + 1))
        G[:, :count], G[:, count] = self.points.T, self.cut
        cost = np.append(self.points @ start + apart, self.cut @ start - 1.0)
        solution, prices = np.empty((1, count + 1)), np.empty((1, size))
        status, tied = np.empty(1, dtype=np.int8), np.empty(1, dtype=bool)
        solve_rows(
            workspace(size, count + 1),
            G,
            self.right[None],
            cost[None],
            np.zeros((1, count + 1)),
            np.append(self.upper, USELESS)[None],
            np.zeros(size),
            solution,
            prices,
            status,
            tied,
        )
        found = status[0] == OPTIMAL and solution[0, count] < USELESS
        return int(status[0]), start + prices[0] if found else None

    def solve_from(self, guess: Array) -> Array | None:
        """Return the facet, given one that most rows keep, or break, as they do the right one.

        Rows near the guess are left open, others judged by it. Those that the answer shows to be
        judged wrongly are opened, until there are none: then it is the answer to all rows.
        """
        slack = self.points @ guess
        broken, distances = slack < 0.0, np.abs(slack)
        near = int(NEAR * np.sqrt(self.points.size))
        still_open = np.zeros(len(slack), dtype=bool)
        while near < len(slack):
            still_open[np.argpartition(distances, near)[:near]] = True
            fixed = broken & ~still_open
            right = self.right - self.upper[fixed] @ self.points[fixed]
            part = _Program(self.points[still_open], self.upper[still_open], self.cut, right)
            facet = part.solve()
            if facet is None:
                near *= NEARER
                continue
            wrong = ~still_open & ((self.points @ facet < 0.0) != broken)
            if not wrong.any():
                return facet
            still_open |= wrong
        return self.solve()


def _some(weights: Array, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Array]:
    """Return some of the rows to explain and some others, with weights that stand for all."""
    random, rows, counts = np.random.default_rng(0), [], []
    for kind in (chosen, ~chosen):
        own = np.flatnonzero(kind)
        drawn = random.choice(own, -(-len(own) // PART), replace=False)
        rows.append(drawn)
        counts.append(weights[drawn] * (weights[own].sum() / weights[drawn].sum()))
    return np.concatenate(rows), np.concatenate(counts)
