r"""Exponentials of many numbers that are not positive, without a call for each.

:math:`e^x = 2^k e^r` with k the whole number nearest to :math:`x / \ln 2`, so that :math:`|r| \le
\ln 2 / 2` and thirteen terms of the series are enough. All of it is plain arithmetic on floating
point numbers and their bits, of which the processor does several in one instruction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.kernels._jit import inlined

Array = NDArray[np.float64]

#: Below this the result is smaller than any number of full precision.
LEAST = -708.0
LOG2_E = 1.4426950408889634
#: The sum of the two is ln 2; the first has zeros at its end, so that whole multiples are exact.
LN2_HEAD, LN2_TAIL = 0.693147180369123816490, 1.90821492927058770002e-10
#: Added to a number, this leaves the nearest whole number in its last bits.
SHIFT = 6755399441055744.0


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
