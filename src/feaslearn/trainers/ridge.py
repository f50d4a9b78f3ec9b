"""The ridge of annealing: how far parameters may be from the linear policy, and where to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array

#: The ridge on the constant parts of the maps, relative to the one on the parts that depend on
#: the signal: columns must move apart, but they need not all have slopes of their own.
CONSTANT_SHARE = 0.2


class Ridge(NamedTuple):
    r"""The penalty :math:`\lambda \sum_j w_j \|u_j'(\theta - \theta_0)\|^2`.

    The directions :math:`u_j` of the standardised features are those in which the linear policy
    has slopes :math:`\sigma_j`, its singular values. With :math:`\kappa` = ``floor``,

    .. math:: w_j = 1 / (\kappa + (1 - \kappa) \sigma_j^2 / \sigma_1^2)

    so 1 treats all directions alike, and near 0 a column may only respond to what the decisions
    respond to on the whole, such as the total of many demands.
    """

    strength: float
    floor: float = 1.0

    def metric(self, beta: Array) -> Array:
        """Return the matrix (k, k) of the penalty, for a policy (k, n) whose constant is first."""
        k = len(beta)
        metric = np.zeros((k, k))
        metric[0, 0] = CONSTANT_SHARE
        slopes = beta[1:]
        if slopes.size:
            directions, sizes, _ = np.linalg.svd(slopes, full_matrices=True)
            shares = np.zeros(k - 1)
            shares[: len(sizes)] = (sizes / (sizes.max() or 1.0)) ** 2
            weights = 1.0 / (self.floor + (1.0 - self.floor) * shares)
            metric[1:, 1:] = (directions * weights) @ directions.T
        return self.strength * metric
