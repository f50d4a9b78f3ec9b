"""The trainer that learns facets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import DataError, Problems
from feaslearn.hypotheses.constrained import without_known
from feaslearn.hypotheses.facet_rows import FacetRows
from feaslearn.hypotheses.facets import Facets
from feaslearn.kernels.small_lp import OPTIMAL
from feaslearn.losses import Objective, Suboptimality
from feaslearn.messages import list_first, row_number
from feaslearn.results import Status
from feaslearn.runs import Run
from feaslearn.trainers.facet_learning.bounds import bounds_of, exact_bounds
from feaslearn.trainers.facet_learning.facet_search import Firm, GrowthOptions
from feaslearn.trainers.facet_learning.growing import grown_region, held_out_growth
from feaslearn.trainers.facet_learning.growth import loss_of
from feaslearn.trainers.facet_learning.response import answers_to_prices, are_exact, contradiction
from feaslearn.trainers.facet_learning.samples import Samples, check_size, complete_rows, rows_of
from feaslearn.trainers.facet_learning.units import Units
from feaslearn.trainers.measuring import measured
from feaslearn.trainers.progress import ProgressBar
from feaslearn.trainers.running import Given
from feaslearn.trainers.sample_order import ordered
from feaslearn.trainers.trainer import Trained, Trainer

Array = NDArray[np.float64]

#: Noise that is tried where no equality shows it, in units of the decisions' spread.
NOISES = (0.0, 0.02, 0.05, 0.1)
#: Growths under each of them.
GROWTHS = 2
#: More noise must lower the loss of held-out rows by this share.
CLEARLY_BETTER = 0.05

#: An equality's residual is at most this share of the largest one, ...
SMALL = 0.1
#: ... and this much smaller than that of the next combination.
GAP = 2.5
#: Under noise, combinations before the largest jump of at least this size may be equalities.
NOISY_GAP = 1.2
#: Residuals below this share of the largest are rounding.
ROUNDING = 1e-6

#: Savings of this many standard deviations of the noise are no noise.
CLEARLY = 5.0


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
    checkpoint : path-like, default=None
        File that keeps finished growths: a fit that was killed resumes from them.

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
        checkpoint: Given = None,
    ) -> None:
        self.n_starts = n_starts
        self.held_out = held_out
        self.support = support
        self.tries = tries
        self.noise = noise
        self.max_seconds = max_seconds
        self.checkpoint = checkpoint

    def mismatches(self, objective: Objective) -> list[str]:
        """Name what is not a facet hypothesis."""
        if isinstance(objective.hypothesis, Facets):
            return []
        return [f"{objective.hypothesis!r} has no facets; Facets has"]

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with the numbers."""
        super().check(problems)
        for name in ("n_starts", "support", "tries"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                problems.add(f"{name}={value!r} is not a whole number of at least 1")
        if not isinstance(self.held_out, Real) or not 0.0 < float(self.held_out) < 1.0:
            problems.add(f"held_out={self.held_out!r} is not a number between 0 and 1")
        given = isinstance(self.noise, Real) and 0.0 <= float(self.noise) < np.inf
        if not given and not (isinstance(self.noise, str) and self.noise == "auto"):
            problems.add(f"noise={self.noise!r} is neither 'auto' nor a number of at least 0")

    def search(self, objective: Objective, random: np.random.Generator) -> Trained:
        """Grow regions on several splits, and keep the one that fits best."""
        objective = objective.limited(self.max_seconds)
        run = objective.run
        hypothesis = without_known(objective.hypothesis)
        if not isinstance(hypothesis, Facets):
            raise TypeError("refused by mismatches")
        check_size(objective, int(hypothesis.max_facets))
        came = rows_of(objective)
        whole, known = rows_of(ordered(objective))
        if np.isnan(whole.decisions).any(axis=1).all():
            raise DataError(
                "FacetLearning: there is no complete row; facets are learned from those"
            )
        units = Units.of(whole)
        samples = units.apply(whole, known)
        by_cost = isinstance(objective.loss, Suboptimality)
        tried: list[FacetRows] = []
        choice = run.within("choice")
        start, options = self._start(hypothesis, units, samples, by_cost, choice, random, tried)

        def theta_of(rows: FacetRows) -> Array:
            return hypothesis.theta_of_rows(
                exact_bounds(hypothesis, units.revert(rows), whole.decisions)
            )

        options = replace(options, run=run)
        if known is not None and not objective.drawn:
            refuse_empty(hypothesis, start, units.apply(*came), came[0])
        history = [loss_of(start, samples, options)]
        late = run.late()
        regions, status = self._regions(start, samples, options, random)
        # Where the choice came to the deadline, its growths are all there is.
        regions = tried if late else regions
        history += [loss_of(rows, samples, options) for rows in regions]
        best = [start, *regions][int(np.argmin(history))]
        trained = measured(self, objective, theta_of(best), status)
        result = trained.result
        result.n_iter, result.history = len(regions), {"relative loss": history}
        if not objective.drawn:  # rows are named
            result.warnings = contradictions(came[0], units.apply(*came), options.noise)
        result.others = [theta_of(rows) for rows in regions if rows is not best]
        return trained

    def _regions(
        self,
        start: FacetRows,
        samples: Samples,
        options: GrowthOptions,
        random: np.random.Generator,
    ) -> tuple[list[FacetRows], Status]:
        """Grow a region on each split, until the time is up or the user says so."""
        regions: list[FacetRows] = []
        with ProgressBar("FacetLearning", self.n_starts) as bar:
            try:
                for i, seed in enumerate(random.integers(2**63, size=self.n_starts)):
                    # Other equalities or noise, chosen with more time, have other regions.
                    name = f"start {i}, noise {options.noise}, {len(start.E)} equalities"
                    own = np.random.default_rng(seed)
                    work = partial(grown_region, start, samples, options, own)
                    rows = FacetRows(*options.run.cached(name, work))
                    regions.append(rows)
                    bar.update(i + 1, f"{len(rows.a)} facets")
                    if options.run.late():
                        return regions, options.run.ended()
            except KeyboardInterrupt:
                options.run.clock.interrupt()
                return regions, "interrupted"
        return regions, "converged"

    def _start(
        self,
        hypothesis: Facets,
        units: Units,
        samples: Samples,
        by_cost: bool,
        run: Run,
        random: np.random.Generator,
        tried: list[FacetRows],
    ) -> tuple[FacetRows, GrowthOptions]:
        """Return equalities and bounds, without facets, and what growth depends on.

        Regions that are grown for the choice are added to ``tried``.
        """
        n, k = samples.decisions.shape[1], samples.features.shape[1]
        hypothesis.check(n)
        given = hypothesis.given_balance(n)
        nothing = np.zeros((0, n)), np.zeros((0, k))
        most = int(hypothesis.max_facets) if answers_to_prices(samples) else 0
        firm = Firm(not isinstance(hypothesis.bounds, str), given is not None)
        options = GrowthOptions(
            most, 0.0, self.support, self.tries, by_cost, float(self.held_out), firm, run
        )

        def begin(equalities: Equalities, noise: float) -> FacetRows:
            sides = bounds_of(hypothesis, units, samples, noise)
            return FacetRows(equalities.E, equalities.e, *sides, *nothing)

        if given is None:
            equalities = self._equalities(begin, samples, options, random, tried)
        else:
            equalities = given_equalities(samples, units.directions(given))
        start = partial(begin, equalities)
        if self.noise != "auto":
            options = replace(options, noise=float(self.noise))
        elif (seen := known_noise(samples)) is not None or len(equalities.E):
            options = replace(options, noise=max(seen or 0.0, equalities.noise))
        elif most:
            options = self._least_noisy(start, samples, options, random, tried)
        return start(options.noise), options

    def _equalities(
        self,
        begin: Callable[[Equalities, float], FacetRows],
        samples: Samples,
        options: GrowthOptions,
        random: np.random.Generator,
        tried: list[FacetRows],
    ) -> Equalities:
        """Return the equalities; noisy ones only if held-out rows are predicted better."""
        clear = find_equalities(samples)
        noisy = find_equalities(samples, noisy=True)
        if len(clear.E) == len(noisy.E):
            return clear
        seed = int(random.integers(2**31))
        losses = {}
        for name, each in (("clear", clear), ("noisy", noisy)):
            under = replace(options, noise=each.noise)
            region = begin(each, each.noise)
            rows, losses[name] = held_out_growth(region, samples, under, seed, name)
            tried.append(rows)
        return noisy if losses["noisy"] < losses["clear"] else clear

    def _least_noisy(
        self,
        start: Callable[[float], FacetRows],
        samples: Samples,
        options: GrowthOptions,
        random: np.random.Generator,
        tried: list[FacetRows],
    ) -> GrowthOptions:
        """Return the options with the noise under which held-out rows are predicted best.

        Exact decisions show at once. Otherwise several growths are compared: where noise is not
        allowed for, many end too early.
        """
        seeds = [int(seed) for seed in random.integers(2**31, size=GROWTHS)]
        best, least = options, np.inf
        for noise in NOISES:
            under, region, loss = replace(options, noise=noise), start(noise), 0.0
            for i, seed in enumerate(seeds):
                name = f"noise {noise} growth {i}"
                rows, part = held_out_growth(region, samples, under, seed, name)
                tried.append(rows)
                if not noise and are_exact(rows, samples):
                    return under
                loss += part
            if options.run.late() and noise:
                break  # these growths were cut short
            if loss < (1.0 - CLEARLY_BETTER) * least:
                best, least = under, loss
        return best


# Equalities hidden in decisions: combinations of them that the features explain.


class Equalities(NamedTuple):
    """``E x = e phi`` with orthonormal rows, and the standard deviation of what is left."""

    E: Array
    e: Array
    noise: float


def find_equalities(samples: Samples, noisy: bool = False) -> Equalities:
    r"""Return the combinations :math:`w'x` that are affine in the features.

    Decisions are regressed on the features; the directions in which the residuals have almost no
    variance are equalities. Their number is where the spectrum jumps (a rank test): noise lifts
    the smallest residuals, but not to those of directions that prices move. Equalities that are
    known are not found again. With ``noisy``, what may be equalities under much noise is returned.
    """
    across = samples.across()
    features, decisions = samples.features, samples.decisions @ across
    n_samples, n = decisions.shape
    nothing = Equalities(np.zeros((0, len(across))), np.zeros((0, features.shape[1])), 0.0)
    roots = np.sqrt(samples.weights)[:, None]
    beta = np.linalg.lstsq(features * roots, decisions * roots, rcond=1e-12)[0]
    residual = (decisions - features @ beta) * roots
    freedom = n_samples - features.shape[1]
    if freedom < n or not n:
        return nothing
    variances, directions = np.linalg.eigh(residual.T @ residual * n_samples / freedom)
    sizes = np.sqrt(np.maximum(variances, 0.0))
    largest = sizes[-1]
    rounding = ROUNDING * max(1.0, float(np.abs(decisions).max()))
    if largest <= rounding:
        count = n
    else:
        floored = np.maximum(sizes, 0.1 * ROUNDING * largest)
        jumps = floored[1:] / floored[:-1]
        clear = np.flatnonzero((jumps > GAP) & (sizes[:-1] < SMALL * largest))
        if noisy and not len(clear) and jumps.max(initial=0.0) > NOISY_GAP:
            clear = np.array([jumps.argmax()])
        count = int(clear.max(initial=-1)) + 1
    noise = float(sizes[count - 1]) if count else 0.0
    E = directions[:, :count].T
    rows = np.ascontiguousarray(E @ across.T)
    return Equalities(rows, E @ beta.T, noise if noise > rounding else 0.0)


def known_noise(samples: Samples) -> float | None:
    """Return the standard deviation of decisions from known equalities, None without any."""
    known = samples.known
    if known is None or not len(known.E):
        return None
    gaps = samples.decisions @ known.E.T - known.e
    noise = float(np.sqrt(samples.weights @ gaps**2).max())
    return noise if noise > ROUNDING * max(1.0, float(np.abs(samples.decisions).max())) else 0.0


def given_equalities(samples: Samples, rows: Array) -> Equalities:
    """Return given combinations of decisions, with right-hand sides fitted to the data."""
    features, across = samples.features, samples.across()
    rows = rows @ across @ across.T
    rows = rows[np.linalg.norm(rows, axis=1) > ROUNDING]
    if len(rows) == 0:
        return Equalities(rows, np.zeros((0, features.shape[1])), 0.0)
    E = np.linalg.svd(rows, full_matrices=False)[2][: np.linalg.matrix_rank(rows)]
    roots = np.sqrt(samples.weights)[:, None]
    targets = samples.decisions @ E.T
    beta = np.linalg.lstsq(features * roots, targets * roots, rcond=1e-12)[0]
    noise = float(np.sqrt(samples.weights @ (targets - features @ beta) ** 2).max())
    return Equalities(np.ascontiguousarray(E), beta.T, noise if noise > ROUNDING else 0.0)


# What is said about the samples that facets are learned from.


def refuse_empty(hypothesis: Facets, start: FacetRows, samples: Samples, whole: Shard) -> None:
    """Refuse known constraints that contradict given bounds or equalities, naming the rows."""
    if isinstance(hypothesis.bounds, str) and isinstance(hypothesis.balance, str | None):
        return
    empty = np.flatnonzero(samples.solve(start).status != OPTIMAL)
    if len(empty):
        complete = np.flatnonzero(complete_rows(whole))
        places = [f"row {row_number(row)}" for row in complete[empty[:5]]]
        raise DataError(
            "FacetLearning: no region with the bounds and the balance of Facets satisfies the "
            f"known constraints at {list_first(places, len(empty))}; give one of them only"
        )


def contradictions(whole: Shard, samples: Samples, noise: float) -> list[str]:
    """Name the first pair of decisions that cannot both be optimal."""
    pair = contradiction(samples, max(1e-6, CLEARLY * noise))
    if pair is None:
        return []
    complete = np.flatnonzero(complete_rows(whole))
    i, j = complete[list(pair)]
    saved = float(whole.costs[i] @ (whole.decisions[i] - whole.decisions[j]))
    first, second = row_number(i), row_number(j)
    return [
        f"rows {first} and {second} have the same features, but at the prices of row {first} the "
        f"decision of row {second} costs {saved:.4g} less: they cannot both be optimal in one "
        "region; is a signal missing that the region depends on, or a cost wrong?"
    ]
