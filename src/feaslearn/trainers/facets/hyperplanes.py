"""Heavy supporting hyperplanes of rows: ranks, null spaces, rays, members of least norm."""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from feaslearn.arrays import Array, Mask
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.tolerances import (
    DECISION_TOL,
    DEPENDENT_TOL,
    FEASIBILITY_TOL,
    LSTSQ_TOL,
    ROUNDING,
    TINY,
)
from feaslearn.trainers.facets.rows import SPREAD, standard_rows

#: Rows that a facet must carry beyond their rank.
EXCESS = 3
#: Angle between the normal of a facet and the nearest cost on each side of it, beyond which a
#: vertex that no cost has visited may lie before it.
GAP = 0.1


class Metric:
    """Ranks and null spaces of rows that carry errors.

    A direction v is null on rows Z_T if |Z_T v|^2 <= spread^2 |T| v'C v, C the covariance of the
    errors of a row: total least squares, and for exact rows an ordinary null space.
    """

    def __init__(self, C: Array, spread: float) -> None:
        self.root = np.linalg.cholesky(C)
        self.inverse = np.linalg.inv(self.root)
        self.spread = spread

    def eigen(self, Z: Array) -> tuple[Array, Array, int]:
        """Return eigenvalues and vectors of the rows in units of errors, and their rank."""
        Y = Z @ self.inverse.T
        if len(Y) > Y.shape[1]:
            Y = np.asarray(np.linalg.qr(Y, mode="r"))
        s, V = np.linalg.svd(Y, full_matrices=True)[1:]
        full = np.zeros(V.shape[0])
        full[: len(s)] = s
        rank = int((full > self.spread * np.sqrt(max(len(Z), 1))).sum())
        return full, V, rank

    def null(self, Z: Array) -> Array:
        """Return a basis of the null space, as columns."""
        if len(Z) == 0:
            return np.eye(self.root.shape[0])
        _, V, rank = self.eigen(Z)
        return np.asarray(np.linalg.qr(self.inverse.T @ V[rank:].T)[0])

    def confirmed(self, Z: Array, alone: float) -> tuple[Mask, int]:
        """Return rows that depend on others, by their leverage, and the rank of those."""
        if len(Z) == 0:
            return np.zeros(0, bool), 0
        s, V, rank = self.eigen(Z)
        U = (Z @ self.inverse.T @ V[:rank].T) / s[:rank]
        keep = (U**2).sum(axis=1) < 1.0 - alone
        # Each row without error that nothing else confirms has a direction of its own; with errors
        # two such rows may share one.
        return keep, self.eigen(Z[keep])[2] if self.spread > 1.0 else rank - int((~keep).sum())


def least_norm(G: Array, rounds: int = 60) -> Array | None:
    """Return ``argmin |s| : G[0] s >= 1, G s >= 0``, None if there is none."""
    size, chunk = np.linalg.norm(G, axis=1), max(20, G.shape[1])
    work, s = np.zeros(1, int), np.zeros(G.shape[1])
    for k in range(rounds):
        M, b = np.vstack([G[work].T, work == 0]), np.append(np.zeros(G.shape[1]), 1.0)
        try:
            u, left = nnls(M, b, maxiter=30 * M.shape[1] + 100)
        except RuntimeError:
            return None
        res = M @ u - b
        if left < FEASIBILITY_TOL or abs(res[-1]) < ROUNDING:
            return None
        s = -res[:-1] / res[-1]
        miss = G @ s
        miss[0] -= 1.0
        bad = np.flatnonzero(
            (size > DEPENDENT_TOL) & (miss < -FEASIBILITY_TOL * np.linalg.norm(s) * size)
        )
        new = np.setdiff1d(bad[np.argsort((miss / size.clip(ROUNDING))[bad])[:chunk]], work)
        if len(new) == 0:
            break
        work = np.r_[work if k < 6 else work[u > 0], new]
    return s


def identified(
    region: FacetRows, features: Array, costs: Array, decisions: Array, error: float = 0.0
) -> Mask:
    """Say which facets the rows leave just one member of.

    The rows on a facet that confirm each other have all but one of the ranks of all rows modulo the
    equalities, and are at least three more. Rows of one regime (the same active constraints) lie in
    one affine space and confirm each other only there: either further regimes lie on the facet
    than it takes to span it, or costs on both sides leave only a small gap around its normal;
    otherwise a chord before a vertex that no cost has visited would look the same. ``error`` is
    the standard deviation of errors in decisions, in units of their spread.
    """
    rows, units = standard_rows(features, costs, decisions)
    found = np.zeros(len(region.a), bool)
    n, x_error = len(rows.scale), np.maximum(rows.x_error, error)
    if not n or not len(found):
        return found
    E = (region.E * units.std)[:, units.moving]
    U, s, _ = np.linalg.svd(E.T, full_matrices=True)
    W = U[:, int((s > DEPENDENT_TOL * max(float(s.max(initial=0.0)), TINY)).sum()) :]
    Z = np.hstack([-rows.x @ W, rows.F])
    # Values at a bound are all rounded alike, but noise differs there too.
    errors = x_error**2 * (~(rows.at_lo | rows.at_up) | (error > 0.0))
    normals = (region.a * units.std)[:, units.moving]
    sizes = np.maximum(np.linalg.norm(normals, axis=1), TINY)
    slack = (features @ region.f.T - decisions @ region.a.T) / sizes
    g = np.linalg.lstsq(rows.F, features @ region.f.T / sizes, rcond=LSTSQ_TOL)[0]
    var = errors @ (normals / sizes[:, None]).T ** 2 + ((rows.F_cov @ g) * g).sum(axis=0).clip(0.0)
    on = np.abs(slack) < np.maximum(DECISION_TOL, SPREAD * np.sqrt(var))
    pattern = np.hstack([rows.at_lo, rows.at_up, on])
    prices = rows.c @ W
    prices /= np.maximum(np.linalg.norm(prices, axis=1, keepdims=True), TINY)
    for j in range(len(found)):
        T = np.flatnonzero(on[:, j])
        C = DECISION_TOL**2 * np.eye(Z.shape[1])
        if x_error.any() and len(T):
            C[: W.shape[1], : W.shape[1]] += (W * errors[T].mean(axis=0)[:, None]).T @ W
            C[W.shape[1] :, W.shape[1] :] += rows.F_cov
        metric = Metric(C, 2.0 if x_error.any() else 1.0)
        keep, rank = metric.confirmed(Z[T], DECISION_TOL)
        T = T[keep]
        if rank != Z.shape[1] - 1 or len(T) - rank < EXCESS:
            continue
        group = np.unique(pattern[T], axis=0, return_inverse=True)[1].ravel()
        regimes = [T[group == g] for g in range(group.max() + 1)]
        spanned = sum(metric.eigen(Z[regime])[2] for regime in regimes)
        u = -(normals[j] @ W)
        u = u / max(float(np.linalg.norm(u)), TINY)
        angles = np.sort([np.arccos(np.clip(prices[r] @ u, -1.0, 1.0)).min() for r in regimes])
        near = len(u) == 1 or (len(angles) > 1 and bool(angles[1] < GAP))
        found[j] = spanned - rank >= EXCESS or near
    return found
