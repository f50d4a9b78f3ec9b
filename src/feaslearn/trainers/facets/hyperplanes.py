"""Heavy supporting hyperplanes of rows: ranks, null spaces, rays, members of least norm."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


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
        return keep, rank - int((~keep).sum())


class Rays:
    """``min g't : Z t >= 0, Z_K t = 0, v't = 1``, by its dual, warm from call to call."""

    def __init__(self, Z: Array) -> None:
        self.N, self.R = Z.shape
        inf = highspy.kHighsInf
        lp: Any = highspy.HighsLp()
        self.lp: Any = highspy.Highs()
        lp.num_col_, lp.num_row_ = self.N + 1, self.R
        lp.col_cost_ = np.append(np.zeros(self.N), -1.0)
        lp.col_lower_ = np.append(np.zeros(self.N), -inf)
        lp.col_upper_ = np.full(self.N + 1, inf)
        lp.row_lower_ = lp.row_upper_ = np.zeros(self.R)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.arange(self.N + 2) * self.R
        lp.a_matrix_.index_ = np.tile(np.arange(self.R), self.N + 1)
        lp.a_matrix_.value_ = np.vstack([Z, np.ones(self.R)]).ravel()
        self.lp.silent()
        options: dict[str, Any] = {
            "presolve": "off",
            "threads": 1,
            "solver": "simplex",
            "simplex_strategy": 1,
        }
        for name, value in {**options, "simplex_iteration_limit": 5000}.items():
            self.lp.setOptionValue(name, value)
        self.lp.passModel(lp)
        self._columns = np.arange(self.N, dtype=np.int32)

    def __call__(self, g: Array, v: Array, fixed: list[int], most: float = np.inf) -> Array | None:
        """Return the ray, or None; with a finite ``most`` rows may be violated at that price."""
        low, high = np.zeros(self.N), np.full(self.N, min(most, highspy.kHighsInf))
        low[fixed], high[fixed] = -highspy.kHighsInf, highspy.kHighsInf
        self.lp.changeColsBounds(self.N, self._columns, low, high)
        for r in range(self.R):
            self.lp.changeCoeff(r, self.N, float(v[r]))
            self.lp.changeRowBounds(r, float(g[r]), float(g[r]))
        self.lp.run()
        if self.lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.lp.clearSolver()
            return None
        return -np.array(self.lp.getSolution().row_dual)


def least_norm(
    G: Array, h: Array, soft: Mask, weight: float = 30.0, rounds: int = 60
) -> Array | None:
    """Return ``argmin |s|^2 + weight |xi|^2 : G s + xi >= h``, xi = 0 on rows that are not soft."""
    size = np.linalg.norm(G, axis=1)
    work, chunk = np.flatnonzero(h > 0), max(20, G.shape[1])
    d, give = G.shape[1], 1 / np.sqrt(weight)
    s = np.zeros(d)
    for k in range(rounds):
        ws = np.flatnonzero(soft[work])
        H = np.zeros((len(work), d + len(ws)))
        H[:, :d] = G[work]
        H[ws, d + np.arange(len(ws))] = give
        M, b = np.vstack([H.T, h[work]]), np.append(np.zeros(d + len(ws)), 1.0)
        try:
            u, left = nnls(M, b, maxiter=30 * M.shape[1] + 100)
        except RuntimeError:
            return None
        res = M @ u - b
        if left < 1e-7 or abs(res[-1]) < 1e-12:
            return None
        s = -res[:-1] / res[-1]
        miss = G @ s[:d] - h
        miss[work[ws]] += give * s[d:]
        bad = np.flatnonzero((size > 1e-9) & (miss < -1e-7 * np.linalg.norm(s[:d]) * size))
        new = np.setdiff1d(bad[np.argsort((miss / size.clip(1e-12))[bad])[:chunk]], work)
        if len(new) == 0:
            return np.asarray(s[:d])
        work = np.r_[work if k < 6 else work[u > 0], new]
    return np.asarray(s[:d])
