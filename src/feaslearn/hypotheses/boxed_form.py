"""Polyhedral sets as rows over a box, the form in which small linear programs read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.l1_ball import L1Ball
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.sets.simplex import Simplex

Array = NDArray[np.float64]


class BoxedForm(NamedTuple):
    """The set ``{T y : lower <= y <= upper, W y <= w}``, with equality where the slack is 0."""

    T: Array
    lower: Array
    upper: Array
    W: Array
    w: Array
    slack: Array


def boxed_form(primitive: PrimitiveSet) -> BoxedForm | None:
    """Return a primitive set in this form; None if it is curved or holds single points only."""
    if primitive.discrete:
        return None
    if isinstance(primitive, L1Ball):
        # Its rows are many, its vertices few.
        simplex = boxed_form(Simplex(2 * primitive.dimension))
        return None if simplex is None else simplex._replace(T=primitive.vertices().T)
    form = primitive.conic_form()
    if not form.polyhedral:
        return None
    p = primitive.dimension
    ends = primitive.minimum(np.vstack([np.eye(p), -np.eye(p)]))
    W, w, slack = _rows(form)
    return BoxedForm(np.eye(p), ends[:p], -ends[p:], W, w, slack)


def _rows(form: ConicForm) -> tuple[Array, Array, Array]:
    """Return the rows that are no bounds of single entries, as ``W y <= w``."""
    equality = form.equality_rows
    kept = equality | ((form.H != 0.0).sum(axis=1) > 1)
    return -form.H[kept], -form.h[kept], np.where(equality[kept], 0.0, np.inf)
