"""The moments of one block: what a pass over the data adds up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.data import Block
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.scale_basis import ScaleBasis
from feaslearn.hypotheses.term import Term
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows, Split, Units, gram_of

#: Products of two scales that are written out at once, entries of minimisers, and rows.
AT_ONCE, ENTRIES, MOST_ROWS = 4_000_000, 16_000_000, 16_384

#: How many times fewer products must be enough: small ones at a time take longer each.
FEWER = 2.0


class Piece(NamedTuple):
    """Some rows of a block with their minimisers, and how many of them tie."""

    place: slice
    rows: Rows
    tied: Mask


class BlockMoments:
    """Makes the moments of a block; can be sent to where the block is."""

    def __init__(
        self, hypothesis: Minkowski, n: int, k: int, units: Units, knots: Array | None
    ) -> None:
        self.hypothesis, self.units, self.knots, self.n = hypothesis, units, knots, n
        self.basis: ScaleBasis = hypothesis.basis(k)
        terms = hypothesis.terms_of(n)
        self.minimizers = TermMinimizers(terms, n)
        basis, offset = self.basis, bool(hypothesis.offset)
        self.split = Split(basis.size, k, basis.knotted, offset)
        self.by_decision = worth_it(terms, n, self.split)

    def in_units(self, units: Units) -> BlockMoments:
        """Return the same in other units."""
        return BlockMoments(self.hypothesis, self.n, self.split.n_features, units, self.knots)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of scales, and of functions that each is made of."""
        return (self.minimizers.count, self.basis.size)

    def of(self, block: Block, check_time: Callable[[], None] | None = None) -> Moments:
        """Return the moments of all rows; ``check_time`` raises where the time is up."""
        make = moments_by_decision if self.by_decision else Moments.of

        def parts() -> Iterator[Moments]:
            for piece in self.pieces(block):
                if check_time is not None:
                    check_time()
                tied = float(piece.tied.any(axis=1).sum())
                yield make(piece.rows, self.split)._replace(tied=tied)

        return reduce(lambda one, other: Moments.total([one, other]), parts())

    def psi(self, features: Array) -> Array:
        """Return the functions of the scales at rows of features."""
        if self.knots is not None:
            return self.basis.values(features, self.knots)
        units = Units(*(part[: self.basis.size] for part in self.units))
        return units.apply(features[:, : self.basis.size])

    def pieces(self, block: Block) -> Iterator[Piece]:
        """Yield all rows with their minimisers, in pieces that can be written out."""
        entries = max(1, self.minimizers.count * self.n)
        size = max(1, ENTRIES // entries)
        if not self.by_decision:
            size = max(1, AT_ONCE // max(self.shape[0] ** 2, entries))
        size = min(size, MOST_ROWS)
        for start in range(0, max(1, len(block.weights)), size):
            place = slice(start, start + size)
            features = block.features[place]
            phi = np.ascontiguousarray(self.units.apply(features))
            psi = phi[:, : self.basis.size] if self.knots is None else self.psi(features)
            points, tied = self.minimizers.at(np.ascontiguousarray(block.costs[place]))
            decisions = block.decisions[place] - self.units.center
            if not self.hypothesis.offset:
                phi = phi[:, :0]
            yield Piece(place, Rows(points, psi, phi, decisions, block.weights[place]), tied)

    def theta(self, a: Array, b: Array) -> Array:
        """Return the parameters for features and decisions as they were."""
        blocks: dict[str, Array] = {}
        if self.shape[0]:
            blocks["alpha"] = a if self.knots is not None else self._restored(a.T).T
        if self.hypothesis.offset:
            blocks["b"] = self._restored(b)
            blocks["b"][0] += self.units.center
        if self.shape[0] and self.knots is not None:
            blocks["knots"] = self.knots
        return self.hypothesis.layout(self.n, self.split.n_features).pack(blocks)

    def _restored(self, table: Array) -> Array:
        """Return coefficients of the features themselves, given those of standardised ones."""
        m, units = len(table), self.units
        table = table / units.scale[:m, None]
        table[0] -= units.mean[:m] @ table
        return table


# Moments of many terms of which each moves few decisions, one decision after the other.


def worth_it(terms: Sequence[Term], n: int, split: Split) -> bool:
    """Say whether terms overlap so little that most of their products are zero."""
    if not terms:
        return False
    moved = np.array([term.embedding(n).any(axis=1) for term in terms])
    apart = ((moved.sum(axis=0) * split.n_psi + split.n_features) ** 2.0).sum()
    pairs, functions = len(terms) * (len(terms) + 1) / 2.0, split.n_functions
    return bool(FEWER * apart < pairs * (n + functions * (functions + 1) / 2.0))


def moments_by_decision(rows: Rows, split: Split) -> Moments:
    r"""Return what `Moments.of` returns, as a sum over decisions.

    .. math:: \sum_i w_i \|\hat x_i - x_i\|^2 = \sum_j \sum_i w_i (\hat x_{ij} - x_{ij})^2

    A decision is moved by few of the terms, and only those are multiplied.
    """
    count, G, n = rows.points.shape
    M, k = rows.psi.shape[1], rows.phi.shape[1]
    hidden = np.isnan(rows.decisions)
    x, w = np.where(hidden, 0.0, rows.decisions), np.where(hidden, 0.0, rows.weights[:, None])
    aa, ab, bb = np.zeros((G, M, G, M)), np.zeros((G, M, k, n)), np.empty((k, k, n))
    each = np.arange(M)
    ra, rb, xx = np.zeros((G, M)), np.empty((k, n)), 0.0
    for j in range(n):
        own = np.flatnonzero(rows.points[:, :, j].any(axis=0))
        moved = rows.points[:, own, j]
        scaled = (moved[:, :, None] * rows.psi[:, None]).reshape(count, -1)
        design = np.hstack([scaled, rows.phi, x[:, j : j + 1]])
        products = design.T @ (w[:, j, None] * design)
        size, terms = scaled.shape[1], (len(own), M)
        aa[np.ix_(own, each, own, each)] += products[:size, :size].reshape(*terms, *terms)
        ab[own, :, :, j] = products[:size, size:-1].reshape(*terms, k)
        bb[:, :, j] = products[size:-1, size:-1]
        ra[own] += products[:size, -1].reshape(terms)
        rb[:, j] = products[size:-1, -1]
        xx += float(products[-1, -1])
    weight, observed = float(rows.weights.sum()), float(np.count_nonzero(~hidden))
    return Moments(aa, ab, bb, ra, rb, xx, gram_of(rows, split), weight, observed)
