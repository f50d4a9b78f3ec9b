"""What every export starts from: a region as rows over decisions and latent variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from feaslearn.solvers.conic_form import Cone

Array = NDArray[np.float64]
#: The name of the coefficient that is always one.
CONSTANT = "1"


@dataclass(frozen=True, eq=False)
class Description:
    r"""The region :math:`\{x : \exists z,\; X x + \sum_k w_k (Z_k z - r_k) \in K\}`.

    The coefficients :math:`w_k(s)` are known numbers at a signal, the first of them is one; a
    region at one signal has no other. Some entries of z are zero or one.

    Parameters
    ----------
    names : tuple of str
        Names of the n decisions x.
    X : sparse array of shape (m, n)
        What multiplies the decisions.
    Z : tuple of sparse arrays of shape (m, p)
        What multiplies the latent variables z, for each coefficient.
    r : ndarray of shape (k, m)
        Right-hand sides, for each coefficient.
    cones : tuple of Cone
        The factors of K in the order of the rows.
    binary : ndarray of bool of shape (p,)
        Which latent variables are zero or one.
    coefficients : tuple of str
        Names of the coefficients.
    """

    names: tuple[str, ...]
    X: sp.csr_array
    Z: tuple[sp.csr_array, ...]
    r: Array
    cones: tuple[Cone, ...]
    binary: NDArray[np.bool_]
    coefficients: tuple[str, ...] = (CONSTANT,)

    @property
    def n(self) -> int:
        """Number of decisions."""
        return len(self.names)

    @property
    def p(self) -> int:
        """Number of latent variables."""
        return len(self.binary)

    @property
    def curved(self) -> bool:
        """Whether a cone is not linear."""
        return any(cone.kind in ("second-order", "semidefinite") for cone in self.cones)

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Which rows have a coefficient besides the constant one."""
        found = (self.r[1:] != 0.0).any(axis=0)
        for Z in self.Z[1:]:
            found |= np.diff(Z.indptr) > 0
        return np.asarray(found)

    def at(self, weights: Array) -> Description:
        """Return the region where the coefficients have these values."""
        Z = sum(
            (w * Z for w, Z in zip(weights, self.Z, strict=True)), sp.csr_array(self.Z[0].shape)
        )
        return Description(
            self.names,
            self.X,
            (sp.csr_array(Z),),
            (weights @ self.r)[None],
            self.cones,
            self.binary,
        )

    def cut(self, A: Array, b: Array, E: Array, e: Array) -> Description:
        """Return the region within ``A x <= b(w), E x = e(w)``; b is (k, rows), e is (k, rows)."""
        rows = len(A) + len(E)
        none = sp.csr_array((rows, self.p))
        return Description(
            self.names,
            below([self.X, sparse(-A), sparse(E)]),
            tuple(below([Z, none]) for Z in self.Z),
            np.hstack([self.r, -b, e]),
            (*self.cones, Cone("nonnegative", len(A)), Cone("zero", len(E))),
            self.binary,
            self.coefficients,
        )


def sparse(values: Any) -> sp.csr_array:
    """Return a matrix as a sparse array of rows."""
    return sp.csr_array(values)


def beside(blocks: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return matrices in one row of blocks."""
    return sp.csr_array(sp.hstack(blocks))


def below(blocks: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return matrices in one column of blocks."""
    return sp.csr_array(sp.vstack(blocks))
