r"""Conic forms, equation (7b) of the paper: closed convex sets :math:`Z = \{z : Hz - h \in K\}`.

K is a product of the orthant, zero, second-order and semidefinite cones; :math:`K^*` is the same
product with free rows in the place of zero. A semidefinite cone holds symmetric matrices as scaled
triangles: their upper triangle column by column, with the entries off the diagonal times
:math:`\sqrt 2`,

.. math:: (S_{11}, \sqrt 2 S_{12}, S_{22}, \sqrt 2 S_{13}, \sqrt 2 S_{23}, S_{33}, \dots)

so that the product of two triangles is the trace of the product of their matrices, and the cone is
its own dual.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import isqrt
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from feaslearn.arrays import Array, Mask

ConeKind = Literal["nonnegative", "zero", "second-order", "semidefinite"]
CONE_KINDS: tuple[ConeKind, ...] = ("nonnegative", "zero", "second-order", "semidefinite")


class Cone(NamedTuple):
    r"""One factor of ``K``: its kind and the number of rows it takes.

    A second-order cone of size m is ``{(t, u) : |u| <= t}`` with t first. A semidefinite cone of
    size m (m + 1) / 2 holds the symmetric m x m matrices S without negative eigenvalues, as their
    upper triangle, column by column, with entries off the diagonal times :math:`\sqrt 2`:
    :math:`(S_{11}, \sqrt 2 S_{12}, S_{22}, \sqrt 2 S_{13}, \sqrt 2 S_{23}, S_{33}, \dots)`.
    In that scaling it is its own dual.
    """

    kind: ConeKind
    size: int


class ConicForm(NamedTuple):
    r"""The set :math:`Z = \{z : H z - h \in K\}`.

    K is the product of the cones, in the order of the rows.
    """

    H: Array
    h: Array
    cones: tuple[Cone, ...]

    @property
    def polyhedral(self) -> bool:
        """Whether only linear rows describe the set."""
        return is_polyhedral(self.cones)

    @property
    def equality_rows(self) -> Mask:
        """Which rows stand in a zero cone."""
        return equality_rows(self.cones)

    def blocks(self) -> Iterator[tuple[Cone, slice]]:
        """Yield each cone with its rows."""
        start = 0
        for cone in self.cones:
            yield cone, slice(start, start + cone.size)
            start += cone.size

    def violation(self, Z: Array) -> Array:
        """Return how far each row of ``Z`` (N, p) is from satisfying the worst of the rows."""
        slack = Z @ self.H.T - self.h
        worst = np.zeros(len(Z))
        for cone, rows in self.blocks():
            if cone.size:
                np.maximum(worst, _cone_violation(cone, slack[:, rows]), out=worst)
        return worst


def _cone_violation(cone: Cone, slack: Array) -> Array:
    if cone.kind == "nonnegative":
        return np.asarray(-slack.min(axis=1))
    if cone.kind == "zero":
        return np.asarray(np.abs(slack).max(axis=1))
    if cone.kind == "semidefinite":
        return np.asarray(-np.linalg.eigvalsh(matrices(slack))[:, 0])
    return np.asarray(np.linalg.norm(slack[:, 1:], axis=1) - slack[:, 0], dtype=float)


def is_polyhedral(cones: Sequence[Cone]) -> bool:
    """Whether all cones are linear."""
    return all(cone.kind in ("nonnegative", "zero") for cone in cones)


def equality_rows(cones: Sequence[Cone]) -> Mask:
    """Return which rows of a product of cones are zero."""
    kinds = np.array([cone.kind == "zero" for cone in cones], dtype=bool)
    return np.repeat(kinds, [cone.size for cone in cones])


def kept_cones(cones: Sequence[Cone], kept: Mask) -> tuple[Cone, ...]:
    """Return the cones of the rows that are kept; a curved cone stays whole or goes."""
    ends = np.cumsum([cone.size for cone in cones], dtype=int)
    sizes = [int(kept[end - cone.size : end].sum()) for end, cone in zip(ends, cones, strict=True)]
    return tuple(Cone(cone.kind, size) for cone, size in zip(cones, sizes, strict=True) if size)


def stack(forms: Sequence[ConicForm]) -> ConicForm:
    """Return the conic form of the Cartesian product of the given ones."""
    columns = np.cumsum([0, *(form.H.shape[1] for form in forms)])
    H = np.zeros((sum(len(form.h) for form in forms), columns[-1]))
    row = 0
    for form, start, stop in zip(forms, columns[:-1], columns[1:], strict=True):
        H[row : row + len(form.h), start:stop] = form.H
        row += len(form.h)
    cones = tuple(cone for form in forms for cone in form.cones)
    return ConicForm(H, np.concatenate([form.h for form in forms]), cones)


# Symmetric matrices as scaled triangles.


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
