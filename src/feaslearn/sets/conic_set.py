"""Equation (7b): sets given by their conic form, Z = {z : H z - h in K}."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.exceptions import SetError
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic_form import CONE_KINDS, Cone, ConicForm, side


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

    >>> from feaslearn.paper import ConicSet
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

    def __post_init__(self) -> None:
        self.conic_form()

    @property
    def dimension(self) -> int:
        """Number of entries p of a point."""
        return int(np.shape(self.H)[1])

    def conic_form(self) -> ConicForm:
        """Return the rows and the cones, checked."""
        H, h = np.asarray(self.H, dtype=float), np.asarray(self.h, dtype=float)
        if H.ndim != 2 or not H.shape[1] or h.shape != H.shape[:1]:
            raise SetError(f"ConicSet: H and h have shapes {H.shape} and {h.shape}")
        if not (np.isfinite(H).all() and np.isfinite(h).all()):
            raise SetError("ConicSet: H and h must be finite")
        cones = tuple(Cone(*cone) for cone in self.cones)
        for cone in cones:
            wrong = cone.kind == "semidefinite" and side(cone.size) is None
            if cone.kind not in CONE_KINDS or cone.size < 0 or wrong:
                raise SetError(f"ConicSet: {cone} is no cone; kinds are {', '.join(CONE_KINDS)}")
        if sum(cone.size for cone in cones) != len(H):
            raise SetError(f"ConicSet: the cones take another number of rows than {len(H)}")
        return ConicForm(H, h, cones)
