"""Lists of terms for Minkowski sums."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError
from feaslearn.hypotheses.term import Term
from feaslearn.sets.box import Box
from feaslearn.sets.hypersimplex import Hypersimplex
from feaslearn.sets.simplex import Simplex

#: More terms than this are refused: the dictionary would take longer to write than to learn from.
MOST_TERMS = 20_000
#: Decisions up to which "auto" lists all pairs; beyond, they are taken for a time series.
MOST_PAIRS = 12


def hypersimplices(n: int) -> list[Term]:
    """List the sets of m ones among n decisions, m = 1 to n - 1."""
    _whole(n, "n", 1)
    return [Term(Hypersimplex(n, m)) for m in range(1, n)]


def simplices(n: int, sizes: Sequence[int], reflected: bool = False) -> list[Term]:
    """List the simplices over all choices of so many decisions, as they are or reflected."""
    sign = -1.0 if reflected else 1.0
    return [Term(Simplex(len(chosen)), chosen, sign) for chosen in _choices(n, sizes)]


def weighted_simplices(capacities: ArrayLike, sizes: Sequence[int]) -> list[Term]:
    """List simplices with a corner at the capacity of each decision."""
    weights = np.asarray(capacities, dtype=float)
    if weights.ndim != 1 or not np.isfinite(weights).all() or not (weights > 0.0).all():
        raise DataError("Minkowski.weighted_simplices: capacities must be positive numbers")
    return [
        Term(Simplex(len(chosen)), chosen, weights[chosen].tolist())
        for chosen in _choices(len(weights), sizes)
    ]


def windows(n: int, lengths: Sequence[int]) -> list[Term]:
    """List the hypersimplices on runs of consecutive decisions."""
    _whole(n, "n", 1)
    return [
        Term(Hypersimplex(length, m), list(range(start, start + length)))
        for length in _sizes(lengths, n, "lengths")
        for start in range(n - length + 1)
        for m in range(1, length)
    ]


def smoothed(n: int, lengths: Sequence[int], step: int = 1) -> list[Term]:
    """List hypersimplices seen through moving averages: schedules that change no faster.

    A moving average of ``length`` hours changes by at most one part in ``length`` from hour to
    hour. ``step`` takes every so many of the n - 1 hypersimplices.
    """
    _whole(n, "n", 1)
    _whole(step, "step", 1)
    return [
        Term(Hypersimplex(n, m), matrix=average.tolist())
        for average in (_moving_average(n, length) for length in _sizes(lengths, n, "lengths"))
        for m in range(min(step, n - 1), n, step)
    ]


def _moving_average(n: int, length: int) -> NDArray[np.float64]:
    """Return the matrix whose column t spreads one unit over the hours around t."""
    matrix = np.zeros((n, n))
    for t in range(n):
        start = t - (length - 1) // 2
        hours = [hour for hour in range(start, start + length) if 0 <= hour < n]
        matrix[hours, t] = 1.0 / len(hours)
    return matrix


def segments(G: ArrayLike) -> list[Term]:
    """List the segments from 0 to each row of ``G``."""
    try:
        rows = np.asarray(G, dtype=float)
    except (TypeError, ValueError):
        raise DataError("Minkowski.segments: G does not hold numbers") from None
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise DataError(
            f"Minkowski.segments: G has shape {rows.shape}; expected finite numbers (segments, n)"
        )
    return [_segment(g) for g in rows]


def _segment(g: np.ndarray) -> Term:
    along = np.flatnonzero(g)
    if len(along) == 1:
        return Term(Box(1, 0.0, 1.0), [int(along[0])], float(g[along[0]]))
    return Term(Box(1, 0.0, 1.0), matrix=g[:, None].tolist())


# Asked for by every region; hundreds of terms take milliseconds to make.
@lru_cache(maxsize=8)
def automatic(n: int) -> tuple[Term, ...]:
    """Return what serves n decisions of which nothing else is known.

    Few decisions: hypersimplices, all pairs, and a segment along each decision. Many are taken
    for a time series, with moving averages over up to six decisions instead of pairs.
    """
    if n == 1:
        return tuple(segments(np.eye(1)))
    near = simplices(n, [2]) if n <= MOST_PAIRS else smoothed(n, range(2, 7), n // 12)
    # Two decisions have one pair, which is a hypersimplex as well.
    return (*hypersimplices(n), *(near if n > 2 else []), *segments(np.eye(n)))


def _choices(n: int, sizes: Sequence[int]) -> Iterable[list[int]]:
    _whole(n, "n", 1)
    known = _sizes(sizes, n, "sizes")
    count = sum(comb(n, size) for size in known)
    if count > MOST_TERMS:
        raise DataError(
            f"Minkowski: {count} simplices over {n} decisions are too many to list; take smaller "
            "sizes, or let GrownMinkowski find them"
        )
    return (list(chosen) for size in known for chosen in combinations(range(n), size))


def _sizes(sizes: Sequence[int], n: int, name: str) -> list[int]:
    if not isinstance(sizes, Iterable):
        raise DataError(f"Minkowski: {name}={sizes!r} is not a list of whole numbers")
    known = list(sizes)
    for size in known:
        _whole(size, name, 2)
        if size > n:
            raise DataError(f"Minkowski: {name} holds {size}, but there are {n} decisions")
    return known


def _whole(value: object, name: str, least: int) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < least:  # type: ignore[call-overload]
        raise DataError(f"Minkowski: {name} is {value!r}, expected a whole number >= {least}")
