"""The base of primitive sets; a new set needs only `dimension` and `conic_form`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError, SetError, TooManyVerticesError, UnsupportedError
from feaslearn.parameters import FLAG, Integer, require
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_faces import check_nonempty_and_bounded, optimal_face
from feaslearn.sets.vertex_enumeration import nearest_points, vertices_of_form
from feaslearn.solvers.conic import minimize_linear, vertices_of_least_cost
from feaslearn.solvers.conic_form import ConicForm
from feaslearn.solvers.oracle_kernels import POINTS, SetCode, minimize_rows
from feaslearn.tolerances import (
    INSIDE_TOL,
    MOST_VERTICES,
    POINT_TOL,
    TIE_TOL,
    divisors,
    size_of,
)

Ties = Literal["first", "center"]


class PrimitiveSet(BaseEstimator, ABC):
    r"""A compact convex set :math:`Z = \{z \in R^p : Hz - h \in K\}`.

    Subclasses give `dimension` and `conic_form`; everything else has a correct default that goes
    through a conic solver, and is overridden where there is a closed form. Parameters are stored
    as given and checked when they are used.
    """

    #: Whether ``e'z`` is a non-zero constant on Z, so that an offset can move into the columns.
    absorbs_offset: bool = False

    @property
    def discrete(self) -> bool:
        """Whether Z holds only the points that `vertices` lists, and not their mixtures.

        Then `conic_form` describes their convex hull, which has the same minima.
        """
        return False

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of entries p of a point."""

    @abstractmethod
    def conic_form(self) -> ConicForm:
        """Return ``H``, ``h`` and the cones of ``Z = {z : H z - h in K}``."""

    def code(self) -> SetCode | None:
        """Return what the compiled kernels read, or None where they do not serve this set."""
        return None

    def check(self) -> None:
        """Refuse wrong parameters, an empty set and an unbounded one, with the reason.

        Raises
        ------
        SetError
            Or one of its kinds `EmptySetError`, `UnboundedSetError`.
        """
        check_nonempty_and_bounded(self.conic_form(), self)

    def argmin(self, Q: ArrayLike, ties: Ties = "first") -> Array:
        """Return a minimiser of ``q'z`` for each row q of ``Q``.

        Parameters
        ----------
        Q : array-like of shape (N, p) or (p,)
            Latent costs.
        ties : {"first", "center"}, default="first"
            With several minimisers, the one of lowest index, or the centre of their face.
            Sets that the kernels do not serve answer "first" with any of them.

        Returns
        -------
        ndarray of the shape of ``Q``
            Minimisers.
        """
        if ties not in ("first", "center"):
            raise UnsupportedError(f"ties={ties!r} is not known; use 'first' or 'center'")
        rows = self._rows(Q, "Q")
        Z = self._argmin_rows(rows)
        if ties == "center":
            for i in np.flatnonzero(self.tied(rows)):
                Z[i] = self.face(rows[i]).center()
        return Z.reshape(np.shape(Q))

    def _argmin_rows(self, Q: Array) -> Array:
        code = self.code()
        if code is not None:
            return _by_kernel(code, Q)[0]
        form = self.conic_form()
        if form.polyhedral:
            # The solver's tolerances are absolute.
            costs = Q / divisors(np.abs(Q).max(axis=1, keepdims=True))
            return vertices_of_least_cost(form, costs).points
        return np.array([minimize_linear(form, q).point for q in Q]).reshape(Q.shape)

    def tied(self, Q: ArrayLike) -> Mask:
        """Say for each row of ``Q`` whether it has more than one minimiser."""
        return self.argmin_and_ties(Q)[1]

    def argmin_and_ties(self, Q: ArrayLike) -> tuple[Array, Mask]:
        """Return the minimisers of `argmin` and the answers of `tied`, found together."""
        rows = self._rows(Q, "Q")
        code = self.code()
        # Faces of enumerated points may be single points that occur twice.
        if code is None or POINTS in code.kinds:
            tied = np.array([not self.face(q).is_point for q in rows], dtype=bool)
            return self._argmin_rows(rows), tied
        return _by_kernel(code, rows)

    def minimum(self, Q: ArrayLike) -> Array:
        """Return ``min {q'z : z in Z}`` for each row q of ``Q``."""
        rows = self._rows(Q, "Q")
        return np.asarray(np.einsum("ij,ij->i", rows, self._argmin_rows(rows)))

    def face(self, q: ArrayLike, tolerance: float | None = None) -> AffineImage:
        """Return all minimisers of ``q'z`` as the affine image of a (smaller) primitive set.

        Parameters
        ----------
        q : array-like of shape (p,)
            Latent cost.
        tolerance : float, default=None
            Costs closer than this tie. Default: 1e-9 of the largest ``|q|``.
        """
        from feaslearn.sets.conic_set import ConicSet

        cost, margin = self._cost(q, tolerance)
        face = AffineImage(self, np.eye(len(cost)), np.zeros(len(cost)))
        if np.abs(cost).max() > margin:
            form = self.conic_form()
            point, basis, within = optimal_face(form, minimize_linear(form, cost), cost)
            if basis.shape[1] == 0:
                return AffineImage.point(point)
            face = AffineImage(ConicSet(*within), basis, point)
        lower, upper = face.bounding_box()
        if np.max(upper - lower) <= POINT_TOL * size_of(upper):
            return AffineImage.point((lower + upper) / 2.0)
        return face

    def contains(self, Z: ArrayLike, tolerance: float = INSIDE_TOL) -> Mask:
        """Say for each row of ``Z`` whether it lies in the set, to an absolute tolerance."""
        rows = self._rows(Z, "Z")
        if self.discrete:
            near = nearest_points(self.vertices(), rows)
            return np.asarray(np.abs(rows - near).max(axis=1) <= tolerance)
        return np.asarray(self.conic_form().violation(rows) <= tolerance)

    def center(self) -> Array:
        """Return a point in the (relative) interior: the middle, where there is one."""
        return minimize_linear(self.conic_form(), np.zeros(self.dimension)).point

    def vertices(self, limit: int = MOST_VERTICES) -> Array:
        """Return the vertices as rows, in a fixed order.

        Raises
        ------
        TooManyVerticesError
            If there are more than ``limit``, or infinitely many.
        """
        form = self.conic_form()
        if not form.polyhedral:
            raise TooManyVerticesError(f"{self!r} is curved: it has no finite list of vertices")
        return vertices_of_form(form, limit, self)

    def _refuse_beyond(self, limit: int, count: int) -> None:
        if count > limit:
            raise TooManyVerticesError(
                f"{self!r} has {count} vertices, more than limit={limit}; "
                "raise the limit if you have the memory"
            )

    def _cost(self, q: ArrayLike, tolerance: float | None) -> tuple[Array, float]:
        """Return one latent cost, checked, and how close two of its values must be to tie."""
        rows = self._rows(q, "q")
        if len(rows) != 1:
            raise DataError(f"q has shape {np.shape(q)}; a face belongs to one cost")
        margin = TIE_TOL * np.abs(rows[0]).max() if tolerance is None else tolerance
        return rows[0], float(margin)

    def _rows(self, values: ArrayLike, name: str) -> Array:
        try:
            rows = np.ascontiguousarray(np.atleast_2d(np.asarray(values, dtype=float)))
        except (TypeError, ValueError):
            raise DataError(f"{name} holds something that is not a number") from None
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise DataError(
                f"{name} has shape {np.shape(values)}, but {self!r} holds points with "
                f"{self.dimension} entries"
            )
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0]
            raise DataError(f"{name}[{row}, {column}] is {rows[row, column]}; it must be finite")
        return rows

    def __repr__(self) -> str:
        parts = []
        for name in signature(type(self)).parameters:
            value = getattr(self, name)
            if isinstance(value, np.ndarray) or _nested(value):
                parts.append(f"{name}=<{'x'.join(map(str, np.shape(value)))}>")
            elif value is not None and value is not False:
                parts.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _by_kernel(code: SetCode, Q: Array) -> tuple[Array, Mask]:
    """Return a minimiser for each row of costs, and whether there are several."""
    Z, tied = np.empty_like(Q), np.empty(len(Q), dtype=bool)
    minimize_rows(code, Q, TIE_TOL * np.abs(Q).max(axis=1), Z, tied)
    return Z, tied


def _nested(value: object) -> bool:
    try:
        return np.ndim(value) > 1  # type: ignore[arg-type]
    except ValueError:  # lists of different lengths: shown as they are
        return False


def numbers(values: ArrayLike, name: str, owner: str) -> Array:
    """Return ``values`` as an array of floats, or refuse them by name."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise SetError(f"{owner}: {name} is not an array of numbers") from None


def positive_integer(value: object, name: str, owner: str) -> int:
    """Return ``value`` as an int of at least one, or refuse it by name."""
    return int(require(value, name, Integer(1), owner, SetError))


def checked_flag(value: object, owner: str) -> bool:
    """Return ``binary`` as a bool, or refuse it."""
    return bool(require(value, "binary", FLAG, owner, SetError))
