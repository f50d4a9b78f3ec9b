r"""The true problem behind data, where it is known: by which (6a) and (6b) measure.

.. math:: \min \{ c'x : x \in R(s) \}

The truth is a region of our own with known parameters (`KnownRegion`), or the dispatch of a power
system (`feaslearn.paper.TransportNetwork`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from feaslearn.arrays import Array
from feaslearn.paper.regions.maps import MapClass


class Truth(Protocol):
    """A problem that a decision maker solves; rows are samples throughout.

    Distances are Euclidean, not squared.
    """

    def solve(self, signals: Array, costs: Array) -> Array:
        """Return one optimal decision for each sample, (N, n)."""
        ...

    def distance_to_feasible(self, decisions: Array, signals: Array) -> Array:
        """Return the distance of each decision to ``R(s)``, (N,)."""
        ...

    def distance_to_optimal(self, decisions: Array, signals: Array, costs: Array) -> Array:
        """Return the distance of each decision to the minimisers of ``c`` in ``R(s)``, (N,)."""
        ...


@dataclass(frozen=True)
class KnownRegion:
    """The problem of a decision maker whose region is one of our own.

    Parameters
    ----------
    region : MapClass
        The class of the region.
    theta : ndarray
        Its parameters.
    features : callable
        From signals (N, m) to the features (N, k) that the region is affine in; the first is 1.

    Examples
    --------
    A ball of radius 2 around the point (1, 1), whatever the signal.

    >>> import numpy as np
    >>> from feaslearn import L2Ball
    >>> from feaslearn.paper import KnownRegion, Scaled
    >>> ball = KnownRegion(
    ...     Scaled(L2Ball(2)), np.array([2.0, 1.0, 1.0]), lambda s: np.ones((len(s), 1)))
    >>> ball.solve(np.zeros((1, 1)), np.array([[0.0, 1.0]]))
    array([[ 1., -1.]])
    """

    region: MapClass
    theta: Array
    features: Callable[[Array], Array]

    def solve(self, signals: Array, costs: Array) -> Array:
        """Return one optimal decision for each sample, (N, n)."""
        return self.region.decisions(self.theta, self.features(signals), costs)

    def distance_to_feasible(self, decisions: Array, signals: Array) -> Array:
        """Return the distance of each decision to the region, (N,)."""
        rows = zip(decisions, self.features(signals), strict=True)
        found = [self.region.image(self.theta, phi, len(x)).distance(x) for x, phi in rows]
        return np.array(found)

    def distance_to_optimal(self, decisions: Array, signals: Array, costs: Array) -> Array:
        """Return the distance of each decision to the minimisers in the region, (N,)."""
        found = []
        for x, c, phi in zip(decisions, costs, self.features(signals), strict=True):
            face = self.region.image(self.theta, phi, len(x)).optimal_face(c)
            found.append(face.distance(x))
        return np.array(found)
