"""Starts at observed decisions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses import Objective
from feaslearn.trainers.starts.start import (
    Start,
    drawn_points,
    linear_policy_of,
    through_points,
)

Array = NDArray[np.float64]


class DataStart(Start):
    r"""Columns that go through decisions drawn from the data.

    Each column is the linear policy moved by the residual of one sample,
    :math:`\hat x(s) + x_i - \hat x(s_i)`, so that it meets that sample; samples are drawn without
    repetition, as often as their weight says.

    Parameters
    ----------
    noise : float, default=0.01
        Gaussian noise on the columns, in units of the policy's residuals; it separates columns
        that would otherwise be equal.

    Examples
    --------
    >>> import feaslearn as fl
    >>> fl.trainers.AdaptiveSmoothing(start=fl.trainers.starts.DataStart()).start
    DataStart()
    """

    def __init__(self, noise: float = 0.01) -> None:
        self.noise = noise

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters whose columns go through random samples."""
        policy = linear_policy_of(objective)
        p = objective.maps().latent(objective.n_decisions).dimension
        chances = policy.weights / policy.weights.sum()
        enough = p <= np.count_nonzero(chances)
        drawn = random.choice(len(chances), size=p, replace=not enough, p=chances)
        points = policy.residuals[drawn]
        points = points + self.noise * drawn_points(objective, random, p) * policy.spread
        return through_points(objective, points, policy.beta)
