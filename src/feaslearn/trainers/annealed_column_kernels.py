r"""The annealed loss of a simplex: the hot path of annealing, for many rows at once.

What `annealed_rows` does for any coded set, with rows side by side as in `simplex_kernels`,
so that the processor works on several of them in one instruction. With the shares
:math:`w_k \propto e^{-q_k/\tau}` of the columns and u = A'd,

.. math:: z_\tau = w, \qquad J u = -\frac1\tau \bigl( w \circ u - (w'u) w \bigr).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import inlined, kernel, summing_kernel

Array = NDArray[np.float64]

#: Rows in a block: all columns of the maps of that many rows fit in the processor's first cache.
ROWS = 64

#: Below this the result is smaller than any number of full precision.
LEAST = -708.0
LOG2_E = 1.4426950408889634
#: The sum of the two is ln 2; the first has zeros at its end, so that whole multiples are exact.
LN2_HEAD, LN2_TAIL = 0.693147180369123816490, 1.90821492927058770002e-10
#: Added to a number, this leaves the nearest whole number in its last bits.
SHIFT = 6755399441055744.0


class Rows(NamedTuple):
    """Some rows side by side: entry ``[..., i]`` belongs to row i of the block.

    ``columns`` holds the maps, and later the gradient in them; ``slopes`` the weighted derivative
    of the square; ``least`` and ``along`` one number for each row.
    """

    features: Array
    costs: Array
    columns: Array
    shares: Array
    slopes: Array
    turned: Array
    least: Array
    along: Array


@kernel
def annealed_columns(
    A: Array,
    Phi: Array,
    C: Array,
    X: Array,
    weights: Array,
    tau: float,
    dA: Array,
) -> float:
    """Return the weighted sum of the rows' losses, and add its gradient to ``dA``.

    There is no offset: the shares sum to one, so that every column holds it. NaN entries of ``X``
    do not count.
    """
    K, n, p = A.shape
    rows = Rows(
        np.empty((K, ROWS)),
        np.empty((n, ROWS)),
        np.empty((n, p, ROWS)),
        np.empty((p, ROWS)),
        np.empty((n, ROWS)),
        np.empty((p, ROWS)),
        np.empty(ROWS),
        np.empty(ROWS),
    )
    total = 0.0
    for start in range(0, Phi.shape[0], ROWS):
        size = min(ROWS, Phi.shape[0] - start)
        _read(A, Phi, C, start, size, rows)
        _share(tau, size, rows)
        total += _measure(X, weights, start, size, rows)
        _turn(tau, size, rows)
        _add_up(size, rows, dA)
    return total


@inlined
def _read(A: Array, Phi: Array, C: Array, start: int, size: int, rows: Rows) -> None:
    """Write features, costs of length one, and the columns ``A(s) = sum_k phi_k A_k``."""
    K, n, p = A.shape
    for i in range(size):
        for k in range(K):
            rows.features[k, i] = Phi[start + i, k]
        square = 0.0
        for j in range(n):
            square += C[start + i, j] * C[start + i, j]
        length = np.sqrt(square) if square > 0.0 else 1.0
        for j in range(n):
            rows.costs[j, i] = C[start + i, j] / length
    for j in range(n):
        for column in range(p):
            entry = A[0, j, column]
            for i in range(size):
                rows.columns[j, column, i] = entry * rows.features[0, i]
            for k in range(1, K):
                entry = A[k, j, column]
                for i in range(size):
                    rows.columns[j, column, i] += entry * rows.features[k, i]


@inlined
def _share(tau: float, size: int, rows: Rows) -> None:
    """Write the share of each column."""
    n, p, _ = rows.columns.shape
    shares, least, total = rows.shares, rows.least, rows.along
    for i in range(size):
        least[i] = np.inf
        total[i] = 0.0
    for column in range(p):
        for i in range(size):
            shares[column, i] = rows.costs[0, i] * rows.columns[0, column, i]
        for j in range(1, n):
            for i in range(size):
                shares[column, i] += rows.costs[j, i] * rows.columns[j, column, i]
        for i in range(size):
            q = shares[column, i]
            least[i] = q if q < least[i] else least[i]
    for column in range(p):
        for i in range(size):
            shares[column, i] = (least[i] - shares[column, i]) / tau
        exponentials(shares[column], size)
        for i in range(size):
            total[i] += shares[column, i]
    for i in range(size):
        total[i] = 1.0 / total[i]
    for column in range(p):
        for i in range(size):
            shares[column, i] *= total[i]


@inlined
def _measure(X: Array, weights: Array, start: int, size: int, rows: Rows) -> float:
    """Return the weighted sum of squared residuals; write its derivative in them."""
    n, p, _ = rows.columns.shape
    for j in range(n):
        for i in range(size):
            rows.slopes[j, i] = -X[start + i, j]
        for column in range(p):
            for i in range(size):
                rows.slopes[j, i] += rows.columns[j, column, i] * rows.shares[column, i]
    total = 0.0
    for i in range(size):
        for j in range(n):
            e = rows.slopes[j, i]
            e = 0.0 if np.isnan(e) and np.isnan(X[start + i, j]) else e
            total += weights[start + i] * e * e
            rows.slopes[j, i] = 2.0 * weights[start + i] * e
    return total


@inlined
def _turn(tau: float, size: int, rows: Rows) -> None:
    """Write the gradient in each row's map where the map was: ``d w' + c (J A'd)'``."""
    n, p, _ = rows.columns.shape
    along, turned, shares = rows.along, rows.turned, rows.shares
    for i in range(size):
        along[i] = 0.0
    for column in range(p):
        for i in range(size):
            turned[column, i] = rows.slopes[0, i] * rows.columns[0, column, i]
        for j in range(1, n):
            for i in range(size):
                turned[column, i] += rows.slopes[j, i] * rows.columns[j, column, i]
        for i in range(size):
            along[i] += shares[column, i] * turned[column, i]
    rate = 1.0 / tau
    for column in range(p):
        for i in range(size):
            turned[column, i] = rate * shares[column, i] * (along[i] - turned[column, i])
        for j in range(n):
            for i in range(size):
                along_d = rows.slopes[j, i] * shares[column, i]
                rows.columns[j, column, i] = along_d + rows.costs[j, i] * turned[column, i]


@summing_kernel
def _add_up(size: int, rows: Rows, dA: Array) -> None:
    """Add ``sum_i phi_k G_i`` to each ``dA[k]``, G the gradient in the map of a row."""
    K, n, p = dA.shape
    for k in range(K):
        for j in range(n):
            for column in range(p):
                total = 0.0
                for i in range(size):
                    total += rows.features[k, i] * rows.columns[j, column, i]
                dA[k, j, column] += total


# Exponentials of many numbers that are not positive, without a call for each.
#
# :math:`e^x = 2^k e^r` with k the whole number nearest to :math:`x / \ln 2`, so that :math:`|r|
# \le
# \ln 2 / 2` and thirteen terms of the series are enough. All of it is plain arithmetic on floating
# point numbers and their bits, of which the processor does several in one instruction.


@inlined
def exponentials(values: Array, size: int) -> None:
    """Replace the first ``size`` values by their exponentials; none may be positive."""
    shifted = np.empty(size)
    for i in range(size):
        x = values[i] if values[i] > LEAST else LEAST
        whole = x * LOG2_E + SHIFT
        shifted[i] = whole
        whole -= SHIFT
        r = (x - whole * LN2_HEAD) - whole * LN2_TAIL
        s = 1.0 / 6227020800.0
        s = s * r + 1.0 / 479001600.0
        s = s * r + 1.0 / 39916800.0
        s = s * r + 1.0 / 3628800.0
        s = s * r + 1.0 / 362880.0
        s = s * r + 1.0 / 40320.0
        s = s * r + 1.0 / 5040.0
        s = s * r + 1.0 / 720.0
        s = s * r + 1.0 / 120.0
        s = s * r + 1.0 / 24.0
        s = s * r + 1.0 / 6.0
        s = s * r + 0.5
        s = s * r + 1.0
        values[i] = s * r + 1.0
    bits, whole_bits = values.view(np.int64), shifted.view(np.int64)
    for i in range(size):
        # The whole number moves into the exponent.
        bits[i] += whole_bits[i] << 52
