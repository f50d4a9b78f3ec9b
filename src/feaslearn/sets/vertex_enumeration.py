"""Vertices and binary points of polyhedral forms."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.linalg import null_space
from scipy.spatial import ConvexHull, QhullError

from feaslearn.arrays import Array
from feaslearn.exceptions import (
    EmptySetError,
    SetError,
    SolverError,
    TooManyVerticesError,
    UnboundedSetError,
)
from feaslearn.sets.conic_faces import check_nonempty_and_bounded
from feaslearn.sets.half_spaces import distinct, may_have_too_many_facets
from feaslearn.solvers.conic import solve_conic
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.tolerances import (
    DEPENDENT_TOL,
    EXACT_TOL,
    INSIDE_TOL,
    ROUNDING,
    SOLVED_ZERO,
    ZERO_MULTIPLIER,
    divisors,
    powers_of_two,
    size_of,
)


def vertices_of_form(form: ConicForm, limit: int, name: object) -> Array:
    """Return the vertices of a polyhedral form, sorted from the first entry down.

    ``name`` is what errors call the set: a string, or the set itself.
    """
    key = (form.H.tobytes(), form.h.tobytes(), form.H.shape, form.cones)
    try:
        found = _enumerate(*key)
    except (SetError, SolverError):
        # Says the same with the name of the coordinate; comes back only if that finds nothing.
        check_nonempty_and_bounded(form, name)
        raise
    if isinstance(found, str):
        raise TooManyVerticesError(f"{name} has {found} to list its vertices; use its half-spaces")
    if len(found) > limit:
        raise TooManyVerticesError(f"{name} has {len(found)} vertices, more than limit={limit}")
    return found.copy()


def split_rows(form: ConicForm) -> tuple[Array, Array, Array, Array]:
    """Return the inequalities ``H z >= h`` and the equalities ``E z = e`` of a polyhedral form."""
    equality = form.equality_rows
    return form.H[~equality], form.h[~equality], form.H[equality], form.h[equality]


def around_inner_point(form: ConicForm) -> tuple[Array, Array, Array, Array]:
    """Return a polyhedral form as ``z = point + basis w`` with ``rows w + slack >= 0``."""
    rows, right, E, e = split_rows(_normalized(form))
    point, basis = _flat(rows, right, E, e)
    slack, rows = rows @ point - right, rows @ basis
    moving = np.linalg.norm(rows, axis=1) > DEPENDENT_TOL
    return point, basis, rows[moving], slack[moving]


# A polytope is asked for its vertices by every call of every kernel, with the same rows.
@lru_cache(maxsize=64)
def _enumerate(H: bytes, h: bytes, shape: tuple[int, int], cones: tuple[Cone, ...]) -> Array | str:
    """Return the vertices, or what there is too much of."""
    form = _normalized(ConicForm(np.frombuffer(H).reshape(shape), np.frombuffer(h), cones))
    # Standardized, so that tolerances mean the same for small numbers as for large ones.
    unit = float(powers_of_two(np.abs(form.h).max(initial=0.0)))
    point, basis, rows, slack = around_inner_point(form._replace(h=form.h / unit))
    d = basis.shape[1]
    if d == 0:
        return _tidy(unit * point[None, :], unit)
    if may_have_too_many_facets(len(rows), d):
        return f"{len(rows)} rows in {d} dimensions, too many"
    corners = _ends(rows[:, 0], slack) if d == 1 else _corners(rows, slack)
    found = distinct(point + corners @ basis.T)
    return _tidy(unit * found[np.lexsort(-found.round(9).T[::-1])], unit)


def _normalized(form: ConicForm) -> ConicForm:
    """Return rows of norm one; rows of zeros stay, to be found out as wrong or needless."""
    norms = divisors(np.linalg.norm(form.H, axis=1))
    return ConicForm(form.H / norms[:, None], form.h / norms, form.cones)


def _flat(H: Array, h: Array, E: Array, e: Array) -> tuple[Array, Array]:
    """Return a point strictly inside all rows that can be slack, and a basis of the affine hull.

    The largest slack that all rows can have at once is a linear program. Where it is zero, rows
    with a positive multiplier have no slack at any point: they join the equalities.
    """
    p = H.shape[1]
    tight, point, last = np.zeros(len(H), dtype=bool), np.empty(p), np.eye(p + 1)[-1]
    while True:
        free = np.flatnonzero(~tight)
        equal, right = np.vstack([E, H[tight]]), np.concatenate([e, h[tight]])
        rows = np.vstack(
            [
                np.column_stack([equal, np.zeros(len(equal))]),
                np.column_stack([H[free], -np.ones(len(free))]),
                -last,
            ]
        )
        # Opposite rows that leave a little slack contradict each other as equalities: they are
        # held where the last point was.
        offset = np.concatenate([e, H[tight] @ point, h[free], [-1.0]])
        cones = (Cone("zero", len(equal)), Cone("nonnegative", len(free) + 1))
        answer = solve_conic(-last, rows, offset, cones)
        point, slack = answer.point[:p], answer.point[-1]
        if slack < -SOLVED_ZERO:
            raise EmptySetError("the rows have no point in common")
        if slack > SOLVED_ZERO:
            # The solver's point is off the affine hull by its tolerance; vertices should not be.
            point = point + np.linalg.lstsq(equal, right - equal @ point, rcond=DEPENDENT_TOL)[0]
            return point, null_space(equal, rcond=DEPENDENT_TOL) if len(equal) else np.eye(p)
        # These multipliers sum to one, so that there is at least one to take.
        multipliers = answer.dual[len(equal) : len(equal) + len(free)]
        tight[free[multipliers > ZERO_MULTIPLIER]] = True


def _ends(rows: Array, slack: Array) -> Array:
    """Return the two ends of ``{w : rows w + slack >= 0}`` on a line."""
    above = np.signbit(rows)
    if above.all() or not above.any():
        raise UnboundedSetError("the rows leave a direction without limit")
    steps = -slack / rows
    return np.array([[steps[~above].max()], [steps[above].min()]])


def _corners(rows: Array, slack: Array) -> Array:
    """Return the corners of ``{w : rows w + slack >= 0}``, zero being strictly inside."""
    # Half-spaces around zero and points have the same combinatorics: facets of the hull of the
    # points are the corners. Where zero is not inside that hull there is a direction of recession.
    try:
        facets = ConvexHull(-rows / slack[:, None]).equations
    except (QhullError, ValueError):
        raise UnboundedSetError("the rows leave a direction without limit") from None
    if (facets[:, -1] > -ROUNDING).any():
        raise UnboundedSetError("the rows leave a direction without limit")
    corners = -facets[:, :-1] / facets[:, -1:]
    return np.array([_polished(corner, rows, slack) for corner in corners])


def _polished(corner: Array, rows: Array, slack: Array) -> Array:
    """Solve the rows that are active at a corner once more: the dual hull rounds."""
    gaps = rows @ corner + slack
    active = np.abs(gaps) <= DEPENDENT_TOL * size_of(corner)
    return np.asarray(corner - np.linalg.lstsq(rows[active], gaps[active], rcond=DEPENDENT_TOL)[0])


def _tidy(points: Array, unit: float) -> Array:
    """Write entries that are a short decimal number up to rounding as that number."""
    short = points.round(10)
    near = np.abs(points - short) <= EXACT_TOL * unit * size_of(points / unit)
    return np.where(near, short, points) + 0.0


# Binary points of a polytope, and nearest points of a list.


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
