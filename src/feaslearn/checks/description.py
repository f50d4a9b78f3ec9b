"""Checks of what a primitive set says about itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from feaslearn.checks.cases import Cases
from feaslearn.checks.findings import lost_in_a_clone
from feaslearn.exceptions import FeaslearnError
from feaslearn.sets.boundedness import check_nonempty_and_bounded
from feaslearn.sets.conic_form import CONE_KINDS
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.triangle import side


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
    broken = [
        cone.size for cone in form.cones if cone.kind == "semidefinite" and side(cone.size) is None
    ]
    if broken:
        yield f"semidefinite cones of {broken} rows; a triangle has m (m + 1) / 2: 1, 3, 6, 10, ..."
    taken = sum(cone.size for cone in form.cones)
    if taken != len(h):
        yield f"its cones take {taken} rows, but H has {len(h)}"
    elif not (np.isfinite(H).all() and np.isfinite(h).all()):
        yield "H or h holds values that are not finite"
    elif not unknown and not broken:
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
    """Yield sums of entries that differ where the set says that they do not."""
    if not cases.primitive.absorbs_offset:
        return
    sums = cases.extremes.sum(axis=1)
    if np.ptp(sums) > 1e-6 * cases.size:
        yield f"absorbs_offset is True, but entries sum to {sums.min():.6g} and {sums.max():.6g}"
    elif np.abs(sums).max() < 1e-6:
        yield "absorbs_offset is True, but the entries of every point sum to zero"


#: Name of each property, and what looks for cases that break it.
DESCRIPTION: dict[str, Callable[[Cases], Iterator[str]]] = {
    "parameters survive a clone": parameters,
    "check accepts the set": accepted,
    "absorbs_offset is right": constant_sum,
}
