"""Costs at which all terms of a Minkowski sum have the same minimisers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.term import Term
from feaslearn.kernels.pattern_sums import cost_patterns
from feaslearn.kernels.set_code import BOX, HYPERSIMPLEX, L1_BALL, SIMPLEX, SetCode

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Comparison = tuple[int, int, float, float]

#: Comparisons are the bits of a number.
MOST_COMPARISONS = 62
#: With more patterns than this among some thousand samples, each has too few of them to gain.
MOST_PATTERNS = 128


class TermPatterns:
    r"""The comparisons of costs that minimisers depend on.

    Which vertex of a simplex, a hypersimplex, a box or an l1 ball is the minimiser is a matter of
    comparisons :math:`u c_i < v c_j` alone. Samples for which all of them agree share a pattern.

    Parameters
    ----------
    comparisons : sequence of tuple
        Each of them as (i, j, u, v).

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn import Simplex, Term
    >>> from feaslearn.hypotheses.term_patterns import TermPatterns
    >>> patterns = TermPatterns.of([Term(Simplex(2))], 2)
    >>> patterns.at(np.array([[1.0, 5.0, 2.0], [2.0, 3.0, 2.0]]), np.zeros((2, 3)))
    (array([ 0,  1, -1]), array([0, 1]))
    """

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        self._first = np.array([each[0] for each in comparisons], dtype=np.int64)
        self._second = np.array([each[1] for each in comparisons], dtype=np.int64)
        factors = [each[2:] for each in comparisons]
        self._factors = np.ascontiguousarray(np.array(factors, dtype=float).reshape(-1, 2).T)

    @classmethod
    def of(cls, terms: Sequence[Term], n: int) -> TermPatterns | None:
        """Return the comparisons of some terms, or None where other things matter too."""
        found: dict[Comparison, None] = {}
        for term in terms:
            places, code = term.places(), term.primitive.code()
            if places is None or code is None or not places[1].all():
                return None
            for comparison in _comparisons(code, *places):
                if comparison is None:
                    return None
                found[comparison] = None
        return cls(list(found)) if len(found) <= MOST_COMPARISONS else None

    def at(self, costs: Array, decisions: Array) -> tuple[Integers, Integers] | None:
        """Return the number of each sample's pattern, and one sample of each pattern.

        Samples run along the second axis. Those that may tie, and those with decisions that were
        not observed, have number -1. None where there are too many patterns.
        """
        numbers = np.empty(costs.shape[1], dtype=np.int64)
        rows = np.empty(MOST_PATTERNS, dtype=np.int64)
        count = cost_patterns(
            costs, decisions, self._first, self._second, self._factors, numbers, rows
        )
        return None if count < 0 else (numbers, rows[:count])


def _comparisons(
    code: SetCode, places: NDArray[np.intp], weights: Array
) -> Iterator[Comparison | None]:
    """Yield the comparisons of a set, or None where its minimisers need more than those."""
    for kind, start, stop in zip(code.kinds, code.starts[:-1], code.starts[1:], strict=True):
        entries = range(int(start), int(stop))
        if kind not in (SIMPLEX, HYPERSIMPLEX, L1_BALL, BOX):
            yield None
        if kind in (BOX, L1_BALL):
            yield from ((int(places[e]), int(places[e]), 1.0, 0.0) for e in entries)
        if kind == BOX:
            continue
        for e, f in combinations(entries, 2):
            yield _pair(places, weights, e, f, 1.0)
            if kind == L1_BALL:
                yield _pair(places, weights, e, f, -1.0)


def _pair(
    places: NDArray[np.intp], weights: Array, e: int, f: int, sign: float
) -> tuple[int, int, float, float]:
    """Return a comparison of two entries, the same for all terms that make it."""
    if places[e] > places[f]:
        e, f = f, e
    ratio = sign * float(weights[f]) / float(weights[e])
    return int(places[e]), int(places[f]), 1.0, ratio
