"""Facets fitted to groups of rows that a missing facet hinders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.kernels.small_lp import OPTIMAL
from feaslearn.runs import Run
from feaslearn.trainers.facet_learning.facet_program import fit_facet
from feaslearn.trainers.facet_learning.samples import Samples

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: How often the rows that a facet explains are chosen again.
RESELECTIONS = 8
#: A saving below this is rounding.
CHEAPER = 1e-5
#: How many times a violation costs what slack in a row to explain costs.
STRICTNESS = 5.0
#: With noise, a decision this many deviations from the minimiser is displaced, ...
DISPLACED = 5.0
#: ... and the minimiser may seem this many deviations dearer than the decision.
SEEMS_DEARER = 2.0


class Firm(NamedTuple):
    """What the user gave, which does not move."""

    bounds: bool = False
    equalities: bool = False


@dataclass(frozen=True)
class GrowthOptions:
    """What growth depends on.

    Attributes
    ----------
    max_facets : int
        Most facets.
    noise : float
        Standard deviation of the noise on decisions, in their units.
    support : int
        Rows that a facet must be tight in.
    tries : int
        Seeds of groups tried in each round.
    by_cost : bool, default=False
        Whether regions are compared by suboptimality rather than by predictability.
    held_out : float, default=0.2
        Share of the rows that a growth holds out to accept facets by.
    firm : Firm
        Whether bounds and equalities were given.
    run : Run
        Its deadline and its checkpoint.
    """

    max_facets: int
    noise: float
    support: int
    tries: int
    by_cost: bool = False
    held_out: float = 0.2
    firm: Firm = field(default_factory=Firm)
    run: Run = field(default_factory=Run, repr=False, compare=False)

    @property
    def tight(self) -> float:
        """Slack below which a facet binds."""
        return max(1e-5, 2.0 * self.noise)

    def hindered(self, shift: Array, costs: Array) -> Mask:
        """Say which decisions are not optimal in the region learned so far.

        Without noise, those with a cheaper minimiser. Noise hides small savings, while minimisers
        far from the decision still show: vertices far apart may cost almost the same.
        """
        gain = -np.einsum("ij,ij->i", shift, costs)
        if not self.noise:
            return np.asarray(gain > CHEAPER)
        far = np.linalg.norm(shift, axis=1) > DISPLACED * self.noise
        return np.asarray(far & (gain > -SEEMS_DEARER * self.noise))


@dataclass(frozen=True)
class Candidate:
    """A facet with the number of hindered rows it is tight in."""

    a: Array
    f: Array
    support: int


class FacetSearch:
    """Fits facets to groups of rows, choosing again which rows a facet explains.

    Parameters
    ----------
    rows : FacetRows
        The region learned so far.
    samples : Samples
        Optimal decisions.
    options : GrowthOptions
        Tolerances.

    Attributes
    ----------
    hindered : ndarray of bool of shape (N,)
        Decisions that are not optimal in the region.
    shift : ndarray of shape (N, n)
        From a hindered decision to the minimiser over the region; zero elsewhere.
    """

    def __init__(self, rows: FacetRows, samples: Samples, options: GrowthOptions) -> None:
        solutions = samples.solve(rows)
        shift = solutions.decisions - samples.decisions
        self.hindered = (solutions.status == OPTIMAL) & options.hindered(shift, samples.costs)
        self.shift = np.where(self.hindered[:, None], shift, 0.0)
        self._weights = samples.weights
        self._options = options
        # A facet is only identified modulo the equalities: its normal is sought across them.
        n = samples.decisions.shape[1]
        E = samples.equalities(rows)
        self._basis = null_space(E) if len(E) else np.eye(n)
        self._points = np.hstack([-samples.decisions @ self._basis, samples.features])

    def facets(self, group: Mask) -> Iterator[Candidate]:
        """Yield the facets met while the group settles."""
        options, weights = self._options, self._weights
        split = self._basis.shape[1]
        for _ in range(RESELECTIONS):
            if group.sum() < options.support or options.run.late():
                return
            share = weights * group
            mean = share @ self.shift / share.sum()
            cut = np.concatenate([mean @ self._basis, np.zeros(self._points.shape[1] - split)])
            w = fit_facet(self._points, weights, cut, group, STRICTNESS)
            if w is None or not np.linalg.norm(w[:split]) > 1e-12:
                return
            w = w / np.linalg.norm(w[:split])
            a, f = self._basis @ w[:split], w[split:]
            slack = self._points @ w
            depth = self.shift @ a - slack
            cut_off = self.hindered & (depth > options.tight)
            support = int((cut_off & (np.abs(slack) <= options.tight)).sum())
            if support >= options.support:
                yield Candidate(a, f, support)
            again = cut_off & (slack < np.maximum(options.tight, 0.1 * depth))
            if np.array_equal(again, group):
                return
            group = again
