"""Starts around the linear policy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses import Objective
from feaslearn.trainers.starts.start import (
    Start,
    around_policy,
    drawn_maps,
    linear_policy_of,
)

Array = NDArray[np.float64]


class LinearStart(Start):
    r"""The linear policy plus noise.

    The centre of Z is mapped to the least-squares policy
    :math:`\hat x(s) = \sum_k \phi_k \beta_k`; each column is moved from it by Gaussian noise of
    ``noise`` times the spread of its residuals. The first start has a tenth of the noise.

    Parameters
    ----------
    noise : float, default=1.0
        Spread of the columns, in units of the policy's residuals.

    Examples
    --------
    >>> import feaslearn as fl
    >>> fl.trainers.AdaptiveSmoothing(start=fl.trainers.starts.LinearStart(noise=0.5)).start
    LinearStart(noise=0.5)
    """

    def __init__(self, noise: float = 1.0) -> None:
        self.noise = noise

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters around the linear policy."""
        policy = linear_policy_of(objective)
        p = objective.maps().latent(objective.n_decisions).dimension
        noise = self.noise if index else self.noise / 10.0
        A = noise * drawn_maps(objective, random, p) * policy.spread[:, None]
        return around_policy(objective, A, policy.beta)
