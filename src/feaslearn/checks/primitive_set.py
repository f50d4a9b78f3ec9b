"""Check of a primitive set: every answer is compared with its conic form."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from feaslearn.arrays import Array
from feaslearn.checks.cases import Cases, Find, lost_in_a_clone, raise_findings
from feaslearn.exceptions import FeaslearnError, TooManyVerticesError
from feaslearn.sets.conic_faces import check_nonempty_and_bounded
from feaslearn.sets.half_spaces import extreme_points
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import minimize_linear, nearest_by_solver
from feaslearn.solvers.conic_form import CONE_KINDS
from feaslearn.solvers.nearest_kernels import can_project, nearest_rows
from feaslearn.solvers.oracle_kernels import minimize_rows
from feaslearn.solvers.triangle import side
from feaslearn.tolerances import ACCEPT_TOL, SAME_TOL, TIE_TOL

#: How far from a face a point may be that costs no more than the tolerance: curved sets bend
#: away from it with the square of the distance.
FACE_TOLERANCE = 1e-3


def check_primitive_set(
    primitive: PrimitiveSet, *, random_state: int = 0, n_cases: int = 50
) -> None:
    r"""Check that a primitive set keeps every promise that the library relies on.

    Every answer of the set is compared with its conic form
    :math:`Z = \{z : Hz - h \in K\}`, through a conic solver: minimisers, their faces, membership,
    projections, the vertices where there is a list, and what the compiled kernels read.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set; an object with the same methods does as well.
    random_state : int, default=0
        Seed of the random costs and points.
    n_cases : int, default=50
        How many random costs and points.

    Raises
    ------
    CheckError
        If a property is violated. The error lists all that are, each with a case that shows it.

    See Also
    --------
    check_loss : The same for a loss.
    check_trainer : The same for a trainer.

    Examples
    --------
    >>> from feaslearn import Simplex
    >>> from feaslearn.checks import check_primitive_set
    >>> check_primitive_set(Simplex(3))

    A set that forgets to return a minimiser:

    >>> class Lazy(Simplex):
    ...     def argmin(self, Q, ties="first"):
    ...         return Simplex(self.p).argmin(0 * Q, ties)
    >>> check_primitive_set(Lazy(2))
    Traceback (most recent call last):
    ...
    feaslearn.exceptions.CheckError: Lazy(p=2):
      - argmin is optimal: ...
    """
    # An invalid form cannot be compared with.
    raise_findings(primitive, {"conic_form is a conic form": conic_form_problems}, primitive)
    rng = np.random.default_rng(random_state)
    cases = Cases(primitive, primitive.conic_form(), rng, n_cases)
    raise_findings(primitive, DESCRIPTION | GEOMETRY, cases)


def conic_form_problems(primitive: PrimitiveSet) -> Iterator[str]:
    """Yield what keeps the conic form from being one."""
    form, again = primitive.conic_form(), primitive.conic_form()
    H, h = np.asarray(form.H), np.asarray(form.h)
    if H.dtype != np.float64 or h.dtype != np.float64:
        yield f"H and h hold {H.dtype} and {h.dtype}; both must hold floats"
        return
    if H.ndim != 2 or h.shape != H.shape[:1]:
        yield f"H has shape {H.shape} and h {h.shape}; expected (rows, p) and (rows,)"
        return
    if H.shape[1] != primitive.dimension:
        yield f"H has {H.shape[1]} columns, but dimension is {primitive.dimension}"
    unknown = [cone.kind for cone in form.cones if cone.kind not in CONE_KINDS]
    if unknown:
        yield f"cones of kind {unknown}; known are {', '.join(CONE_KINDS)}"
    invalid = [
        cone.size for cone in form.cones if cone.kind == "semidefinite" and side(cone.size) is None
    ]
    if invalid:
        yield f"semidefinite cones of {invalid} rows; a triangle has m (m + 1) / 2: 1, 3, 6, ..."
    taken = sum(cone.size for cone in form.cones)
    if taken != len(h):
        yield f"its cones take {taken} rows, but H has {len(h)}"
    elif not (np.isfinite(H).all() and np.isfinite(h).all()):
        yield "H or h holds values that are not finite"
    elif not unknown and not invalid:
        check_nonempty_and_bounded(form, "the set")
    if not (np.array_equal(H, again.H) and np.array_equal(h, again.h)):
        yield "it is not the same when asked twice"


def parameters(cases: Cases) -> Iterator[str]:
    """Yield parameters that do not survive a copy."""
    return lost_in_a_clone(cases.primitive)


def accepted(cases: Cases) -> Iterator[str]:
    """Yield why ``check`` refuses the set."""
    try:
        cases.primitive.check()
    except FeaslearnError as error:
        yield f"it raised {type(error).__name__}: {error}"


def constant_sum(cases: Cases) -> Iterator[str]:
    """Yield sums of entries that differ where the set declares them equal."""
    if not cases.primitive.absorbs_offset:
        return
    sums = cases.extremes.sum(axis=1)
    if np.ptp(sums) > ACCEPT_TOL * cases.size:
        yield f"absorbs_offset is True, but entries sum to {sums.min():.6g} and {sums.max():.6g}"
    elif np.abs(sums).max() < ACCEPT_TOL:
        yield "absorbs_offset is True, but the entries of every point sum to zero"


#: Name of each property, and what looks for cases that violate it.
DESCRIPTION: dict[str, Find] = {
    "parameters survive a clone": parameters,
    "check accepts the set": accepted,
    "absorbs_offset is right": constant_sum,
}


# Checks of what a primitive set answers: minimisers, faces, membership, projections, vertices.


def argmin_optimal(cases: Cases) -> Iterator[str]:
    """Yield costs whose minimiser is not optimal."""
    yield from _not_minimisers(cases, cases.primitive.argmin(cases.costs))


def argmin_center_optimal(cases: Cases) -> Iterator[str]:
    """Yield costs whose central minimiser is not optimal."""
    yield from _not_minimisers(cases, cases.primitive.argmin(cases.costs, ties="center"))


def argmin_row_by_row(cases: Cases) -> Iterator[str]:
    """Yield costs that are answered differently alone and among others."""
    together = cases.primitive.argmin(cases.costs)
    for q, z in zip(cases.costs, together, strict=True):
        alone = np.asarray(cases.primitive.argmin(q))
        if alone.shape != q.shape:
            yield f"one cost of shape {q.shape} gives shape {alone.shape}"
        elif abs(q @ alone - q @ z) > ACCEPT_TOL * cases.size * _size(q):
            yield f"q={_show(q)} gives {_show(alone)} alone and {_show(z)} among others"


def minimum_right(cases: Cases) -> Iterator[str]:
    """Yield costs whose minimum is wrong."""
    found = np.asarray(cases.primitive.minimum(cases.costs))
    for q, value, right in zip(cases.costs, found, cases.minima, strict=True):
        if abs(value - right) > ACCEPT_TOL * cases.size * _size(q):
            yield f"q={_show(q)} has minimum {right:.6g}, not {value:.6g}"


def face_only_minimisers(cases: Cases) -> Iterator[str]:
    """Yield costs whose face holds a point that is no minimiser."""
    for q, least in zip(cases.costs, cases.minima, strict=True):
        face = cases.primitive.face(q)
        ends = face.primitive.argmin(cases.rng.normal(size=(4, face.primitive.dimension)))
        points = cases.rng.dirichlet(np.ones(4), size=0 if cases.discrete else 3) @ ends
        for z in (face.at(point) for point in (*ends, *points)):
            if problem := _no_minimiser(cases, q, z, least):
                yield problem
                break


def face_all_minimisers(cases: Cases) -> Iterator[str]:
    """Yield costs with a minimiser that is not in the face."""
    # Minimisers are found by moving the cost a little in random directions, or in the list of a
    # discrete set.
    for q, least in zip(cases.costs, cases.minima, strict=True):
        face = cases.primitive.face(q)
        for z in cases.primitive.vertices() if cases.discrete else _about_minimal(cases, q):
            if q @ z <= least + SAME_TOL * cases.size * _size(q):
                distance = face.distance(z)
                if distance > FACE_TOLERANCE * cases.size:
                    yield f"q={_show(q)}: minimiser {_show(z)} is {distance:.2g} from the face"
                    break


def _about_minimal(cases: Cases, q: Array) -> Iterator[Array]:
    for direction in cases.rng.normal(size=(4, len(q))):
        yield minimize_linear(cases.form, q + 1e-5 * _size(q) * direction).point


def contains_right(cases: Cases) -> Iterator[str]:
    """Yield points on which membership and the conic form disagree."""
    if not cases.primitive.contains(cases.inside, ACCEPT_TOL * cases.size).all():
        outside = ~cases.primitive.contains(cases.inside, ACCEPT_TOL * cases.size)
        yield f"{_show(cases.inside[outside][0])} is in the set, but contains is False"
    if cases.discrete:
        yield from _mixtures_held(cases)
        return
    held = np.asarray(cases.primitive.contains(cases.around, ACCEPT_TOL * cases.size))
    identity = np.eye(cases.around.shape[1])
    for z, inside in zip(cases.around, held, strict=True):
        gap = nearest_by_solver(cases.form, identity, z, "l2").latent - z
        distance = float(np.linalg.norm(gap))
        if inside and distance > 1e-3 * cases.size:
            yield f"{_show(z)} is {distance:.2g} outside, but contains is True"


def project_nearest(cases: Cases) -> Iterator[str]:
    """Yield points whose projection is not in the set, or not the nearest point of it."""
    wrong = _not_nearest_listed if cases.discrete else _not_projections
    for points in (cases.around, cases.inside):
        yield from wrong(cases, points, cases.primitive.project(points))


def center_inside(cases: Cases) -> Iterator[str]:
    """Yield the centre if it is not in the set."""
    if not cases.primitive.contains(cases.primitive.center(), ACCEPT_TOL * cases.size).all():
        yield f"contains is False at the centre {_show(cases.primitive.center())}"
    yield from _outside(cases, np.atleast_2d(cases.primitive.center()), "the centre")


def vertices_right(cases: Cases) -> Iterator[str]:
    """Yield what is wrong with the list of vertices, if there is one."""
    try:
        V = np.asarray(cases.primitive.vertices())
    except TooManyVerticesError:
        return
    yield from _outside(cases, V, "vertex")
    if cases.discrete and not np.isin(V, (0.0, 1.0)).all():
        yield "the set is discrete, but some have entries other than 0 and 1"
    if len(extreme_points(V)) != len(V):
        yield f"{len(V) - len(extreme_points(V))} of the {len(V)} are not extreme, or come twice"
    for q, least in zip(cases.costs, cases.minima, strict=True):
        if (V @ q).min() > least + ACCEPT_TOL * cases.size * _size(q):
            yield f"q={_show(q)} has minimum {least:.6g}, but {(V @ q).min():.6g} at the vertices"


def code_right(cases: Cases) -> Iterator[str]:
    """Yield costs and points that the compiled kernels answer wrongly, if they are served."""
    code = cases.primitive.code()
    if code is None:
        return
    Z = np.empty_like(cases.costs)
    minimize_rows(code, cases.costs, TIE_TOL, Z, np.empty(len(Z), dtype=bool))
    yield from _not_minimisers(cases, Z)
    if can_project(code):
        projected = np.empty_like(cases.around)
        nearest_rows(code, np.eye(Z.shape[1]), cases.around, projected)
        yield from _not_projections(cases, cases.around, projected)


def turn_right(cases: Cases) -> Iterator[str]:
    """Yield costs whose minimiser moves in another way than `turn` says."""
    step = 1e-4
    for q in cases.random_costs[:10]:
        d = cases.rng.normal(size=len(q))
        before, here, after = cases.primitive.argmin(q + step * np.array([[-1.0], [0], [1]]) * d)
        if np.linalg.norm(after - 2.0 * here + before) > ACCEPT_TOL * cases.size:
            continue
        moved, turned = (after - before) / (2.0 * step), cases.primitive.turn(q, d)
        if np.abs(turned - moved).max() > FACE_TOLERANCE * max(1.0, np.abs(moved).max()):
            yield f"q={_show(q)} moving in {_show(d)}: {_show(turned)}, not {_show(moved)}"


def _not_minimisers(cases: Cases, Z: Array) -> Iterator[str]:
    if np.shape(Z) != cases.costs.shape:
        yield f"costs of shape {cases.costs.shape} give shape {np.shape(Z)}"
        return
    for q, z, least in zip(cases.costs, Z, cases.minima, strict=True):
        if problem := _no_minimiser(cases, q, z, least):
            yield problem


def _no_minimiser(cases: Cases, q: Array, z: Array, least: float) -> str | None:
    for problem in _outside(cases, np.atleast_2d(z), f"q={_show(q)}:"):
        return problem
    if q @ z > least + ACCEPT_TOL * cases.size * _size(q):
        return f"q={_show(q)}: {_show(z)} costs {q @ z:.6g}, the least is {least:.6g}"
    return None


def _not_projections(cases: Cases, points: Array, projected: Array) -> Iterator[str]:
    """Yield points with ``(z - Pz)'(v - Pz) > 0`` for a v in the set, found by the solver."""
    yield from _outside(cases, projected, "the projection")
    for z, nearest in zip(points, projected, strict=True):
        away = z - nearest
        excess = -minimize_linear(cases.form, -away).value - away @ nearest
        # A projection that is off by d looks wrong by up to d times the size of the set.
        if excess > ACCEPT_TOL * cases.size * max(_size(away), 0.1 * cases.size):
            yield f"{_show(nearest)} is not the point nearest to {_show(z)}"


def _not_nearest_listed(cases: Cases, points: Array, projected: Array) -> Iterator[str]:
    """Yield points of which another enumerated point is nearer than their projection."""
    V = np.asarray(cases.primitive.vertices())
    for z, nearest in zip(points, projected, strict=True):
        if not (np.abs(V - nearest).max(axis=1) <= ACCEPT_TOL).any():
            yield f"the projection {_show(nearest)} of {_show(z)} is not in the set"
        elif np.linalg.norm(z - nearest) > np.linalg.norm(V - z, axis=1).min() + ACCEPT_TOL:
            yield f"{_show(nearest)} is not the point nearest to {_show(z)}"


def _mixtures_held(cases: Cases) -> Iterator[str]:
    """Yield mixtures of enumerated points that a discrete set claims to contain."""
    V = np.asarray(cases.primitive.vertices())
    mixed = cases.rng.dirichlet(np.ones(len(V)), size=cases.n_cases) @ V
    far = np.array([np.abs(V - z).max(axis=1).min() > 1e-3 for z in mixed])
    for z in mixed[far & cases.primitive.contains(mixed, ACCEPT_TOL)]:
        yield f"{_show(z)} is not one of its points, but contains is True"


def _outside(cases: Cases, Z: Array, what: str) -> Iterator[str]:
    violation = cases.form.violation(Z)
    size = max(1.0, float(np.abs(cases.form.H).max()) * cases.size)
    for z, excess in zip(Z, violation, strict=True):
        if not excess <= ACCEPT_TOL * size:
            yield f"{what} {_show(z)} is not in the set (a row is violated by {excess:.2g})"


def _size(q: Array) -> float:
    return float(np.abs(q).max())


def _show(values: Array) -> str:
    line = np.array2string(
        np.asarray(values), precision=4, threshold=12, separator=", ", max_line_width=1000
    )
    return line.replace("\n", "")


#: Name of each property, and what looks for cases that violate it.
GEOMETRY: dict[str, Find] = {
    "argmin is optimal": argmin_optimal,
    "argmin with ties='center' is optimal": argmin_center_optimal,
    "argmin answers row by row as it does together": argmin_row_by_row,
    "minimum is the least cost": minimum_right,
    "face holds only minimisers": face_only_minimisers,
    "face holds all minimisers": face_all_minimisers,
    "contains agrees with the conic form": contains_right,
    "project returns the nearest point": project_nearest,
    "center is in the set": center_inside,
    "vertices are those of the set": vertices_right,
    "code agrees with the conic form": code_right,
    "turn is the derivative of argmin": turn_right,
}
