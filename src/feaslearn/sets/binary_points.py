"""Binary points of a polytope, and nearest points of a list."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import EmptySetError, TooManyVerticesError
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.tolerances import INSIDE_TOL

#: More beginnings of points than this are not followed.
MAX_PARTIAL_POINTS = 100_000


def binary_points_of_form(form: ConicForm, limit: int, name: object) -> Array:
    """Return the points of zeros and ones of a polyhedral form, ones first.

    ``name`` is what errors call the set: a string, or the set itself.
    """
    found = _listed(form.H.tobytes(), form.h.tobytes(), form.H.shape, form.cones)
    if found is None or len(found) > limit:
        count = "too many" if found is None else str(len(found))
        raise TooManyVerticesError(f"{name} has {count} binary points, the limit is {limit}")
    if len(found) == 0:
        raise EmptySetError(f"{name} is empty: no point of zeros and ones satisfies its rows")
    return found.copy()


# A set is asked for its points by every call of every kernel, with the same rows.
@lru_cache(maxsize=64)
def _listed(H: bytes, h: bytes, shape: tuple[int, int], cones: tuple[Cone, ...]) -> Array | None:
    """Write points entry by entry; drop a beginning that no end can bring into the set."""
    form = ConicForm(np.frombuffer(H).reshape(shape), np.frombuffer(h), cones)
    equal = form.equality_rows
    # An equality is two inequalities.
    rows = np.vstack([form.H, -form.H[equal]])
    right = np.concatenate([form.h, -form.h[equal]])
    right = right - INSIDE_TOL * np.abs(rows).sum(axis=1)
    begun = np.empty((1, 0))
    for entry in range(shape[1]):
        begun = np.vstack([np.insert(begun, entry, value, axis=1) for value in (1.0, 0.0)])
        most = np.maximum(rows[:, entry + 1 :], 0.0).sum(axis=1)
        begun = begun[(begun @ rows[:, : entry + 1].T + most >= right).all(axis=1)]
        if len(begun) > MAX_PARTIAL_POINTS:
            return None
    return np.asarray(begun[np.lexsort(-begun.T[::-1])])


def nearest_points(points: Array, Z: Array) -> Array:
    """Return for each row of ``Z`` the point of the list nearest to it, the first of equals."""
    # Binary points all have small whole squares: the expansion is as exact as the differences.
    squares = (points**2).sum(axis=1) - 2.0 * Z @ points.T
    sizes = np.abs(Z).max(axis=1, keepdims=True, initial=1.0)
    limits = squares.min(axis=1, keepdims=True) + INSIDE_TOL * sizes
    return np.asarray(points[(squares <= limits).argmax(axis=1)])


def middle_point(points: Array) -> Array:
    """Return the point of the list nearest to the mean of all."""
    return np.asarray(nearest_points(points, points.mean(axis=0)[None, :])[0])
