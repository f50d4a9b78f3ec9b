"""The linear policy of some samples, and where annealing begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.hypotheses.affine import Maps
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.standardize import least_squares, weighted_sum

#: Gaussian noise on columns at decisions, in units of the policy's residuals: it separates columns
#: that would otherwise be equal. Noise on given parameters, in units of their root mean square.
NOISE, NOISE_OF_GIVEN = 0.01, 0.1


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


def start_at_decisions(objective: Objective, random: np.random.Generator) -> Array:
    r"""Return parameters whose columns go through decisions drawn from the data.

    Each column is the linear policy moved by the residual of one sample,
    :math:`\hat x(s) + x_i - \hat x(s_i)`, so that it meets that sample; samples are drawn without
    repetition, as often as their weight says.
    """
    policy = linear_policy_of(objective)
    k, n = policy.beta.shape
    hypothesis = objective.affine()
    primitive = hypothesis.latent(n)
    chances = policy.weights / policy.weights.sum()
    enough = primitive.dimension <= np.count_nonzero(chances)
    drawn = random.choice(len(chances), size=primitive.dimension, replace=not enough, p=chances)
    points = policy.residuals[drawn]
    points = points + NOISE * random.standard_normal(points.shape) * policy.spread
    A = np.zeros((k, n, primitive.dimension))
    A[0] = points.T
    center = primitive.center()
    if primitive.absorbs_offset:
        # The columns themselves are the policy moved by these points.
        return hypothesis.theta_of(Maps(A / center.sum(), policy.beta))
    return hypothesis.theta_of(Maps(A, policy.beta - A @ center))


def wrong_start(theta: ArrayLike) -> bool:
    """Whether parameters are no vector of finite numbers."""
    try:
        values = np.asarray(theta, dtype=float)
        return values.ndim != 1 or not bool(np.isfinite(values).all())
    except (TypeError, ValueError):
        return True


def start_at(
    theta: ArrayLike, objective: Objective, random: np.random.Generator, index: int
) -> Array:
    """Return given parameters, with noise from the second start on; refuse those of other data."""
    values = np.array(theta, dtype=float)
    if len(values) != objective.size:
        raise DataError(
            f"start: theta has {len(values)} entries, but {objective.hypothesis!r} with "
            f"{objective.n_features} features has {objective.size} parameters"
        )
    if index:
        size = NOISE_OF_GIVEN * np.sqrt(np.mean(values**2))
        values = values + size * random.standard_normal(values.shape)
    return values
