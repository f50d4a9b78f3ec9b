r"""One facet from rows that a cheaper point shows to be hindered: one linear program.

Over facets :math:`(a, f)` with slack :math:`\sigma_i = f'\phi_i - a'x_i`,

.. math::
    \min \; \mathrm{mean}_U\, \sigma_i + M\, \mathrm{mean}_{all}\, (-\sigma_i)_+
    \quad \text{s.t.} \quad \mathrm{mean}_U\, a'(y_i - x_i) = 1

tight where it must explain (the rows U), violated by no observation, and a cut of depth one.
Its dual has one bounded variable for each sample and as many rows as a facet has parameters, which
is what the small dual simplex wants.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels.small_lp import OPTIMAL, solve_rows, workspace

Array = NDArray[np.float64]

#: A facet whose mean slack exceeds this many times the depth of its cut explains nothing.
USELESS = 2.0


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
    count, size = points.shape
    share = weights * chosen
    total = share.sum()
    G = np.empty((size, count + 1))
    G[:, :count], G[:, count] = points.T, cut
    right = share @ points / total
    cost = np.zeros(count + 1)
    cost[count] = -1.0
    upper = np.append(strictness * weights / total, USELESS)
    solution, prices = np.empty((1, count + 1)), np.empty((1, size))
    status, tied = np.empty(1, dtype=np.int8), np.empty(1, dtype=bool)
    solve_rows(
        workspace(size, count + 1),
        G,
        right[None],
        cost[None],
        np.zeros((1, count + 1)),
        upper[None],
        np.zeros(size),
        solution,
        prices,
        status,
        tied,
    )
    if status[0] != OPTIMAL or solution[0, count] >= USELESS:
        return None
    return np.asarray(prices[0])
