"""Losses of whole networks, exact and without a solver."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import Problems, UnsupportedError
from feaslearn.losses.kernels import L1, SQUARED_L2
from feaslearn.losses.loss import Loss
from feaslearn.losses.predictability import Predictability
from feaslearn.losses.suboptimality import Suboptimality
from feaslearn.messages import did_you_mean
from feaslearn.network.candidates import CandidateLines, Networks
from feaslearn.network.polymatroid_kernels import network_losses
from feaslearn.network.samples import NetworkSamples
from feaslearn.tolerances import GAIN_TOL, TIE_TOL

#: Entries of the tables of cuts, and losses of single samples, that are held at once.
MAX_ENTRIES, MAX_LOSSES = 2**22, 2**17


class NetworkLosses:
    r"""The loss of every sample under networks of the candidate lines.

    .. math:: \ell(y) = \|x - u\|,\quad u \in \arg\min \{ c'u : u \text{ a base of } F_y \}

    The dispatches that a network y allows are the bases of a polymatroid, so the distance to all
    of them (suboptimality) and to the cheapest (predictability) needs the values ``F_y(S)`` alone.
    """

    def __init__(self, candidates: CandidateLines, samples: NetworkSamples, loss: Loss) -> None:
        self.candidates = candidates
        self.loss = loss
        self.is_predictability = isinstance(loss, Predictability)
        self.is_squared = loss.norm_code() == SQUARED_L2
        if isinstance(loss, Suboptimality):
            samples = samples._replace(costs=loss.unit_costs(samples.costs))
        self.samples = samples

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.samples.costs)

    @property
    def tolerance(self) -> float:
        """The difference below which two mean losses count as equal."""
        size = float(np.abs(self.samples.decisions).max())
        return GAIN_TOL * (size**2 if self.is_squared else size)

    def of(self, networks: Networks) -> Array:
        """Return the loss of each sample under each network, shape (R, N); infinite if unserved."""
        return self._measure(networks)[0]

    def means(self, networks: Networks) -> Array:
        """Return the mean loss of each network."""
        parts = [self.of(some).mean(axis=1) for some in self.chunks(networks)]
        return np.concatenate([np.empty(0), *parts])

    def chunks(self, networks: Networks) -> Iterator[Networks]:
        """Yield networks that can be measured at once."""
        step = max(1, min(MAX_ENTRIES >> len(self.candidates.nodes), MAX_LOSSES // self.n_samples))
        for start in range(0, len(networks), step):
            yield networks[start : start + step]

    def nearest(self, network: Mask) -> tuple[Array, Array]:
        """Return the loss of each sample and, for squared losses, the nearest dispatch."""
        losses, points = self._measure(network[None])
        return losses[0], points

    def _measure(self, networks: Networks) -> tuple[Array, Array]:
        """Return the losses of all samples, and the nearest dispatches of the last network."""
        costs, demands, decisions = self.samples
        losses, points = np.empty((len(networks), len(costs))), np.empty(decisions.shape)
        network_losses(
            demands,
            costs,
            decisions,
            self.candidates.cuts(networks),
            self.candidates.outside_capacity,
            self.is_predictability,
            self.loss.norm_code(),
            TIE_TOL,
            losses,
            points,
        )
        return losses, points


def resolve_network_loss(problems: Problems, loss: object) -> Loss | None:
    """Return the loss that a network is learned by, or add what is wrong with it."""
    names = {"predictability": Predictability, "suboptimality": Suboptimality}
    if isinstance(loss, str):
        if loss in names:
            return names[loss](norm="l1")
        problems.add(f"loss is {loss!r}; {did_you_mean(loss, list(names))}")
        return None
    if not isinstance(loss, Loss):
        problems.add(f"loss is {loss!r}, expected 'predictability', 'suboptimality' or a loss")
        return None
    try:
        code = loss.norm_code()
    except UnsupportedError as error:
        problems.add(str(error))
        return None
    if code not in (L1, SQUARED_L2):
        problems.add(
            f"loss is {loss!r}; networks are learned in the l1 norm or the squared l2 norm"
        )
        return None
    return loss
