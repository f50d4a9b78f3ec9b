"""The losses of whole networks, exact and without a solver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import Problems, UnsupportedError
from feaslearn.kernels.predictability import L1, SQUARED_L2
from feaslearn.losses.loss import Array, Loss
from feaslearn.losses.predictability import Predictability
from feaslearn.losses.suboptimality import Suboptimality
from feaslearn.messages import did_you_mean
from feaslearn.network.candidates import CandidateLines, Networks
from feaslearn.network.polymatroid_kernels import network_losses
from feaslearn.network.samples import NetworkSamples
from feaslearn.tolerances import TIE_TOL

#: Entries of the tables of cuts that are held at once.
ENTRIES_AT_ONCE = 2**22


class NetworkLosses:
    r"""The loss of every sample under networks of the candidate lines.

    .. math:: \ell(y) = \|x - u\|,\quad u \in \arg\min \{ c'u : u \text{ a base of } F_y \}

    The dispatches that a network y allows are the bases of a polymatroid, so the distance to all
    of them (suboptimality) and to the cheapest (predictability) needs the values ``F_y(S)`` alone.

    Parameters
    ----------
    candidates : CandidateLines
        The lines there may be.
    samples : NetworkSamples
        What was observed.
    loss : Predictability or Suboptimality
        In the l1 or the squared l2 norm.
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
        """How many samples there are."""
        return len(self.samples.costs)

    def of(self, networks: Networks) -> Array:
        """Return the loss of each sample under each network, shape (R, N); infinite if unserved."""
        losses = np.empty((len(networks), self.n_samples))
        step = max(1, ENTRIES_AT_ONCE >> len(self.candidates.nodes))
        for start in range(0, len(networks), step):
            some = slice(start, start + step)
            self._measure(networks[some], losses[some])
        return losses

    def nearest(self, network: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Return the loss of each sample and, for squared losses, the nearest dispatch."""
        losses = np.empty((1, self.n_samples))
        points = self._measure(network[None], losses)
        return losses[0], points

    def compile(self) -> None:
        """Measure one sample, so that time limits do not count what is compiled on first use."""
        first = self.samples.rows(np.zeros(1, dtype=np.intp))
        everything = np.ones(len(self.candidates.lines), dtype=np.bool_)
        NetworkLosses(self.candidates, first, self.loss).nearest(everything)

    def _measure(self, networks: Networks, losses: Array) -> Array:
        costs, demands, decisions = self.samples
        points = np.empty(decisions.shape)
        network_losses(
            demands,
            costs,
            decisions,
            self.candidates.cuts(networks),
            self.candidates.beyond,
            self.is_predictability,
            self.loss.norm_code(),
            TIE_TOL,
            losses,
            points,
        )
        return points


def resolve_network_loss(problems: Problems, loss: object) -> Loss | None:
    """Return the loss that a network is learned by, or add what is wrong with it.

    Parameters
    ----------
    problems : Problems
        Where to say what is wrong.
    loss : str or Loss
        "predictability" or "suboptimality", which stand for the l1 norm here (a linear program
        with integers), or a loss in the l1 or the squared l2 norm.

    Returns
    -------
    Loss or None
        The loss.
    """
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
