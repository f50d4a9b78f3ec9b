"""Sets given by their conic form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.exceptions import Problems, SetError
from feaslearn.sets.primitive_set import PrimitiveSet, numbers
from feaslearn.solvers.conic_form import CONE_KINDS, Cone, ConicForm
from feaslearn.solvers.triangle import side


@dataclass(eq=False, repr=False)
class ConicSet(PrimitiveSet):
    r"""The set :math:`\{z : Hz - h \in K\}` for linear rows and second-order or semidefinite cones.

    Parameters
    ----------
    H : array-like of shape (l, p)
        Rows.
    h : array-like of shape (l,)
        Right-hand sides.
    cones : sequence of (kind, size)
        The factors of K in the order of the rows: ``("nonnegative", m)``, ``("zero", m)``,
        ``("second-order", m)``, whose first row bounds the norm of the others, or
        ``("semidefinite", m (m + 1) / 2)``, whose rows are the upper triangle of a symmetric
        m x m matrix, column by column, with entries off the diagonal times :math:`\sqrt 2`.

    Examples
    --------
    The upper half of the unit disc:

    >>> from feaslearn import ConicSet
    >>> half_disc = ConicSet([[0, 0], [1, 0], [0, 1], [0, 1]], [-1, 0, 0, 0],
    ...                      [("second-order", 3), ("nonnegative", 1)])
    >>> half_disc.argmin([[0.0, -1.0]]).round(6) + 0.0
    array([[0., 1.]])

    The matrices ``[[1, z_0], [z_0, z_1]]`` without negative eigenvalues and with ``z_1 <= 1``:

    >>> root = 2 ** 0.5
    >>> cap = ConicSet([[0, 0], [root, 0], [0, 1], [0, -1]], [-1, 0, 0, -1],
    ...                [("semidefinite", 3), ("nonnegative", 1)])
    >>> cap.argmin([[1.0, 1.0]]).round(6)
    array([[-0.5 ,  0.25]])
    """

    H: ArrayLike
    h: ArrayLike
    cones: Sequence[Cone | tuple[str, int]]

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return int(self.conic_form().H.shape[1])

    def conic_form(self) -> ConicForm:
        """Return the rows and cones as given, checked for their shapes."""
        problems = Problems()
        H, h = numbers(self.H, "H", "ConicSet"), numbers(self.h, "h", "ConicSet")
        if H.ndim != 2 or H.shape[1] == 0:
            problems.add(f"H has shape {H.shape}; expected (rows, p) with p at least 1")
        if h.shape != H.shape[:1]:
            problems.add(f"h has shape {h.shape}, but H has {H.shape[0] if H.ndim else 0} rows")
        if not (np.isfinite(H).all() and np.isfinite(h).all()):
            problems.add("H and h must be finite")
        cones = _cones(self.cones, problems)
        if not len(problems) and sum(cone.size for cone in cones) != len(H):
            problems.add(f"cones take {sum(c.size for c in cones)} rows, but H has {len(H)}")
        problems.raise_if_any(SetError, "ConicSet")
        return ConicForm(H, h, cones)


def _cones(given: object, problems: Problems) -> tuple[Cone, ...]:
    """Return the cones as such; add to problems those that are invalid."""
    pairs = [tuple(cone) if isinstance(cone, Sequence) else () for cone in _listed(given)]
    cones = []
    for j, pair in enumerate(pairs):
        if len(pair) != 2 or not isinstance(pair[1], Integral) or pair[1] < 0:
            problems.add(f"cones[{j}] must be a kind and a number of rows, as in ('zero', 2)")
        elif pair[0] not in CONE_KINDS:
            problems.add(f"cones[{j}] is {pair[0]!r}, not one of {', '.join(CONE_KINDS)}")
        elif pair[0] == "semidefinite" and side(int(pair[1])) is None:
            problems.add(
                f"cones[{j}] takes {pair[1]} rows; the triangle of an m x m matrix takes "
                "m (m + 1) / 2 of them: 1, 3, 6, 10, ..."
            )
        else:
            cones.append(Cone(pair[0], int(pair[1])))
    return tuple(cones)


def _listed(given: object) -> list[object]:
    return list(given) if isinstance(given, Iterable) else [given]
