"""Search by looking at every network."""

from __future__ import annotations

import numpy as np

from feaslearn.baselines.enumerated_network import all_networks, equality_tolerance
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.integer_program import FloatArray
from feaslearn.network.search import Found, Limits
from feaslearn.runs import Clock


class EnumerationSearch:
    """All networks with the loss of every sample; each question is a look at the table.

    Parameters
    ----------
    losses : NetworkLosses
        The losses.
    """

    def __init__(self, losses: NetworkLosses) -> None:
        self.losses = losses
        self.n_solves = 1
        self.networks = all_networks(losses.candidates)
        self.table = losses.of(self.networks)
        self.means = self.table.mean(axis=1)
        self.tolerance = equality_tolerance(losses)

    def least_loss(self, limits: Limits, clock: Clock) -> Found:
        """Return the network of least mean loss within the limits."""
        values = np.where(limits.keep(self.networks), self.means, np.inf)
        return self._best(values)

    def cheapest(
        self, weights: FloatArray, most_loss: float, limits: Limits, clock: Clock
    ) -> Found:
        """Return the network of least ``weights @ y`` whose mean loss is at most ``most_loss``."""
        allowed = limits.keep(self.networks) & (self.means <= most_loss + self.tolerance)
        return self._best(np.where(allowed, self.networks @ weights, np.inf))

    def _best(self, values: FloatArray) -> Found:
        best = int(np.argmin(values))
        if not np.isfinite(values[best]):
            return Found("infeasible", None, np.inf, np.inf)
        return Found("optimal", self.networks[best], float(values[best]), float(values[best]))
