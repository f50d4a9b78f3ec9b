"""Minimisers of all terms of a Minkowski sum, those of one kind together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.hypotheses.term import Term, shape_of
from feaslearn.sets.hypersimplex import Hypersimplex
from feaslearn.sets.primitive_set import PrimitiveSet, Ties
from feaslearn.sets.simplex import Simplex
from feaslearn.tolerances import SUM_ROUNDING, TIE_TOL

#: Numbers held at once where the minimisers of many rows are written out.
AT_ONCE = 2_000_000

#: Entries of a row up to which all pairs are compared, and rows that are looked at together.
FEW_ENTRIES, ROWS_TOGETHER = 8, 8192


class Minimizers(NamedTuple):
    """Points ``E_t z_t*(c)`` for each row and term (N, T, n), and which are one of several."""

    points: Array
    tied: Mask


def without_rounding(costs: Array, matrices: Array) -> Array:
    """Return ``E_t'c`` (N, T, p) for rows of costs and matrices (T, n, p)."""
    # What only rounding makes is zero: a cost at right angles to a term has all of it for
    # minimisers.
    q = np.einsum("ij,tjp->itp", costs, matrices)
    sizes = np.einsum("ij,tjp->itp", np.abs(costs), np.abs(matrices))
    return np.asarray(np.where(np.abs(q) <= SUM_ROUNDING * sizes, 0.0, q))


class _Group(NamedTuple):
    """Terms that embed one primitive set, by coordinates and weights or by matrices."""

    primitive: PrimitiveSet
    members: Indices
    places: Indices | None
    weights: Array
    matrices: Array

    def first(self) -> _Group:
        """Return the first of the members alone."""
        places = None if self.places is None else self.places[:1]
        return _Group(self.primitive, self.members[:1], places, self.weights[:1], self.matrices[:1])

    def latent_costs(self, costs: Array) -> Array:
        """Return ``E_t'c`` (N, members, p); what only rounding makes is zero."""
        if self.places is not None:
            return np.asarray(costs[:, self.places] * self.weights)
        return without_rounding(costs, self.matrices)

    def add_points(self, z: Array | Mask, points: Array) -> None:
        """Write ``E_t z`` into the rows of ``points`` (N, T, n) that are theirs."""
        if self.places is not None:
            points[:, self.members[:, None], self.places] = z * self.weights
        else:
            points[:, self.members] = np.einsum("itp,tjp->itj", z, self.matrices)


class TermMinimizers:
    """The points :math:`E_t z_t^*(c)`, on which the decisions of a Minkowski sum are linear."""

    def __init__(self, terms: Sequence[Term], n: int) -> None:
        self.count, self.n = len(terms), n
        kinds: dict[tuple[bytes, bool], list[int]] = {}
        orders: dict[bytes, list[int]] = {}
        for t, term in enumerate(terms):
            if isinstance(term.primitive, Simplex | Hypersimplex):
                orders.setdefault(term.embedding(n).tobytes(), []).append(t)
            else:
                kinds.setdefault((shape_of(term.primitive), term.matrix is None), []).append(t)
        self._orders = [self._group(terms, m) for m in orders.values() if len(m) > 1]
        for alone in (m[0] for m in orders.values() if len(m) == 1):
            key = (shape_of(terms[alone].primitive), terms[alone].matrix is None)
            kinds.setdefault(key, []).append(alone)
        self._groups = [self._group(terms, members) for members in kinds.values()]
        self._counts = [getattr(term.primitive, "m", 1) for term in terms]
        self._terms = terms

    def _group(self, terms: Sequence[Term], members: list[int]) -> _Group:
        first = terms[members[0]]
        none = np.zeros((0, 0, 0))
        placed = [terms[t].places() for t in members]
        known = [each for each in placed if each is not None]
        if not known:
            matrices = np.array([terms[t].embedding(self.n) for t in members])
            return _Group(first.primitive, np.array(members), None, none, matrices)
        places, weights = (np.array(part) for part in zip(*known, strict=True))
        return _Group(first.primitive, np.array(members), places, weights, none)

    def chunks(self, n_rows: int) -> Iterator[slice]:
        """Yield rows that can be handled at once."""
        size = max(1, AT_ONCE // max(1, self.count * self.n))
        for start in range(0, n_rows, size):
            yield slice(start, start + size)

    def at(self, costs: Array, ties: Ties = "first") -> Minimizers:
        """Return the minimisers of all terms at rows of costs (N, n)."""
        points = np.zeros((len(costs), self.count, self.n))
        tied = np.zeros((len(costs), self.count), dtype=bool)
        for group in self._orders:
            self._add_sorted(group, costs, ties, points, tied)
        for group in self._groups:
            q = group.latent_costs(costs)
            rows = np.ascontiguousarray(q.reshape(-1, q.shape[-1]))
            z, several = group.primitive.argmin_and_ties(rows)
            if ties == "center":
                for i in np.flatnonzero(several):
                    z[i] = group.primitive.face(rows[i]).center()
            group.add_points(z.reshape(q.shape), points)
            tied[:, group.members] = several.reshape(q.shape[:-1])
        return Minimizers(points, tied)

    def _add_sorted(
        self, group: _Group, costs: Array, ties: Ties, points: Array, tied: Mask
    ) -> None:
        """Write the minimisers of simplices and hypersimplices in one place: one order for all."""
        one = group.first()
        q = np.ascontiguousarray(one.latent_costs(costs)[:, 0])
        z, several = smallest_entries(q, [self._counts[t] for t in group.members])
        group.add_points(z, points)
        tied[:, group.members] = several
        for place, t in enumerate(group.members if several.any() else ()):
            rows = np.flatnonzero(several[:, place])
            if len(rows):
                own = _Group(self._terms[t].primitive, np.array([0]), *one[2:])
                again = np.zeros((len(rows), 1, self.n))
                own.add_points(own.primitive.argmin(q[rows], ties=ties)[:, None], again)
                points[rows, t] = again[:, 0]


def smallest_entries(Q: Array, counts: Sequence[int]) -> tuple[Mask, Mask]:
    """Say for each row and each count which entries are the smallest, and where others tie."""
    # Few entries are compared column by column, many rows at a time, without a branch: three times
    # as fast as a loop over the rows, whose branches nobody can predict. Of equal entries the first
    # counts as smaller; rows that tie within the tolerance only are said to tie, not broken.
    p = Q.shape[1]
    chosen = np.empty((len(Q), len(counts), p), dtype=bool)
    tied = np.zeros((len(Q), len(counts)), dtype=bool)
    for start in range(0, len(Q), ROWS_TOGETHER):
        rows = slice(start, start + ROWS_TOGETHER)
        columns = np.ascontiguousarray(Q[rows].T)
        ranks, ordered = by_pairs(columns) if p <= FEW_ENTRIES else by_sorting(columns)
        margin = TIE_TOL * np.maximum(np.abs(ordered[0]), np.abs(ordered[-1]))
        for place, count in enumerate(counts):
            chosen[rows, place] = (ranks < count).T
            if count < p:
                tied[rows, place] = ordered[count] - ordered[count - 1] <= margin
    return chosen, tied


def by_pairs(columns: Array) -> tuple[NDArray[np.integer], Array]:
    """Return the place of each entry in its row, and the entries in order (rows run down)."""
    # All pairs are compared, and neighbouring ones exchanged.
    p = len(columns)
    ranks = np.zeros(columns.shape, dtype=np.int8)
    for k in range(p):
        for later in range(k + 1, p):
            smaller = columns[later] < columns[k]
            ranks[k] += smaller
            ranks[later] += ~smaller
    ordered = columns.copy()
    for turn in range(p):
        for j in range(turn % 2, p - 1, 2):
            low = np.minimum(ordered[j], ordered[j + 1])
            np.maximum(ordered[j], ordered[j + 1], out=ordered[j + 1])
            ordered[j] = low
    return ranks, ordered


def by_sorting(columns: Array) -> tuple[NDArray[np.integer], Array]:
    """Return the same as `by_pairs`, for columns of many entries."""
    order = np.argsort(columns, axis=0, kind="stable")
    ranks = np.empty(columns.shape, dtype=np.intp)
    np.put_along_axis(ranks, order, np.arange(len(columns))[:, None], axis=0)
    return ranks, np.take_along_axis(columns, order, axis=0)
