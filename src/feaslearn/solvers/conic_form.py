"""The conic form ``Z = {z : H z - h in K}`` that every primitive set can be written in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask

ConeKind = Literal["nonnegative", "zero", "second-order"]


class Cone(NamedTuple):
    """One factor of ``K``: its kind and the number of rows it takes.

    A second-order cone of size m is ``{(t, u) : |u| <= t}`` with t first.
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
