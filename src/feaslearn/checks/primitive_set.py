"""Check of a primitive set: every answer is compared with its conic form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from feaslearn.arrays import Array
from feaslearn.checks.cases import Find, lost_in_a_clone, raise_findings, violating
from feaslearn.exceptions import TooManyVerticesError
from feaslearn.sets.conic_faces import check_nonempty_and_bounded
from feaslearn.sets.half_spaces import extreme_points
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.solvers.conic import minimize_linear, nearest_by_solver
from feaslearn.solvers.conic_form import CONE_KINDS, ConicForm
from feaslearn.solvers.nearest_kernels import can_project, nearest_rows
from feaslearn.solvers.oracle_kernels import minimize_rows
from feaslearn.solvers.triangle import side
from feaslearn.tolerances import ACCEPT_TOL, SAME_TOL, TIE_TOL

#: How far from a face a point may be that costs no more than the tolerance: curved sets bend
#: away from it with the square of the distance.
FACE_TOLERANCE = 1e-3

#: Properties by name, each with what looks for cases that violate it.
PROPERTIES: dict[str, Find] = {
    "parameters survive a clone": lambda cases: lost_in_a_clone(cases.primitive)
}


@dataclass(frozen=True)
class Cases:
    """A set, its conic form, and the inputs on which its answers are compared with the form's."""

    # The first costs are zero and small integers, so that there are ties; the others are
    # random. Half of the points are in the set, the other half are anywhere around it.

    primitive: PrimitiveSet
    form: ConicForm
    rng: np.random.Generator
    n_cases: int

    @cached_property
    def costs(self) -> Array:
        """Costs (N, p)."""
        p = self.form.H.shape[1]
        whole = self.rng.integers(-2, 3, size=(self.n_cases // 2, p)).astype(float)
        return np.vstack([np.zeros(p), whole, self.random_costs])

    @cached_property
    def random_costs(self) -> Array:
        """Those of the costs that hardly ever tie."""
        p = self.form.H.shape[1]
        return self.rng.normal(size=(self.n_cases - self.n_cases // 2, p))

    @cached_property
    def minima(self) -> Array:
        """The least cost over the conic form, for each of the costs."""
        return np.array([minimize_linear(self.form, q).value for q in self.costs])

    @cached_property
    def extremes(self) -> Array:
        """Points of the conic form that are as far as it goes in random directions."""
        p = self.form.H.shape[1]
        directions = np.vstack([np.eye(p), -np.eye(p), self.rng.normal(size=(self.n_cases, p))])
        return np.array([minimize_linear(self.form, q).point for q in directions])

    @cached_property
    def size(self) -> float:
        """How large points of the set are, and at least one."""
        return max(1.0, float(np.abs(self.extremes).max()))

    @property
    def discrete(self) -> bool:
        """Whether the set is a list of points; its conic form is that of their hull."""
        return bool(self.primitive.discrete)

    @cached_property
    def inside(self) -> Array:
        """Random mixtures of the extremes; enumerated points where the set is discrete."""
        if self.discrete:
            return np.asarray(self.rng.choice(self.primitive.vertices(), size=self.n_cases))
        count = len(self.extremes)
        return np.asarray(self.rng.dirichlet(np.ones(count), size=self.n_cases) @ self.extremes)

    @cached_property
    def around(self) -> Array:
        """Random points, most of them outside."""
        middle = self.extremes.mean(axis=0)
        width = np.maximum(np.ptp(self.extremes, axis=0), 1.0)
        return np.asarray(middle + width * self.rng.normal(size=(self.n_cases, len(middle))))


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
    raise_findings(primitive, {"conic_form is a conic form": _conic_form_problems}, primitive)
    rng = np.random.default_rng(random_state)
    cases = Cases(primitive, primitive.conic_form(), rng, n_cases)
    raise_findings(primitive, PROPERTIES, cases)


def _conic_form_problems(primitive: PrimitiveSet) -> Iterator[str]:
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


@violating(PROPERTIES, "check accepts the set")
def _accepted(cases: Cases) -> Iterator[str]:
    cases.primitive.check()
    yield from ()


@violating(PROPERTIES, "absorbs_offset is right")
def _constant_sum(cases: Cases) -> Iterator[str]:
    if not cases.primitive.absorbs_offset:
        return
    sums = cases.extremes.sum(axis=1)
    if np.ptp(sums) > ACCEPT_TOL * cases.size:
        yield f"absorbs_offset is True, but entries sum to {sums.min():.6g} and {sums.max():.6g}"
    elif np.abs(sums).max() < ACCEPT_TOL:
        yield "absorbs_offset is True, but the entries of every point sum to zero"


# Checks of what a primitive set answers: minimisers, faces, membership, projections, vertices.


@violating(PROPERTIES, "argmin is optimal")
def _argmin_optimal(cases: Cases) -> Iterator[str]:
    yield from _not_minimisers(cases, cases.primitive.argmin(cases.costs))


@violating(PROPERTIES, "argmin with ties='center' is optimal")
def _argmin_center_optimal(cases: Cases) -> Iterator[str]:
    yield from _not_minimisers(cases, cases.primitive.argmin(cases.costs, ties="center"))


@violating(PROPERTIES, "argmin answers row by row as it does together")
def _argmin_row_by_row(cases: Cases) -> Iterator[str]:
    together = cases.primitive.argmin(cases.costs)
    for q, z in zip(cases.costs, together, strict=True):
        alone = np.asarray(cases.primitive.argmin(q))
        if alone.shape != q.shape:
            yield f"one cost of shape {q.shape} gives shape {alone.shape}"
        elif abs(q @ alone - q @ z) > ACCEPT_TOL * cases.size * _size(q):
            yield f"q={_show(q)} gives {_show(alone)} alone and {_show(z)} among others"


@violating(PROPERTIES, "minimum is the least cost")
def _minimum_right(cases: Cases) -> Iterator[str]:
    found = np.asarray(cases.primitive.minimum(cases.costs))
    for q, value, right in zip(cases.costs, found, cases.minima, strict=True):
        if abs(value - right) > ACCEPT_TOL * cases.size * _size(q):
            yield f"q={_show(q)} has minimum {right:.6g}, not {value:.6g}"


@violating(PROPERTIES, "face holds only minimisers")
def _face_only_minimisers(cases: Cases) -> Iterator[str]:
    for q, least in zip(cases.costs, cases.minima, strict=True):
        face = cases.primitive.face(q)
        ends = face.primitive.argmin(cases.rng.normal(size=(4, face.primitive.dimension)))
        points = cases.rng.dirichlet(np.ones(4), size=0 if cases.discrete else 3) @ ends
        for point in (*ends, *points):
            yield from _no_minimiser(cases, q, face.at(point), least)


@violating(PROPERTIES, "face holds all minimisers")
def _face_all_minimisers(cases: Cases) -> Iterator[str]:
    # Minimisers are found by moving the cost a little in random directions, or in the list of a
    # discrete set.
    for q, least in zip(cases.costs, cases.minima, strict=True):
        face = cases.primitive.face(q)
        for z in cases.primitive.vertices() if cases.discrete else _about_minimal(cases, q):
            if q @ z <= least + SAME_TOL * cases.size * _size(q):
                distance = face.distance(z)
                if distance > FACE_TOLERANCE * cases.size:
                    yield f"q={_show(q)}: minimiser {_show(z)} is {distance:.2g} from the face"


def _about_minimal(cases: Cases, q: Array) -> Iterator[Array]:
    for direction in cases.rng.normal(size=(4, len(q))):
        yield minimize_linear(cases.form, q + 1e-5 * _size(q) * direction).point


@violating(PROPERTIES, "contains agrees with the conic form")
def _contains_right(cases: Cases) -> Iterator[str]:
    held = cases.primitive.contains(cases.inside, ACCEPT_TOL * cases.size)
    for z in cases.inside[~held]:
        yield f"{_show(z)} is in the set, but contains is False"
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


@violating(PROPERTIES, "project returns the nearest point")
def _project_nearest(cases: Cases) -> Iterator[str]:
    wrong = _not_nearest_listed if cases.discrete else _not_projections
    for points in (cases.around, cases.inside):
        yield from wrong(cases, points, cases.primitive.project(points))


@violating(PROPERTIES, "center is in the set")
def _center_inside(cases: Cases) -> Iterator[str]:
    center = cases.primitive.center()
    if not cases.primitive.contains(center, ACCEPT_TOL * cases.size).all():
        yield f"contains is False at the centre {_show(center)}"
    yield from _outside(cases, np.atleast_2d(center), "the centre")


@violating(PROPERTIES, "vertices are those of the set")
def _vertices_right(cases: Cases) -> Iterator[str]:
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


@violating(PROPERTIES, "code agrees with the conic form")
def _code_right(cases: Cases) -> Iterator[str]:
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


@violating(PROPERTIES, "turn is the derivative of argmin")
def _turn_right(cases: Cases) -> Iterator[str]:
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
        yield from _no_minimiser(cases, q, z, least)


def _no_minimiser(cases: Cases, q: Array, z: Array, least: float) -> Iterator[str]:
    yield from _outside(cases, np.atleast_2d(z), f"q={_show(q)}:")
    if q @ z > least + ACCEPT_TOL * cases.size * _size(q):
        yield f"q={_show(q)}: {_show(z)} costs {q @ z:.6g}, the least is {least:.6g}"


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
    return np.array2string(values, precision=4, threshold=12, separator=", ", max_line_width=1000)
