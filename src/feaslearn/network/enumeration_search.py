"""Search by looking at every network."""

from __future__ import annotations

import numpy as np

from feaslearn.baselines.enumerated_network import all_networks, equality_tolerance
from feaslearn.losses.network_losses import NetworkLosses
from feaslearn.network.integer_program import FloatArray, Outcome
from feaslearn.network.search import Found, Limits
from feaslearn.runs import Clock

#: Losses between two looks at the clock.
LOSSES_AT_ONCE = 2**17


class EnumerationSearch:
    """All networks with the loss of every sample; each question is a look at the table.

    Parameters
    ----------
    losses : NetworkLosses
        The losses.
    clock : Clock, optional
        The time there is: networks that it does not suffice for are left out.
    """

    def __init__(self, losses: NetworkLosses, clock: Clock | None = None) -> None:
        self.losses = losses
        self.n_solves = 1
        clock = Clock() if clock is None else clock
        networks = all_networks(losses.candidates)
        tables: list[FloatArray] = []
        step = max(1, LOSSES_AT_ONCE // losses.n_samples)
        for start in range(0, len(networks), step):
            if clock.out():
                break
            tables.append(losses.of(networks[start : start + step]))
        self.table = np.vstack(tables) if tables else np.empty((0, losses.n_samples))
        self.networks = networks[: len(self.table)]
        self.complete = len(self.networks) == len(networks)
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
        """Return the network of least value; of networks that were left out, nothing is known."""
        outcome: Outcome = "optimal" if self.complete else "time limit"
        least = float(np.min(values, initial=np.inf))
        if least == np.inf:
            bound = np.inf if self.complete else -np.inf
            return Found("infeasible" if self.complete else outcome, None, np.inf, bound)
        best = self.networks[int(np.argmin(values))]
        return Found(outcome, best, least, least if self.complete else -np.inf)
