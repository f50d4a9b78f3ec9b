"""What every initialisation strategy answers."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from feaslearn.arrays import Array
from feaslearn.exceptions import Problems
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective
from feaslearn.parameters import Number, check_value
from feaslearn.trainers.standardize import least_squares, weighted_sum


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
        check_value("start: noise", getattr(self, "noise", 0.0), Number(0.0), problems)


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
    features, _, decisions, weights = objective.load()
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
    """Return parameters whose columns lead from the policy to ``points`` (p, n)."""
    # Where an offset is absorbed by the columns (a simplex), the columns themselves are the policy
    # moved by these points, so that they go through the data.
    k, n = beta.shape
    hypothesis = objective.maps()
    primitive = hypothesis.latent(n)
    A = np.zeros((k, n, primitive.dimension))
    A[0] = points.T
    if "b" in hypothesis.layout(n, k).shapes:
        return around_policy(objective, A, beta)
    return hypothesis.theta_of(Maps(A / primitive.center().sum(), beta))


# Starts at observed decisions.


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


# Starts that know nothing but the scale of the data.


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
        features, _, decisions, weights = objective.load()
        mean = least_squares(features[:, :1], decisions, weights)
        deviations = np.nan_to_num(decisions - mean)
        spread = np.sqrt(weighted_sum(deviations**2, weights) / weights.sum())
        k, n = features.shape[1], decisions.shape[1]
        p = objective.maps().latent(n).dimension
        A = self.noise * drawn_maps(objective, random, p) * spread[:, None]
        return around_policy(objective, A, np.vstack([mean, np.zeros((k - 1, n))]))


# Starts around the linear policy.


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
