"""All numbers of a region moved together to lower the exact loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.facet_loss import facet_loss
from feaslearn.kernels.small_lp import workspace
from feaslearn.trainers.facet_learning.samples import Samples

Array = NDArray[np.float64]

#: What an empty region costs, in units of the spread of the decisions.
EMPTY = 10.0


def polish(rows: FacetRows, samples: Samples, max_iter: int) -> FacetRows:
    """Return rows with a lower training loss, by quasi-Newton steps on the squared loss.

    The loss is smooth while the active rows of all samples stay the same, and jumps where they
    change: the search only goes down.
    """
    shapes = [part.shape for part in rows]
    stops = np.cumsum([part.size for part in rows])[:-1]
    work = workspace(len(rows.E) + len(rows.a), rows.E.shape[1])
    slack = rows.slack_limits()
    q = len(rows.E)
    penalty = EMPTY * samples.spread()

    def unpack(theta: Array) -> FacetRows:
        parts = zip(np.split(theta, stops), shapes, strict=True)
        return FacetRows(*(np.ascontiguousarray(part.reshape(shape)) for part, shape in parts))

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        E, e, lower, upper, a, f = unpack(theta)
        G, H = np.vstack([E, a]), np.vstack([e, f])
        slopes = [np.zeros_like(part) for part in (G, H, lower, upper)]
        value = facet_loss(work, G, H, lower, upper, slack, *samples, penalty, *slopes)
        dG, dH, d_lower, d_upper = slopes
        # Bounds that do not move with the features are kept that way.
        d_lower[:, 1:] = 0.0
        d_upper[:, 1:] = 0.0
        parts = (dG[:q], dH[:q], d_lower, d_upper, dG[q:], dH[q:])
        return value, np.concatenate([part.ravel() for part in parts])

    start = np.concatenate([part.ravel() for part in rows])
    found = minimize(
        value_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": max_iter}
    )
    return unpack(found.x) if found.fun < value_and_gradient(start)[0] else rows
