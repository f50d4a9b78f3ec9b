r"""Both losses of Problem 2 for whole networks, exact and without a solver.

.. math:: \ell^p(y) = \min_u \{ \|x - u\|_1 : u \text{ cheapest under } y \}, \qquad
    \ell^s(y) = \min_u \{ \|x - u\|_1 : u \text{ feasible under } y \} + (c'x - \min_u c'u)^+

in the l1 norm, so that the training problem is a mixed-integer linear program. As in the corrected
convention, suboptimality divides the prices of a sample by their length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.paper.network.transport import (
    MAX_ENTRIES,
    TransportNetwork,
    cheapest_first,
    l1_distance,
    price_groups,
    served,
)
from feaslearn.tolerances import GAIN_TOL

LossName = Literal["predictability", "suboptimality"]
#: Losses of single samples that are held at once.
MAX_LOSSES = 2**17


class NetworkLosses:
    """The loss of every sample under networks of the candidate lines.

    A network is a row of booleans, one for each candidate line.
    """

    def __init__(
        self,
        candidates: TransportNetwork,
        costs: Array,
        demands: Array,
        decisions: Array,
        loss: LossName,
    ) -> None:
        if loss not in get_args(LossName):
            raise DataError(f"loss is {loss!r}, expected one of {get_args(LossName)}")
        self.candidates, self.loss = candidates, loss
        self.demands, self.decisions, self.costs = demands, decisions, costs
        if loss == "suboptimality":
            lengths = np.linalg.norm(costs, axis=1, keepdims=True)
            self.costs = costs / np.where(lengths > 0.0, lengths, 1.0)
        #: The difference below which two mean losses count as equal.
        self.tolerance = GAIN_TOL * float(np.abs(decisions).max())

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.costs)

    def chunks(self, networks: Mask) -> Iterator[Mask]:
        """Yield networks that can be measured at once."""
        step = max(1, min(MAX_ENTRIES >> self.candidates.n_nodes, MAX_LOSSES // self.n_samples))
        for start in range(0, len(networks), step):
            yield networks[start : start + step]

    def of(self, networks: Mask) -> Array:
        """Return the loss of each sample under each network, shape (R, N); infinite if unserved."""
        most = self.candidates.most_delivered(self.demands, networks)
        # All feasible dispatches are the cheapest ones of equal prices.
        predictability = self.loss == "predictability"
        prices = self.costs if predictability else np.zeros_like(self.costs)
        losses = np.zeros(most.shape[:2])
        for rows, plants, F in price_groups(most, prices):
            losses[:, rows] += l1_distance(F, self.decisions[np.ix_(rows, plants)])
        if not predictability:
            losses += np.maximum(0.0, self._excess(most))
        return np.where(served(most, self.demands), losses, np.inf)

    def of_one(self, network: Mask) -> Array:
        """Return the loss of each sample under one network."""
        return np.asarray(self.of(network[None])[0])

    def unavoidable(self) -> Array:
        """Return what each sample costs in every network: all lines together allow the most."""
        free = NetworkLosses(
            self.candidates, 0.0 * self.costs, self.demands, self.decisions, "predictability"
        )
        return free.of_one(np.ones(len(self.candidates.lines), dtype=bool))

    def _excess(self, most: Array) -> Array:
        cheapest = np.stack([cheapest_first(of_network, self.costs) for of_network in most])
        return np.asarray(((self.decisions - cheapest) * self.costs).sum(axis=2))
