"""Where a search begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.map_hypothesis import Maps
from feaslearn.losses import Objective
from feaslearn.trainers.least_squares import least_squares
from feaslearn.trainers.standardize import weighted_sum

Array = NDArray[np.float64]


def linear_start(objective: Objective, random: np.random.Generator, noise: float) -> Array:
    r"""Return parameters around the linear policy.

    The centre of Z is mapped to the least-squares policy :math:`\hat x(s) = \sum_k \phi_k \beta_k`;
    each column is moved from it by Gaussian noise of ``noise`` times the spread of its residuals.
    """
    features = np.vstack([shard.features for shard in objective.shards])
    decisions = np.vstack([shard.decisions for shard in objective.shards])
    weights = np.concatenate([shard.weights for shard in objective.shards])
    policy = least_squares(features, decisions, weights)
    residual = np.nan_to_num(decisions - features @ policy)
    spread = np.sqrt(weighted_sum(residual**2, weights) / weights.sum())
    k, n = policy.shape
    hypothesis = objective.maps()
    primitive = hypothesis.latent(n)
    A = noise * random.standard_normal((k, n, primitive.dimension)) * spread[:, None]
    nothing = np.zeros((k, n))
    for candidate in (A, -A):
        # The class may not hold A itself: a scale that is not negative cuts one of the two to 0.
        kept = hypothesis.maps(hypothesis.theta_of(Maps(candidate, nothing)), n, k).A
        if kept.any():
            break
    return hypothesis.theta_of(Maps(kept, policy - kept @ primitive.center()))
