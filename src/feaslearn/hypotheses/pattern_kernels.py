"""Sums of products over samples, apart for each order that their costs come in.

Minimisers of simplices, hypersimplices and boxes depend on the cost through comparisons alone, so
samples whose comparisons agree have the same minimisers: a pattern. All moments of a Minkowski sum
are combinations of the plain moments of each pattern, and few patterns are there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.solvers.jit import kernel, summing_kernel
from feaslearn.tolerances import TIE_TOL

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Rows whose comparisons are made at a time.
COMPARED_ROWS = 256
#: Slots of the table in which patterns are looked up, a power of two.
SLOTS = 1024
#: Rows that are sorted by their pattern at a time, at least, and those of each pattern.
MIN_SORTED_ROWS, SORTED_ROWS_PER_PATTERN = 1024, 64


@kernel
def cost_patterns(
    costs: Array,
    decisions: Array,
    first: Integers,
    second: Integers,
    factors: Array,
    numbers: Integers,
    rows: Integers,
) -> int:
    """Number the patterns of samples; return how many there are, or -1 where there are too many.

    Comparison c is whether ``factors[0, c] costs[first[c]] < factors[1, c] costs[second[c]]``.
    Samples run along the second axis of ``costs`` and ``decisions``. A sample whose comparisons
    may tie, or with a decision that was not observed, has number -1. ``rows`` is filled with one
    sample of each pattern.
    """
    count = costs.shape[1]
    slots, keys = np.full(SLOTS, -1, np.int64), np.zeros(len(rows), np.int64)
    size, nearest = np.zeros(COMPARED_ROWS), np.zeros(COMPARED_ROWS)
    key, found = np.zeros(COMPARED_ROWS, np.int64), 0
    largest = 0.0
    for c in range(len(first)):
        largest = max(largest, abs(factors[0, c]), abs(factors[1, c]))
    for start in range(0, count, COMPARED_ROWS):
        m = min(COMPARED_ROWS, count - start)
        _compare(costs, start, m, first, second, factors, size, nearest, key)
        for j in range(len(decisions)):
            for i in range(m):
                if np.isnan(decisions[j, start + i]):
                    nearest[i] = 0.0
        for i in range(m):
            if nearest[i] <= 2.0 * TIE_TOL * largest * size[i]:
                numbers[start + i] = -1
                continue
            slot = (key[i] * 7046029254386353131 >> 50) & (SLOTS - 1)
            while slots[slot] >= 0 and keys[slots[slot]] != key[i]:
                slot = (slot + 1) & (SLOTS - 1)
            if slots[slot] < 0:
                if found == len(rows):
                    return -1
                slots[slot], keys[found], rows[found] = found, key[i], start + i
                found += 1
            numbers[start + i] = slots[slot]
    return found


@summing_kernel
def _compare(
    costs: Array,
    start: int,
    m: int,
    first: Integers,
    second: Integers,
    factors: Array,
    size: Array,
    nearest: Array,
    key: Integers,
) -> None:
    """Write the comparisons of some samples as bits, how near the nearest is, and the size of c."""
    for i in range(m):
        size[i], nearest[i], key[i] = 0.0, np.inf, 0
    for j in range(len(costs)):
        own = costs[j, start : start + m]
        for i in range(m):
            value = abs(own[i])
            size[i] = value if value > size[i] else size[i]
    for c in range(len(first)):
        one, other = costs[first[c], start : start + m], costs[second[c], start : start + m]
        x, y, bit = factors[0, c], factors[1, c], np.int64(1) << c
        for i in range(m):
            ahead = x * one[i] - y * other[i]
            key[i] += bit if ahead < 0.0 else np.int64(0)
            value = abs(ahead)
            nearest[i] = value if value < nearest[i] else nearest[i]


@kernel
def pattern_sums(
    numbers: Integers,
    features: Array,
    mean: Array,
    shrink: Array,
    decisions: Array,
    center: Array,
    weights: Array,
    table: Array,
) -> None:
    """Add to ``table`` (P, L, L) the sums of ``w v v'`` of each pattern, above the diagonal.

    A row v of length L holds ``(features - mean) shrink`` and ``decisions - center``, and a zero
    where that makes it even. Samples run along the second axis; those of number -1 are left out.
    """
    k, count = features.shape
    n, patterns, width = len(decisions), len(table), table.shape[1]
    block = min(max(MIN_SORTED_ROWS, SORTED_ROWS_PER_PATTERN * patterns), max(count, 1))
    rows, v, w = np.zeros((width, block)), np.zeros((width, block)), np.zeros(block)
    order, starts = np.zeros(block, np.int64), np.zeros(patterns + 1, np.int64)
    for start in range(0, count, block):
        m = _sort(numbers[start : start + block], order, starts)
        for j in range(k):
            _gather(features[j, start : start + block], order, m, mean[j], shrink[j], v[j])
        for j in range(n):
            _gather(decisions[j, start : start + block], order, m, center[j], 1.0, v[k + j])
        _gather(weights[start : start + block], order, m, 0.0, 1.0, w)
        for j in range(k + n):
            for i in range(m):
                rows[j, i] = w[i] * v[j, i]
        for p in range(patterns):
            _add_products(rows, v, starts[p], starts[p + 1], table[p])


@kernel
def _sort(numbers: Integers, order: Integers, starts: Integers) -> int:
    """Write the rows of each pattern one after the other; return how many there are."""
    starts[:] = 0
    for number in numbers:
        if number >= 0:
            starts[number + 1] += 1
    for p in range(len(starts) - 1):
        starts[p + 1] += starts[p]
    total = int(starts[-1])
    for i in range(len(numbers)):
        p = numbers[i]
        if p >= 0:
            order[starts[p]] = i
            starts[p] += 1
    for p in range(len(starts) - 1, 0, -1):
        starts[p] = starts[p - 1]
    starts[0] = 0
    return total


@summing_kernel
def _gather(
    values: Array, order: Integers, m: int, level: float, factor: float, into: Array
) -> None:
    for i in range(m):
        into[i] = (values[np.uint64(order[i])] - level) * factor


@summing_kernel
def _add_products(rows: Array, v: Array, start: int, stop: int, table: Array) -> None:
    """Add the products of rows, two by two."""
    for a in range(0, len(v), 2):
        w0, w1 = rows[a, start:stop], rows[a + 1, start:stop]
        for b in range(a, len(v), 2):
            v0, v1 = v[b, start:stop], v[b + 1, start:stop]
            s00, s01, s10, s11 = 0.0, 0.0, 0.0, 0.0
            for i in range(stop - start):
                s00 += w0[i] * v0[i]
                s01 += w0[i] * v1[i]
                s10 += w1[i] * v0[i]
                s11 += w1[i] * v1[i]
            table[a, b] += s00
            table[a, b + 1] += s01
            table[a + 1, b] += s10
            table[a + 1, b + 1] += s11
