"""Moments of many terms of which each moves few decisions, one decision after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.term import Term
from feaslearn.trainers.minkowski_fit.moments import Moments, Rows, gram_of
from feaslearn.trainers.minkowski_fit.split import Split

Array = NDArray[np.float64]

#: How many times fewer products must be enough: small ones at a time take longer each.
FEWER = 4.0


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
