r"""Symmetric matrices as scaled triangles: what the rows of a semidefinite cone hold.

The triangle of a symmetric matrix S lists its upper triangle column by column, with the entries off
the diagonal times :math:`\sqrt 2`:

.. math:: (S_{11}, \sqrt 2 S_{12}, S_{22}, \sqrt 2 S_{13}, \sqrt 2 S_{23}, S_{33}, \dots)

so that the product of two triangles is the trace of the product of their matrices, and the cone of
semidefinite matrices is its own dual.
"""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array


def side(size: int) -> int | None:
    """Return the m of a triangle of ``m (m + 1) / 2`` entries, or None where there is none."""
    m = isqrt(2 * size)
    return m if m * (m + 1) // 2 == size else None


@cache
def spread(m: int) -> Any:
    """Return the sparse matrix (m m, m (m + 1) / 2) from a triangle to all entries."""
    columns, rows = np.tril_indices(m)
    values = np.where(rows == columns, 1.0, np.sqrt(0.5))
    entries = np.arange(len(rows))
    # Entries on the diagonal must not be counted twice.
    off = rows != columns
    places = np.concatenate([columns * m + rows, (rows * m + columns)[off]])
    data = np.concatenate([values, values[off]]), (places, np.concatenate([entries, entries[off]]))
    return sp.csr_array(data, shape=(m * m, len(rows)))


def matrices(triangles: Array) -> Array:
    """Return the symmetric matrices (..., m, m) of triangles (..., m (m + 1) / 2)."""
    m = side(triangles.shape[-1])
    if m is None:
        raise ValueError(f"{triangles.shape[-1]} entries are no triangle")
    return np.asarray(triangles @ spread(m).T).reshape(*triangles.shape[:-1], m, m)


def triangles(symmetric: Array) -> Array:
    """Return the triangles of symmetric matrices (..., m, m)."""
    m = symmetric.shape[-1]
    return np.asarray(symmetric.reshape(*symmetric.shape[:-2], m * m) @ spread(m))


def turned(Q: Array) -> Array:
    """Return the matrix from the triangle of S to that of ``Q'SQ``."""
    m = len(Q)
    # Row by row of the identity: the matrices whose triangles are unit vectors.
    units = matrices(np.eye(m * (m + 1) // 2))
    return triangles(Q.T @ units @ Q).T


def jordan(triangle: Array) -> Array:
    """Return the matrix of the product ``(XY + YX) / 2`` with a given X, from Y's triangle."""
    X = matrices(triangle)
    units = matrices(np.eye(len(triangle)))
    return triangles((X @ units + units @ X) / 2.0).T


class Split(NamedTuple):
    """A turn of a semidefinite cone's rows that splits them by multipliers L.

    The slack is ``Q'SQ`` after the turn, with the null space of L first. The first ``kept`` rows
    are the triangle of the block across that null space, on which the slack is free; slack that is
    complementary to L is zero in the other rows. ``values`` are the eigenvalues of L in order, the
    first ``nullity`` of them zero.
    """

    rows: Array
    kept: int
    nullity: int
    values: Array
    vectors: Array


def split(dual: Array, zero: float) -> Split:
    """Return the turn that multipliers ask for; eigenvalues up to ``zero`` are zero."""
    values, vectors = np.linalg.eigh(matrices(dual))
    nullity = int((values <= zero).sum())
    return Split(turned(vectors), nullity * (nullity + 1) // 2, nullity, values, vectors)
