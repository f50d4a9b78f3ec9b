"""The part of a learned region that satisfies known rows."""

from __future__ import annotations

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import EmptySetError, InfeasibleProblemError
from feaslearn.region.latent_set import refuse_binary
from feaslearn.sets.affine_image import AffineImage
from feaslearn.sets.conic_set import ConicSet
from feaslearn.sets.half_spaces import HalfSpaces
from feaslearn.sets.polytope import Polytope
from feaslearn.sets.vertex_enumeration import split_rows
from feaslearn.solvers.conic_form import Cone, ConicForm
from feaslearn.solvers.highs import CheckedProgram
from feaslearn.tolerances import FEASIBILITY_TOL, RANK_TOL, SUM_ROUNDING, divisors, extent_of

#: Rows that are further away than this in the numbers of the set are left out if it ends before.
FAR = 1e3


def intersect(image: AffineImage, rows: HalfSpaces) -> AffineImage:
    r"""Return :math:`\{M z + m : z \in Z,\; A (M z + m) \le b,\; E (M z + m) = e\}`."""
    refuse_binary(image.primitive)
    M, m = image.matrix, image.offset
    size = extent_of(M, m)
    A, b, reach = _moving(rows.A, rows.b - rows.A @ m, M, size, one_sided=True)
    far = b > FAR
    if far.any():
        far[far] = -image.primitive.minimum(-A[far]) < b[far]
        A, b, reach = A[~far], b[~far], reach[~far]
    form = image.primitive.conic_form()
    equalities = _moving(rows.E, rows.e - rows.E @ m, M, size, one_sided=False)
    E, e = _new(*equalities, form.H[form.equality_rows], form.h[form.equality_rows])
    if not form.polyhedral:
        cones = (Cone("nonnegative", len(A)), Cone("zero", len(E)), *form.cones)
        within = ConicSet(np.vstack([-A, E, form.H]), np.concatenate([-b, e, form.h]), cones)
        return AffineImage(within, M, m)
    return AffineImage(_polytope(form, A, b, reach, E, e), M, m)


def meeting(image: AffineImage, rows: HalfSpaces) -> AffineImage | None:
    """Return the intersection, None where it is empty, if only by rounding."""
    try:
        return intersect(image, rows)
    except EmptySetError:
        return None


def _moving(
    rows: Array, right: Array, M: Array, size: float, one_sided: bool
) -> tuple[Array, Array, Array]:
    """Return the rows that say something about z, of length one."""
    # With them, how far each has to move in z to move by the size of the image in x. Rows that
    # nothing can satisfy are refused.
    of_z = rows @ M
    # What rounding leaves of entries that cancel says nothing.
    of_z[np.abs(of_z) <= SUM_ROUNDING * (np.abs(rows) @ np.abs(M))] = 0.0
    lengths = np.linalg.norm(of_z, axis=1)
    still = lengths <= RANK_TOL * size
    gap = -right[still] if one_sided else np.abs(right[still])
    if (gap > FEASIBILITY_TOL * size).any():
        raise EmptySetError(f"no point satisfies the rows: one is violated by {gap.max():.3g}")
    of_z, right, rows, lengths = (each[~still] for each in (of_z, right, rows, lengths))
    reach = size * np.linalg.norm(rows, axis=1) / lengths
    return of_z / lengths[:, None], right / lengths, reach


def _new(E: Array, e: Array, reach: Array, given: Array, right: Array) -> tuple[Array, Array]:
    """Return the equalities that do not follow from others; refuse those that contradict them."""
    kept: list[int] = []
    for j, row in enumerate(E):
        before, sides = np.vstack([given, E[kept]]), np.append(right, e[kept])
        parts = np.linalg.lstsq(before.T, row, rcond=None)[0]
        if np.linalg.norm(row - parts @ before) > RANK_TOL:
            kept.append(j)
        elif (gap := abs(e[j] - parts @ sides)) > FEASIBILITY_TOL * max(1.0, abs(e[j]), reach[j]):
            raise EmptySetError(f"no point satisfies the equalities: one is violated by {gap:.3g}")
    return E[kept], e[kept]


def _polytope(form: ConicForm, A: Array, b: Array, reach: Array, E: Array, e: Array) -> Polytope:
    H, h, given, right = split_rows(form)
    lengths = divisors(np.linalg.norm(H, axis=1))
    H, h = np.vstack([H / lengths[:, None], -A]), np.concatenate([h / lengths, -b])
    E, e = np.vstack([given, E]), np.concatenate([right, e])
    # Each row in its size: one with a limit far away does not blur the others.
    sizes = np.maximum(np.abs(h), np.concatenate([np.ones(len(lengths)), reach]))
    room = _room(H, h, sizes, E, e)
    if room < -FEASIBILITY_TOL:
        raise EmptySetError(f"no point satisfies the rows: they lack {-room:.3g} of room")
    if room < FEASIBILITY_TOL:
        h = h - (max(0.0, -room) + FEASIBILITY_TOL) * sizes
    return Polytope(H, h, E, e)


def _room(H: Array, h: Array, sizes: Array, E: Array, e: Array) -> float:
    """Return the largest t <= 1 with ``H z >= h + t sizes, E z = e``, negative if there is none."""
    free = np.full(H.shape[1], np.inf)
    program = CheckedProgram(
        -np.eye(len(free) + 1)[-1],
        np.append(-free, -np.inf),
        np.append(free, 1.0),
        np.column_stack([-H, sizes]),
        -h,
        np.column_stack([E, np.zeros(len(E))]),
        e,
    )
    try:
        return float(program.solve("intersection").point[-1])
    except InfeasibleProblemError:
        raise EmptySetError("no point satisfies the equalities") from None
