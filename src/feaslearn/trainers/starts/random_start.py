"""Starts that know nothing but the scale of the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.losses import Objective
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.standardize import weighted_sum
from feaslearn.trainers.starts.start import Start, around_policy, drawn_maps

Array = NDArray[np.float64]


class RandomStart(Start):
    r"""Random columns around the mean decision.

    The centre of Z is mapped to the mean of the decisions, and every entry of all :math:`A_k` is
    Gaussian noise of ``noise`` times the standard deviation of its decision.

    Parameters
    ----------
    noise : float, default=1.0
        Spread of the columns, in units of the decisions' deviation.

    Examples
    --------
    >>> import feaslearn as fl
    >>> fl.trainers.GradientDescent(start=fl.trainers.starts.RandomStart(noise=2.0)).start
    RandomStart(noise=2.0)
    """

    def __init__(self, noise: float = 1.0) -> None:
        self.noise = noise

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters around the mean decision."""
        features, _, decisions, weights = objective.whole()
        mean = least_squares(features[:, :1], decisions, weights)
        deviations = np.nan_to_num(decisions - mean)
        spread = np.sqrt(weighted_sum(deviations**2, weights) / weights.sum())
        k, n = features.shape[1], decisions.shape[1]
        p = objective.maps().latent(n).dimension
        A = self.noise * drawn_maps(objective, random, p) * spread[:, None]
        return around_policy(objective, A, np.vstack([mean, np.zeros((k - 1, n))]))
