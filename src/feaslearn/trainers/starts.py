"""Where iterative trainers begin."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from feaslearn.arrays import Array
from feaslearn.data import Block
from feaslearn.exceptions import DataError, Problems, UnsupportedError
from feaslearn.hypotheses import Minkowski
from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.hypotheses.term_minimizers import TermMinimizers
from feaslearn.losses import Objective
from feaslearn.parameters import Number, an_instance, check_value
from feaslearn.sets import Simplex
from feaslearn.tolerances import SAME_TOL, TINY
from feaslearn.trainers.standardize import least_squares, weighted_sum

__all__ = [
    "DataStart",
    "GivenStart",
    "KMeansStart",
    "LinearStart",
    "MinkowskiStart",
    "RandomStart",
    "Start",
]


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


@dataclass(eq=False, repr=False)
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

    noise: float = 0.01

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters whose columns go through random samples."""
        policy = linear_policy_of(objective)
        p = objective.maps().latent(objective.n_decisions).dimension
        chances = policy.weights / policy.weights.sum()
        enough = p <= np.count_nonzero(chances)
        drawn = random.choice(len(chances), size=p, replace=not enough, p=chances)
        points = policy.residuals[drawn]
        points = points + self.noise * random.standard_normal(points.shape) * policy.spread
        return through_points(objective, points, policy.beta)


# Starts that know nothing but the scale of the data.


@dataclass(eq=False, repr=False)
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

    noise: float = 1.0

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters around the mean decision."""
        features, _, decisions, weights = objective.load()
        mean = least_squares(features[:, :1], decisions, weights)
        deviations = np.nan_to_num(decisions - mean)
        spread = np.sqrt(weighted_sum(deviations**2, weights) / weights.sum())
        k, n = features.shape[1], decisions.shape[1]
        p = objective.maps().latent(n).dimension
        A = self.noise * random.standard_normal((k, n, p)) * spread[:, None]
        return around_policy(objective, A, np.vstack([mean, np.zeros((k - 1, n))]))


# Starts around the linear policy.


@dataclass(eq=False, repr=False)
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

    noise: float = 1.0

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters around the linear policy."""
        policy = linear_policy_of(objective)
        p = objective.maps().latent(objective.n_decisions).dimension
        noise = self.noise if index else self.noise / 10.0
        A = noise * random.standard_normal((*policy.beta.shape, p)) * policy.spread[:, None]
        return around_policy(objective, A, policy.beta)


@dataclass(eq=False, repr=False)
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

    noise: float = 0.01

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
        points = points + self.noise * random.standard_normal(points.shape) * policy.spread
        return through_points(objective, points, policy.beta)


# Starts at the vertices of a Minkowski sum.


#: Vertices that are tried for each that is taken, to find those that differ.
TRIED_PER_VERTEX = 4


@dataclass(eq=False, repr=False)
class MinkowskiStart(Start):
    r"""Columns at the vertices of a Minkowski sum that decisions visit most often.

    A Minkowski sum is fitted to the training rows. Which vertex of each term is cheapest depends on
    the cost alone, so every vertex of the sum is a column :math:`b(s) + \sum_t \alpha_t(s) E_t
    z_t`, affine in the features where the scales are; others are fitted by least squares. With as
    many columns as vertices were visited, the start predicts what the Minkowski sum predicts, and
    training refines it.

    Parameters
    ----------
    hypothesis : Minkowski, default=None
        The class of sums, ``Minkowski("auto")`` by default.
    theta : array-like, default=None
        Parameters of a sum that was fitted before, as in ``model.theta_``, for the features as they
        are; ``hypothesis`` is then ``model.hypothesis_``. By default a sum is fitted.
    noise : float, default=0.1
        Gaussian noise on the columns of all starts but the first, in units of the deviation of the
        decisions. In the first start, columns beyond the vertices are more expensive copies of
        them.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> trainer = fl.trainers.Annealing(start=fl.trainers.starts.MinkowskiStart())
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(6)), cost=data.cost, trainer=trainer, random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.objective < 0.2
    True
    """

    #: The ridge of a sum counts in the features as they are.
    standardized = False

    hypothesis: Minkowski | None = None
    theta: ArrayLike | None = None
    noise: float = 0.1

    def check(self, problems: Problems) -> None:
        """Add an invalid hypothesis and non-finite parameters to ``problems``."""
        super().check(problems)
        if self.hypothesis is not None:
            kind = an_instance(Minkowski, "a Minkowski")
            check_value("start: hypothesis", self.hypothesis, kind, problems)
        if self.theta is not None and self.hypothesis is None:
            problems.add("start: theta needs the hypothesis it belongs to")
        if self.theta is not None:
            wrong_parameters(self.theta, problems)

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return parameters whose columns are the vertices visited most often."""
        affine = objective.maps()
        primitive = affine.latent(objective.n_decisions)
        if not isinstance(primitive, Simplex):
            raise UnsupportedError(
                f"start: MinkowskiStart begins with the columns of a Simplex, not {primitive!r}"
            )
        hypothesis = Minkowski() if self.hypothesis is None else self.hypothesis
        sum_of = replace(objective, hypothesis=hypothesis)
        if self.theta is not None:
            theta = given_parameters(self.theta, sum_of)
        else:
            # A trainer itself, which other starts need not wait for.
            from feaslearn.trainers.convex import Convex

            theta = Convex().train(sum_of, random).theta
        columns = _visited_vertices(hypothesis, sum_of.load(), theta, primitive.dimension)
        chosen = np.arange(primitive.dimension) % len(columns)
        A = np.moveaxis(columns[chosen], 0, 2)
        _, costs, decisions, _ = objective.load()
        spread = np.nan_to_num(np.nanstd(decisions, axis=0))
        moves = self.noise * random.standard_normal((len(chosen), len(spread))).T * spread[:, None]
        if not index:
            # More expensive copies: they are not taken until training finds a use for them.
            costly = np.sign(costs.mean(axis=0))[:, None] * np.abs(moves)
            moves = np.where(np.arange(len(chosen)) >= len(columns), costly, 0.0)
        A[0] += moves
        return affine.theta_of(Maps(A, np.zeros(A.shape[:2])))


def _visited_vertices(hypothesis: Minkowski, rows: Block, theta: Array, most: int) -> Array:
    """Return the vertices that weigh most on the training rows as columns (vertices, k, n)."""
    features, costs, decisions, weights = rows
    n = decisions.shape[1]
    scales = hypothesis.scales(theta, features, n)
    offsets = hypothesis.offsets(theta, features, n)
    minimizers = TermMinimizers(hypothesis.terms_of(n), n)
    counts = scales.max(axis=0, initial=0.0) > 0.0
    parts = [minimizers.at(costs[rows]).points[:, counts] for rows in minimizers.chunks(len(costs))]
    points = np.concatenate(parts).reshape(len(costs), -1)
    vertices, which = np.unique(points.round(12), axis=0, return_inverse=True)
    order = np.argsort(-np.bincount(which.ravel(), weights), kind="stable")
    heaviest = order[: TRIED_PER_VERTEX * most]
    tables = [offsets + scales[:, counts] @ vertices[each].reshape(-1, n) for each in heaviest]
    columns = np.array([least_squares(features, table, weights) for table in tables])
    # Different vertices of the terms may be one vertex of their sum.
    size = SAME_TOL * np.abs(columns).max(initial=TINY)
    _, first = np.unique((columns / size).round(), axis=0, return_index=True)
    return np.asarray(columns[np.sort(first)[:most]])


# Starts at given parameters.


@dataclass(eq=False, repr=False)
class GivenStart(Start):
    """Parameters of the user's own, such as those of a model fitted before.

    Parameters
    ----------
    theta : array-like
        Parameters as in ``model.theta_``, for the features as they are.
    noise : float, default=0.1
        Gaussian noise on all starts but the first, in units of the root mean square of ``theta``.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> start = fl.trainers.starts.GivenStart([1.0, 0.0, 0.0, 1.0])
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost,
    ...     trainer=fl.trainers.AdaptiveSmoothing(max_iter=0, start=start))
    >>> model.fit(data.signals, data.decisions).result_.objective
    0.0
    """

    standardized = False

    theta: ArrayLike
    noise: float = 0.1

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` parameters that are no vector of finite numbers."""
        super().check(problems)
        wrong_parameters(self.theta, problems)

    def parameters(self, objective: Objective, random: np.random.Generator, index: int) -> Array:
        """Return the parameters given, with noise from the second start on."""
        theta = given_parameters(self.theta, objective)
        if index:
            size = self.noise * np.sqrt(np.mean(theta**2))
            theta = theta + size * random.standard_normal(theta.shape)
        return theta


def wrong_parameters(theta: ArrayLike, problems: Problems) -> None:
    """Add to ``problems`` parameters that are no vector of finite numbers."""
    try:
        values = np.asarray(theta, dtype=float)
        wrong = values.ndim != 1 or not np.isfinite(values).all()
    except (TypeError, ValueError):
        wrong = True
    if wrong:
        problems.add("start: theta is not a vector of finite numbers")


def given_parameters(theta: ArrayLike, objective: Objective) -> Array:
    """Return parameters as a new vector; refuse those of another hypothesis or other features."""
    values = np.array(theta, dtype=float)
    if len(values) != objective.size:
        raise DataError(
            f"start: theta has {len(values)} entries, but {objective.hypothesis!r} with "
            f"{objective.n_features} features has {objective.size} parameters"
        )
    return values
