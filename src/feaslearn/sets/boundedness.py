"""Checks that a conic set is nonempty and bounded."""

from __future__ import annotations

import numpy as np

from feaslearn.exceptions import (
    EmptySetError,
    InfeasibleProblemError,
    UnboundedProblemError,
    UnboundedSetError,
)
from feaslearn.solvers.conic import minimize_linear
from feaslearn.solvers.conic_form import ConicForm


def check_nonempty_and_bounded(form: ConicForm, name: object) -> None:
    """Raise `EmptySetError`, or `UnboundedSetError` naming an unbounded coordinate."""
    p = form.H.shape[1]
    try:
        minimize_linear(form, np.zeros(p))
    except InfeasibleProblemError:
        raise EmptySetError(f"{name} is empty: no z satisfies all rows of H z - h in K") from None
    for k, axis in enumerate(np.eye(p)):
        for q, where in ((axis, "below"), (-axis, "above")):
            try:
                minimize_linear(form, q)
            except UnboundedProblemError:
                raise UnboundedSetError(
                    f"{name} is unbounded: z[{k}] has no limit from {where}; "
                    "add a row that limits it"
                ) from None
