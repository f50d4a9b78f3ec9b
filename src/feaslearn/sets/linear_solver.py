"""Linear programs over a polyhedral form, solved by the simplex method: exact vertices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.sets.conic_form import ConicForm
from feaslearn.sets.sizes import divisors
from feaslearn.sets.vertex_enumeration import split_rows
from feaslearn.sets.warm_program import Bounds, WarmProgram

Array = NDArray[np.float64]


def minimize_polyhedral(form: ConicForm, Q: Array) -> Array:
    """Return a vertex that minimises ``q'z`` over a polyhedral form, for each row q of ``Q``."""
    H, h, E, e = split_rows(form)
    count = (len(Q), 1)
    bounds = Bounds(
        np.tile(np.concatenate([h, e]), count),
        np.tile(np.concatenate([np.full(len(h), np.inf), e]), count),
        np.full(Q.shape, -np.inf),
        np.full(Q.shape, np.inf),
    )
    # The solver's tolerances are absolute.
    costs = Q / divisors(np.abs(Q).max(axis=1, keepdims=True))
    return WarmProgram(np.vstack([H, E])).solve(costs, bounds).points
