"""The trainer that learns facets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.losses import Objective, Suboptimality
from feaslearn.results import TrainingResult
from feaslearn.trainers.facet_learning.bounds import affine_bounds, bounds_from_data
from feaslearn.trainers.facet_learning.equalities import (
    Equalities,
    find_equalities,
    given_equalities,
    known_noise,
)
from feaslearn.trainers.facet_learning.facet_search import GrowthOptions
from feaslearn.trainers.facet_learning.growth import WORTHWHILE, grow, loss_of
from feaslearn.trainers.facet_learning.polish import polish
from feaslearn.trainers.facet_learning.refine import better_of, completed, prune, refit
from feaslearn.trainers.facet_learning.remarks import contradictions, refuse_empty
from feaslearn.trainers.facet_learning.response import answers_to_prices, are_exact
from feaslearn.trainers.facet_learning.samples import Samples, Units, rows_of
from feaslearn.trainers.progress import ProgressBar
from feaslearn.trainers.sample_order import ordered
from feaslearn.trainers.trainer import Trained, Trainer, returned_loss, tied_share

Array = NDArray[np.float64]

#: Growths of one region, each after what has grown was reconsidered.
CYCLES = 3
#: Steps of the last polish, where there is noise.
POLISH = 100
#: A relative squared error below this is rounding.
NEGLIGIBLE = 1e-12
#: Noise that is tried where no equality shows it, in units of the decisions' spread.
NOISES = (0.0, 0.02, 0.05, 0.1)
#: Growths under each of them.
GROWTHS = 2
#: More noise must lower the loss of held-out rows by this share.
CLEARLY_BETTER = 0.05


class FacetLearning(Trainer):
    r"""Learn facets from "every cheaper point must be infeasible".

    Equalities are found by regression and bounds from the data. Then, again and again: the
    training programs are solved over the region learned so far; rows whose minimiser is cheaper
    than the decision are hindered by a facet that is missing; rows displaced alike are grouped; one
    linear program fits a facet to each group; the best is kept if held-out rows agree. Regions are
    compared by the loss of the model, predictability or suboptimality.

    Parameters
    ----------
    n_starts : int, default=3
        Growths on different splits; the region with the best training loss is kept.
    held_out : float, default=0.2
        Share of the rows that a growth holds out to accept facets by.
    support : int, default=4
        Hindered rows in which a facet must be tight.
    tries : int, default=8
        Groups tried in each round.
    noise : float or "auto", default="auto"
        Standard deviation of the noise on decisions, in units of their spread. "auto" reads it
        from the equalities; without one, held-out rows choose among none, 2, 5 and 10 per cent.
    max_seconds : float, default=None
        Limit on the wall time.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.status
    'converged'
    """

    uses_known = True
    names_rows = True

    def __init__(
        self,
        n_starts: int = 3,
        held_out: float = 0.2,
        support: int = 4,
        tries: int = 8,
        noise: float | str = "auto",
        max_seconds: float | None = None,
    ) -> None:
        self.n_starts = n_starts
        self.held_out = held_out
        self.support = support
        self.tries = tries
        self.noise = noise
        self.max_seconds = max_seconds

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what is not a facet hypothesis."""
        if isinstance(objective.hypothesis, Facets):
            return []
        return [f"{objective.hypothesis!r} has no facets; Facets has"]

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with the numbers."""
        for name in ("n_starts", "support", "tries"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                problems.add(f"{name}={value!r} is not a whole number of at least 1")
        if not isinstance(self.held_out, Real) or not 0.0 < float(self.held_out) < 1.0:
            problems.add(f"held_out={self.held_out!r} is not a number between 0 and 1")
        given = isinstance(self.noise, Real) and 0.0 <= float(self.noise) < np.inf
        if not given and not (isinstance(self.noise, str) and self.noise == "auto"):
            problems.add(f"noise={self.noise!r} is neither 'auto' nor a number of at least 0")
        limit = self.max_seconds
        if limit is not None and not (isinstance(limit, Real) and float(limit) > 0.0):
            problems.add(f"max_seconds={limit!r} is neither None nor a positive number")

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Grow regions on several splits, and keep the one that fits best."""
        began = time.monotonic()
        hypothesis = without_known(objective.hypothesis)
        if not isinstance(hypothesis, Facets):
            raise TypeError("refused by mismatches")
        came = rows_of(objective)
        whole, known = rows_of(ordered(objective))
        if np.isnan(whole.decisions).any(axis=1).all():
            raise DataError(
                "FacetLearning: there is no complete row; facets are learned from those"
            )
        units = Units.of(whole)
        samples = units.apply(whole, known)
        by_cost = isinstance(objective.loss, Suboptimality)
        start, options = self._start(hypothesis, units, samples, by_cost, random)
        if known is not None:
            refuse_empty(hypothesis, start, units.apply(*came), came[0])
        best, best_loss = start, loss_of(start, samples, options)
        history = [best_loss]
        regions: list[FacetRows] = []
        done = 0
        with ProgressBar("FacetLearning", self.n_starts) as bar:
            for done in range(1, self.n_starts + 1):
                rows = self._grown(start, samples, options, random)
                loss = loss_of(rows, samples, options)
                history.append(loss)
                regions.append(rows)
                if loss < best_loss:
                    best, best_loss = rows, loss
                bar.update(done, f"loss {best_loss:.4g}")
                spent = time.monotonic() - began
                if self.max_seconds is not None and spent > self.max_seconds:
                    break
        theta = hypothesis.theta_of_rows(units.revert(best))
        limited = done < self.n_starts
        result = TrainingResult(
            status="time limit" if limited else "converged",
            trainer=repr(self),
            objective=objective.value(theta),
            returned_loss=returned_loss(objective, theta),
            n_iter=done,
            seconds=time.monotonic() - began,
            tied_share=tied_share(objective, theta),
            history={"relative loss": history},
            warnings=contradictions(came[0], units.apply(*came), options.noise),
            others=[
                hypothesis.theta_of_rows(units.revert(rows)) for rows in regions if rows is not best
            ],
        )
        return Trained(theta, result)

    def _grown(
        self,
        start: FacetRows,
        samples: Samples,
        options: GrowthOptions,
        random: np.random.Generator,
    ) -> FacetRows:
        """Grow, reconsider what has grown, and go on growing while that helps."""
        inner, outer = samples.split(self.held_out, random)
        if min(len(inner.weights), len(samples.weights) - self.support) < self.support:
            return start
        rows, loss = start, loss_of(start, inner, options)
        for _ in range(CYCLES):
            grown = grow(rows, inner, outer, options, random)
            refitted = refit(grown, inner, options)
            rows = prune(better_of(refitted, grown, outer, options), inner, options)
            last, loss = loss, loss_of(rows, inner, options)
            if loss <= NEGLIGIBLE or loss > (1.0 - WORTHWHILE) * last:
                break
        if options.noise:
            return better_of(polish(rows, inner, POLISH), rows, outer, options)
        return rows if loss <= NEGLIGIBLE else completed(rows, samples, options, random)

    def _held_out(
        self, start: FacetRows, samples: Samples, options: GrowthOptions, seed: int
    ) -> tuple[FacetRows, float]:
        """Grow a region; return it with its loss on the rows that its growth held out."""
        rows = self._grown(start, samples, options, np.random.default_rng(seed))
        _, outer = samples.split(self.held_out, np.random.default_rng(seed))  # the same split
        return rows, loss_of(rows, outer, options)

    def _start(
        self,
        hypothesis: Facets,
        units: Units,
        samples: Samples,
        by_cost: bool,
        random: np.random.Generator,
    ) -> tuple[FacetRows, GrowthOptions]:
        """Return equalities and bounds, without facets, and what growth depends on."""
        n, k = samples.decisions.shape[1], samples.features.shape[1]
        hypothesis.check(n)
        given = hypothesis.given_balance(n)
        nothing = np.zeros((0, n)), np.zeros((0, k))
        most = int(hypothesis.max_facets) if answers_to_prices(samples) else 0
        options = GrowthOptions(most, 0.0, self.support, self.tries, by_cost)

        def begin(equalities: Equalities, noise: float) -> FacetRows:
            sides = self._bounds(hypothesis, units, samples, noise)
            return FacetRows(equalities.E, equalities.e, *sides, *nothing)

        if given is None:
            equalities = self._equalities(begin, samples, options, random)
        else:
            equalities = given_equalities(samples, given * units.scale)
        start = partial(begin, equalities)
        if self.noise != "auto":
            options = replace(options, noise=float(self.noise))
        elif (seen := known_noise(samples)) is not None or len(equalities.E):
            options = replace(options, noise=max(seen or 0.0, equalities.noise))
        elif most:
            options = self._least_noisy(start, samples, options, random)
        return start(options.noise), options

    def _equalities(
        self,
        begin: Callable[[Equalities, float], FacetRows],
        samples: Samples,
        options: GrowthOptions,
        random: np.random.Generator,
    ) -> Equalities:
        """Return the equalities; noisy ones only if held-out rows are predicted better."""
        clear = find_equalities(samples)
        noisy = find_equalities(samples, noisy=True)
        if len(clear.E) == len(noisy.E):
            return clear
        seed = int(random.integers(2**31))
        without, within = (
            self._held_out(begin(e, e.noise), samples, replace(options, noise=e.noise), seed)[1]
            for e in (clear, noisy)
        )
        return noisy if within < without else clear

    def _bounds(
        self, hypothesis: Facets, units: Units, samples: Samples, noise: float
    ) -> tuple[Array, Array]:
        """Return the bounds (n, k) that the hypothesis asks for."""
        if hypothesis.bounds == "affine":
            return affine_bounds(samples)
        if hypothesis.bounds == "data":
            return bounds_from_data(samples, noise)
        n, k = samples.decisions.shape[1], samples.features.shape[1]
        sides = np.zeros((2, n, k))
        sides[:, :, 0] = hypothesis.given_bounds(n) / units.scale
        return sides[0], sides[1]

    def _least_noisy(
        self,
        start: Callable[[float], FacetRows],
        samples: Samples,
        options: GrowthOptions,
        random: np.random.Generator,
    ) -> GrowthOptions:
        """Return the options with the noise under which held-out rows are predicted best.

        Exact decisions show at once. Otherwise several growths are compared: where noise is not
        allowed for, many end too early.
        """
        seeds = [int(seed) for seed in random.integers(2**31, size=GROWTHS)]
        best, least = options, np.inf
        for noise in NOISES:
            tried, region, loss = replace(options, noise=noise), start(noise), 0.0
            for seed in seeds:
                rows, part = self._held_out(region, samples, tried, seed)
                if not noise and are_exact(rows, samples):
                    return tried
                loss += part
            if loss < (1.0 - CLEARLY_BETTER) * least:
                best, least = tried, loss
        return best
