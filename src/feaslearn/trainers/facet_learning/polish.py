"""All numbers of a region moved together to lower the exact loss."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.facet_loss import facet_loss
from feaslearn.kernels.small_lp import workspace
from feaslearn.trainers.facet_learning.facet_search import GrowthOptions
from feaslearn.trainers.facet_learning.samples import Samples
from feaslearn.trainers.quasi_newton import quasi_newton

Array = NDArray[np.float64]

#: What an empty region costs, in units of the spread of the decisions.
EMPTY = 10.0


def polish(rows: FacetRows, samples: Samples, max_iter: int, options: GrowthOptions) -> FacetRows:
    """Return rows with a lower training loss, by quasi-Newton steps on the squared loss.

    The loss is smooth while the active rows of all samples stay the same, and jumps where they
    change: the search only goes down.
    """
    shapes = [part.shape for part in rows]
    stops = np.cumsum([part.size for part in rows])[:-1]
    fixed = _Fixed.of(rows, samples)
    work = workspace(len(rows.E) + len(rows.a) + len(fixed.G), rows.E.shape[1])
    slack = np.append(rows.slack_limits(), fixed.slack)
    q, m, k = len(rows.E), len(rows.a), rows.e.shape[1]
    penalty = EMPTY * samples.spread()

    def unpack(theta: Array) -> FacetRows:
        parts = zip(np.split(theta, stops), shapes, strict=True)
        return FacetRows(*(np.ascontiguousarray(part.reshape(shape)) for part, shape in parts))

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        E, e, lower, upper, a, f = unpack(theta)
        G, H, L, U = fixed.beside(np.vstack([E, a]), np.vstack([e, f]), lower, upper)
        slopes = [np.zeros_like(part) for part in (G, H, L, U)]
        value = facet_loss(work, G, H, L, U, slack, fixed.features, *samples[1:5], penalty, *slopes)
        dG, dH, d_lower, d_upper = slopes
        dH, d_lower, d_upper = (part[:, :k] for part in (dH, d_lower, d_upper))
        # Bounds that do not move with the features are kept that way, what was given as it is.
        first = 0 if options.firm.bounds else 1
        d_lower[:, first:] = 0.0
        d_upper[:, first:] = 0.0
        if options.firm.equalities:
            dG[:q] = 0.0
        parts = (dG[:q], dH[:q], d_lower, d_upper, dG[q : q + m], dH[q : q + m])
        return value, np.concatenate([part.ravel() for part in parts])

    start = np.concatenate([part.ravel() for part in rows])
    found = quasi_newton(value_and_gradient, start, options.run, maxiter=max_iter)
    return unpack(found.x) if found.fun < value_and_gradient(start)[0] else rows


class _Fixed(NamedTuple):
    """Known rows ``G x <= H phi``, which do not move.

    Their right-hand sides, and bounds where these are known too, stand behind the features.
    """

    G: Array
    slack: Array
    features: Array
    bounded: bool

    @classmethod
    def of(cls, rows: FacetRows, samples: Samples) -> Self:
        """Return what is known of the samples of a region."""
        known, n = samples.known, rows.E.shape[1]
        if known is None:
            return cls(np.zeros((0, n)), np.zeros(0), samples.features, False)
        lower = np.maximum(samples.features @ rows.lower.T, known.lower)
        upper = np.minimum(samples.features @ rows.upper.T, known.upper)
        behind = [samples.features, known.e, -known.g, lower, upper]
        slack = np.repeat([0.0, np.inf], [len(known.E), len(known.G)])
        return cls(np.vstack([known.E, -known.G]), slack, np.hstack(behind), True)

    def beside(self, G: Array, H: Array, lower: Array, upper: Array) -> tuple[Array, ...]:
        """Return rows and bounds with those that are known."""
        if not self.bounded:
            return G, H, lower, upper
        (m, k), (r, n) = H.shape, self.G.shape
        wide = np.zeros((m + r + 2 * n, self.features.shape[1]))
        wide[:m, :k] = H
        wide[m:, k:] = np.eye(r + 2 * n)
        H, lower, upper = np.split(wide, [m + r, m + r + n])
        return np.vstack([G, self.G]), H, lower, upper
