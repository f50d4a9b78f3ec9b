"""The linear policy of some samples, and where annealing begins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.hypotheses.affine import Maps
from feaslearn.trainers.objective import Objective
from feaslearn.trainers.standardize import least_squares, weighted_sum

#: Gaussian noise on columns at decisions, in units of the policy's residuals: it separates columns
#: that would otherwise be equal.
NOISE = 0.01


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
