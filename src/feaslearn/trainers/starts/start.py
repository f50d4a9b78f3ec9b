"""What every initialisation strategy answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from feaslearn.exceptions import Problems
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.standardize import weighted_sum

Array = NDArray[np.float64]


class Start(BaseEstimator, ABC):
    """Says where a search begins; a new strategy says only `parameters`."""

    #: Whether `parameters` are those for standardised features.
    standardized: bool = True

    @abstractmethod
    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return the parameters from which a search begins.

        Parameters
        ----------
        objective : Objective
            The objective, in standardised features.
        random : numpy.random.Generator
            The randomness of this start alone.
        index : int
            Which start it is: 0 for the first.

        Returns
        -------
        ndarray
            Parameters.
        """

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with the parameters of the strategy."""
        noise = getattr(self, "noise", 0.0)
        if not isinstance(noise, Real) or isinstance(noise, bool) or not float(noise) >= 0.0:
            problems.add(f"start: noise={noise!r} is not a number of at least 0")


class Policy(NamedTuple):
    """The linear policy ``beta`` (k, n) of some samples, and what it leaves unexplained.

    Residuals (N, n) are zero where a decision was not observed; ``spread`` (n,) is their root mean
    square.
    """

    beta: Array
    residuals: Array
    weights: Array
    spread: Array


def drawn_maps(objective: Objective, random: np.random.Generator, p: int) -> Array:
    """Return Gaussian numbers (k, n, p)."""
    return random.standard_normal((objective.n_features, objective.n_decisions, p))


def drawn_points(objective: Objective, random: np.random.Generator, p: int) -> Array:
    """Return Gaussian numbers (p, n)."""
    return random.standard_normal((p, objective.n_decisions))


def linear_policy_of(objective: Objective) -> Policy:
    """Return the least-squares policy of the samples of an objective."""
    features, _, decisions, weights = objective.whole()
    beta = least_squares(features, decisions, weights)
    residuals = np.nan_to_num(decisions - features @ beta)
    spread = np.sqrt(weighted_sum(residuals**2, weights) / weights.sum())
    return Policy(beta, residuals, weights, spread)


def around_policy(objective: Objective, A: Array, beta: Array) -> Array:
    """Return parameters with maps ``A`` (k, n, p) that send the centre of Z to the policy."""
    k, n = beta.shape
    hypothesis = objective.maps()
    nothing = np.zeros((k, n))
    for candidate in (A, -A):
        # The class may not hold A itself: a scale that is not negative cuts one of the two to 0.
        kept = hypothesis.maps(hypothesis.theta_of(Maps(candidate, nothing)), n, k).A
        if kept.any():
            break
    return hypothesis.theta_of(Maps(kept, beta - kept @ hypothesis.latent(n).center()))


def through_points(objective: Objective, points: Array, beta: Array) -> Array:
    """Return parameters whose columns lead from the policy to ``points`` (p, n), at every signal.

    Where an offset is absorbed by the columns (a simplex), the columns themselves are the policy
    moved by these points, so that they go through the data.
    """
    k, n = beta.shape
    hypothesis = objective.maps()
    primitive = hypothesis.latent(n)
    A = np.zeros((k, n, primitive.dimension))
    A[0] = points.T
    if "b" in hypothesis.layout(n, k).shapes:
        return around_policy(objective, A, beta)
    return hypothesis.theta_of(Maps(A / primitive.center().sum(), beta))
