"""Starts at the centres of groups of decisions."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from feaslearn.losses import Objective
from feaslearn.trainers.starts.start import (
    Start,
    drawn_points,
    linear_policy_of,
    through_points,
)

Array = NDArray[np.float64]


class KMeansStart(Start):
    r"""Columns that go through the centres of groups of decisions.

    The residuals of the linear policy are grouped by k-means, one group for each column, and each
    column is the policy moved by the centre of its group. Each start groups anew.

    Parameters
    ----------
    noise : float, default=0.01
        Gaussian noise on the columns, in units of the policy's residuals.

    Examples
    --------
    >>> import feaslearn as fl
    >>> fl.trainers.AdaptiveSmoothing(start=fl.trainers.starts.KMeansStart()).start
    KMeansStart()
    """

    def __init__(self, noise: float = 0.01) -> None:
        self.noise = noise

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters whose columns go through the centres."""
        # Half a second that other starts need not wait for.
        from sklearn.cluster import KMeans

        policy = linear_policy_of(objective)
        p = objective.maps().latent(objective.n_decisions).dimension
        groups = min(p, len(policy.residuals))
        seed = int(random.integers(2**31 - 1))
        with warnings.catch_warnings():
            # Fewer distinct decisions than groups: equal centres, which the noise separates.
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = KMeans(groups, n_init=1, random_state=seed).fit(
                policy.residuals, sample_weight=policy.weights
            )
        points = found.cluster_centers_[np.arange(p) % groups]
        points = points + self.noise * drawn_points(objective, random, p) * policy.spread
        return through_points(objective, points, policy.beta)
