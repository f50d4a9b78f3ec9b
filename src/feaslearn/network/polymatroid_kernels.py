"""Polymatroids of what plants can deliver through a network, by its cuts.

``F(S) = min_T [ d(T) + f(δT) + C(S without T) ]`` is the most that the plants ``S`` deliver. Sets
of nodes and of plants are numbers: bit ``j`` says whether ``j`` belongs to the set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses.kernels import SQUARED_L2
from feaslearn.solvers.jit import inner_kernel, kernel

Array = NDArray[np.float64]


@inner_kernel
def sums_of_sets(values: Array, sums: Array) -> None:
    """Write the sum of the values over every set into ``sums``."""
    sums[0] = 0.0
    for j in range(values.size):
        first = 1 << j
        for low in range(first):
            sums[first + low] = sums[low] + values[j]


@inner_kernel
def most_delivered(demand_of: Array, cut: Array, outside: Array) -> float:
    """Return F(S), with ``outside`` the capacity of the plants of S outside each set of nodes."""
    least = np.inf
    for T in range(demand_of.size):
        value = demand_of[T] + cut[T] + outside[T]
        least = min(least, value)
    return least


@inner_kernel
def _sort_by_price(costs: Array, order: NDArray[np.int64]) -> None:
    """Write the plants in the order of price; of equal prices the first plant comes first."""
    for plant in range(costs.size):
        k = plant
        while k > 0 and costs[order[k - 1]] > costs[plant]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = plant


@kernel
def cheapest_dispatch(
    demands: Array, costs: Array, cut: Array, outside: Array, dispatch: Array
) -> None:
    """Dispatch plants cheapest first, each up to the increment of F; NaN where demand is unserved.

    Of equal prices the first plant goes first.
    """
    demand_of, order = np.empty(cut.size), np.empty(costs.shape[1], dtype=np.int64)
    for i in range(len(costs)):
        sums_of_sets(demands[i], demand_of)
        _sort_by_price(costs[i], order)
        group, before = 0, 0.0
        for k in range(order.size):
            plant = int(order[k])
            group |= 1 << plant
            after = most_delivered(demand_of, cut, outside[group])
            dispatch[i, plant] = after - before
            before = after
        total = demand_of[-1]
        if before < total - 1e-9 * (1.0 + total):
            dispatch[i] = np.nan


@inner_kernel
def nearest_base_l1(F: Array, x: Array) -> float:
    """Return the l1 distance of x to the bases of F: ``x(E) + F(E) - 2 min_A [F(A) + x(E - A)]``.

    Of all ``w <= x`` that F allows the largest has the sum of that minimum, and every such w can be
    raised to a base; the base then misses x by ``x(E) - w(E)`` below and ``F(E) - w(E)`` above.
    """
    full = F.size - 1
    total = 0.0
    for j in range(x.size):
        total += x[j]
    common = np.inf
    for A in range(F.size):
        value = F[A]
        for j in range(x.size):
            if not A >> j & 1:
                value += x[j]
        common = min(common, value)
    return float(max(0.0, total + F[full] - 2.0 * common))


@inner_kernel
def nearest_base_l2(F: Array, x: Array, base: Array) -> float:
    """Write the base of F nearest to x in the l2 norm, and return the squared distance.

    Decomposition: move x by one amount in every entry to the right sum; where a set then has more
    than F allows, the problem falls apart into that set and the rest.
    """
    n = x.size
    low, high = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    low[0], high[0] = 0, F.size - 1
    left = 1
    while left > 0:
        left -= 1
        L, U = low[left], high[left]
        within = U & ~L
        amount, size = F[U] - F[L], 0
        for j in range(n):
            if within >> j & 1:
                amount -= x[j]
                size += 1
        step = amount / size
        worst, least = 0, -1e-12 * (1.0 + abs(F[U]))
        A = (within - 1) & within
        while A > 0:
            slack = F[L | A] - F[L]
            for j in range(n):
                if A >> j & 1:
                    slack -= x[j] + step
            if slack < least:
                worst, least = A, slack
            A = (A - 1) & within
        if worst == 0:
            for j in range(n):
                if within >> j & 1:
                    base[j] = x[j] + step
        else:
            low[left], high[left] = L, L | worst
            low[left + 1], high[left + 1] = L | worst, U
            left += 2
    total = 0.0
    for j in range(n):
        total += (base[j] - x[j]) ** 2
    return total


@inner_kernel
def _excess(
    demand_of: Array, cut: Array, outside: Array, costs: Array, order: NDArray[np.int64], x: Array
) -> float:
    """Return the cost of x over that of the cheapest dispatch."""
    group, before, excess = 0, 0.0, 0.0
    for plant in order:
        group |= 1 << plant
        after = most_delivered(demand_of, cut, outside[group])
        excess += costs[plant] * (x[plant] - (after - before))
        before = after
    return excess


@inner_kernel
def _to_bases(F: Array, x: Array, norm: int, base: Array) -> float:
    if norm == SQUARED_L2:
        return nearest_base_l2(F, x, base)
    base[:] = np.nan
    return nearest_base_l1(F, x)


@inner_kernel
def _to_optimal(
    demand_of: Array,
    cut: Array,
    outside: Array,
    costs: Array,
    order: NDArray[np.int64],
    x: Array,
    tie: float,
    norm: int,
    point: Array,
) -> float:
    """Return the distance of x to all cheapest dispatches, one group of equal prices at a time."""
    n_plants = x.size
    total, group, before, start = 0.0, 0, 0.0, 0
    while start < n_plants:
        end = start + 1
        while end < n_plants and costs[order[end]] - costs[order[end - 1]] <= tie:
            end += 1
        size = end - start
        F = np.zeros(1 << size)
        for A in range(1, F.size):
            added = group
            for j in range(size):
                if A >> j & 1:
                    added |= 1 << order[start + j]
            F[A] = most_delivered(demand_of, cut, outside[added]) - before
        base, part = np.empty(size), np.empty(size)
        for j in range(size):
            part[j] = x[order[start + j]]
        total += _to_bases(F, part, norm, base)
        for j in range(size):
            point[order[start + j]] = base[j]
            group |= 1 << order[start + j]
        before += F[-1]
        start = end
    return total


@kernel
def network_losses(
    demands: Array,
    costs: Array,
    decisions: Array,
    cuts: Array,
    outside: Array,
    predictability: bool,
    norm: int,
    tie: float,
    losses: Array,
    points: Array,
) -> None:
    """Write the loss of every sample under every network; infinite where demand is unserved.

    ``cuts`` holds a row of cut capacities for each network. ``points`` are, for the squared norm,
    the optimal (or, for suboptimality, feasible) dispatches that are nearest under the last one.
    """
    n_samples, n_plants = costs.shape
    demand_of = np.empty(cuts.shape[1])
    F, order = np.zeros(1 << n_plants), np.empty(n_plants, dtype=np.int64)
    for i in range(n_samples):
        sums_of_sets(demands[i], demand_of)
        total = demand_of[-1]
        _sort_by_price(costs[i], order)
        near = tie * max(abs(costs[i, order[0]]), abs(costs[i, order[-1]]))
        x = decisions[i]
        for r in range(len(cuts)):
            cut = cuts[r]
            F[-1] = most_delivered(demand_of, cut, outside[-1])
            if F[-1] < total - 1e-9 * (1.0 + total):
                losses[r, i] = np.inf
                continue
            if predictability:
                losses[r, i] = _to_optimal(
                    demand_of, cut, outside, costs[i], order, x, near, norm, points[i]
                )
                continue
            for S in range(1, F.size - 1):
                F[S] = most_delivered(demand_of, cut, outside[S])
            far = _to_bases(F, x, norm, points[i])
            excess = max(0.0, _excess(demand_of, cut, outside, costs[i], order, x))
            losses[r, i] = far + (excess * excess if norm == SQUARED_L2 else excess)
