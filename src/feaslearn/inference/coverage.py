"""Coverage of the data: ranges, directions of prices, and the limits that they pushed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.data import Block, Samples
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.known import ResolvedKnown
from feaslearn.region.form import RegionForm, combined
from feaslearn.region.minimize import Solved
from feaslearn.tolerances import DECISION_TOL, SAME_TOL, TINY, VISIBLE_TOL, ZERO_PRICE
from feaslearn.trainers.facets.rows import grid_step

#: Status of a limit: the data determine it, some bind at it, no price ever pushed to it.
IDENTIFIED, SEEN, UNSEEN = 0.0, 1.0, 2.0
WORDS = {IDENTIFIED: "identified", SEEN: "seen", UNSEEN: "not seen"}
#: Samples that must be on a limit: one alone is only the farthest so far.
FEWEST_ROWS = 2
#: Errors of more than so many standard deviations are not noise.
ERRORS = 3.5
#: Most samples that are checked for rows of decisions, for images of latent points, and where each
#: decision takes a solver.
MOST_ROWS, MOST_CHECKED, BY_SOLVER = 10_000, 2000, 60
#: Samples that show which parts of a region have duals.
FEWEST = 5
#: Directions of prices, and samples with the limits that hold them, that are kept.
DIRECTIONS, MOST_REGIMES = 64, 500


#: Decisions of curved regions this share of the range away from a limit are next to it.
NEXT_TO = 0.05
#: Directions in which a region extends by less than this share of the largest are none: noise on a
#: balance leaves such.
FLAT = 0.1


@dataclass(frozen=True, eq=False)
class RowCoverage:
    """What the data say about each of m limits of a region, in the order of `binding_limits`."""

    # Names in predictions, "" for equalities, and texts in the names of the data; 0 identified,
    # 1 seen, 2 not seen; factors that make learned rows the printed ones.
    names: tuple[str, ...]
    texts: tuple[str, ...]
    status: Array
    scales: Array
    # Whether some are limits of images of latent points, which take further minima to find.
    latent: bool
    # Coefficients (m, n + k) of decisions and features for ``a'x <= f'phi``; zeros if not known.
    printed: Array
    # Packed bits of some samples: whether the observed decision is on all limits that hold the
    # model's, and which these are. Empty where that is so in all samples: no limit is missing.
    regimes: NDArray[np.uint8]
    # Dual beside the largest cost below which errors in the data leave open whether a limit holds.
    doubt: float

    @property
    def unseen(self) -> Mask:
        """Which limits the data do not show."""
        return np.asarray(self.status == UNSEEN)


@dataclass(frozen=True, eq=False)
class Coverage:
    """A summary of the samples of a fit: sizes, ranges, and the limits that they show."""

    # All samples, and those that the shares are about; least and greatest signals and decisions;
    # prices of length one that stand for all others; shares of samples at each limit; usage of the
    # components of the hypothesis, empty if it has none.
    n_samples: int
    looked_at: int
    signals: Array
    decisions: Array
    directions: Array
    upper: Array
    lower: Array
    parts: Array
    rows: RowCoverage


def coverage_of(
    hypothesis: Hypothesis,
    theta: Array,
    samples: Samples,
    evidence: Evidence,
    rows: RowCoverage,
    signals: Array | None = None,
    known: ResolvedKnown | None = None,
) -> Coverage:
    """Return what is to be remembered of a fit; ``signals`` are the ends where they are known."""
    some = evidence.samples
    if known is not None:
        some = some._replace(features=known.shape.split(some.features)[0])
    ends = samples.summary()
    return Coverage(
        samples.n_samples,
        len(some.weights),
        ends.signals if signals is None else signals,
        ends.decisions,
        _spread_out(some.costs),
        evidence.sides.upper.mean(axis=0),
        evidence.sides.lower.mean(axis=0),
        hypothesis.usage(theta, some.features, some.costs),
        rows,
    )


# Which limits of a region decisions rest on, and which of them the samples confirm.


class Evidence(NamedTuple):
    """What samples say about the limits of a region.

    ``form`` is that of the region, None for an image of latent points, whose limits are the upper
    and then the lower ends of the decisions. ``pushed`` (N, m) says where a limit binds at the
    model's decision, ``duals`` (N, m) with which dual, and ``confirmed`` (N, m) where the observed
    decision is on it as well; ``times`` (m,) is in how many different samples. ``sides`` are the
    limits of single decisions.
    """

    samples: Block
    form: RegionForm | None
    pushed: Mask
    duals: Array
    confirmed: Mask
    times: Array
    sides: Sides

    def regimes(self) -> NDArray[np.uint8]:
        """Return packed bits of some samples, none if limits explain all; see `RowCoverage`."""
        missing = np.asarray((self.pushed & ~self.confirmed).any(axis=1))
        if not missing.any():
            return np.zeros((0, 0), dtype=np.uint8)
        step = -(-len(missing) // MOST_REGIMES)
        return np.packbits(np.column_stack([~missing, self.pushed])[::step], axis=1)


def find_evidence(
    region: Hypothesis, theta: Array, samples: Samples, error: float = 0.0
) -> Evidence:
    """Return what the samples of a fit say about each limit, of many samples some.

    ``error`` is the standard deviation of errors in the decisions, in units of their spread.
    """
    few = samples.spread(FEWEST)
    n, k = few.costs.shape[1], few.features.shape[1]
    latent = region.solve_duals(theta, few.features, few.costs).duals is None
    most = MOST_CHECKED if region.is_compiled(n) else BY_SOLVER
    some = samples.spread(most if latent else MOST_ROWS)
    features, costs, decisions, _ = some
    solved = region.solve_duals(theta, features, costs)
    scatter = np.nan_to_num(np.nanstd(decisions, axis=0)) if len(decisions) else np.zeros(n)
    # Of rounding to the grid that values are written on.
    observed = [column[~np.isnan(column)] for column in decisions.T]
    steps = [grid_step(values) if len(values) else 0.0 for values in observed]
    errors = np.array(steps) / np.sqrt(12.0)
    errors = np.maximum(errors, error * scatter)
    form, duals = None, solved.duals
    if duals is None:
        sides = limits_shown(region, theta, features, costs, solved.decisions)
        pushed = confirmed = np.hstack(sides)
        duals = pushed.astype(float)
    else:
        form = region.describe(theta, n, k)
        pushed = is_priced(duals, costs)
        confirmed = pushed & _is_on(form, features, decisions, scatter, errors)
        sides = _single_sides(form, confirmed)
    kinds = np.unique(np.hstack([features, costs]), axis=0, return_inverse=True)[1].ravel()
    count = np.array([len(np.unique(kinds[column])) for column in confirmed.T], dtype=float)
    return Evidence(some, form, pushed, np.nan_to_num(duals), confirmed, count, sides)


def is_priced(duals: Array, costs: Array, tolerance: float = ZERO_PRICE) -> Mask:
    """Say which rows have a dual, beside the largest cost of their sample."""
    least = tolerance * np.abs(costs).max(axis=1, keepdims=True)
    return np.asarray(np.abs(np.nan_to_num(duals)) > least)


def binding_limits(
    region: Hypothesis, theta: Array, features: Array, costs: Array, unseen: Mask | None = None
) -> tuple[Solved, Mask]:
    """Return decisions of least cost with their duals, and which limits they rest on, (N, m).

    Limits of images of latent points, which take further minima, are only found if ``unseen`` (m,).
    """
    solved = region.solve_duals(theta, features, costs)
    if solved.duals is not None:
        return solved, is_priced(solved.duals, costs)
    columns = None
    if unseen is not None:
        columns = np.flatnonzero(unseen.reshape(2, -1).any(axis=0))
    shown = limits_shown(region, theta, features, costs, solved.decisions, columns)
    return solved, np.hstack(shown)


def _is_on(
    form: RegionForm, features: Array, decisions: Array, scatter: Array, errors: Array
) -> Mask:
    """Say which observed decisions are on each row of a form, within their errors."""
    X = form.X.toarray()
    used = X != 0.0
    observed = ~(np.isnan(decisions) @ used.T.astype(float) > 0.0)
    weights = form.weights(features[:, : form.n_features], features[:, form.n_features :])
    right = combined(weights, form.r)
    slack = np.nan_to_num(decisions) @ X.T - np.where(np.isfinite(right), right, 0.0)
    size = np.abs(X) @ np.where(scatter > 0.0, scatter, np.abs(np.nanmean(decisions, axis=0)))
    margin = DECISION_TOL * np.maximum(size, TINY) + ERRORS * np.sqrt(X**2 @ errors**2)
    return np.asarray(observed & np.isfinite(right) & (np.abs(slack) <= margin))


def _single_sides(form: RegionForm, here: Mask) -> Sides:
    """Return where a row of one decision alone is confirmed, by decision."""
    upper, lower = (np.zeros((len(here), form.n), dtype=bool) for _ in range(2))
    for i, (j, side) in single_rows(form).items():
        (upper if side == "upper" else lower)[:, j] |= here[:, i]
    return Sides(upper, lower)


def single_rows(form: RegionForm) -> dict[int, tuple[int, str]]:
    """Return the inequalities of one decision alone: the decision, and which side they limit."""
    counts = np.diff(form.X.indptr)
    found = {}
    for i in np.flatnonzero((counts == 1) & ~form.equality):
        start = form.X.indptr[i]
        side = "lower" if form.X.data[start] > 0.0 else "upper"
        found[int(i)] = (int(form.X.indices[start]), side)
    return found


def angle(cost: Array, directions: Array) -> float | None:
    """Return the least angle in degrees between a price and those kept, if there are any."""
    size = float(np.linalg.norm(cost))
    if size == 0.0 or not len(directions):
        return None
    return float(np.degrees(np.arccos(np.clip((directions @ cost / size).max(), -1.0, 1.0))))


def _spread_out(costs: Array) -> Array:
    """Return directions of prices, each the farthest from those before."""
    sizes = np.linalg.norm(costs, axis=1)
    units = costs[sizes > 0.0] / sizes[sizes > 0.0, None]
    if not len(units):
        return np.zeros((0, costs.shape[1]))
    chosen, nearest = [0], units @ units[0]
    while len(chosen) < DIRECTIONS and nearest.min() < 1.0 - SAME_TOL:
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, units @ units[chosen[-1]])
    return np.ascontiguousarray(units[chosen])


# Which limits of a region the prices of samples push decisions to.
#
# A price c pushes decision j up where :math:`(P(-c))_j > 0`, P being the projection on the
# directions in which the region extends, in units of the ranges of the decisions: with a balance,
# prices count relative to each other. The limit is then seen where the decision is the largest of
# the region as well. For a row of a region of half-spaces that is so where relaxing it would lower
# the cost.


class Sides(NamedTuple):
    """Whether each row shows the upper and the lower limit of each decision, both (N, n)."""

    upper: Mask
    lower: Mask


def limits_shown(
    hypothesis: Hypothesis,
    theta: Array,
    features: Array,
    costs: Array,
    decisions: Array,
    columns: Indices | None = None,
) -> Sides:
    """Say which limits the rows show at decisions of least cost; of some decisions, if given."""
    n = costs.shape[1]
    shown = Sides(*np.zeros((2, *costs.shape), dtype=bool))
    chosen = np.arange(n) if columns is None else columns
    if not len(chosen) or not len(costs):
        return shown
    at = decisions[:, chosen]
    low, high = hypothesis.ends(theta, features, n, chosen)
    width = high - low
    curved = hypothesis.is_curved(theta, n, features.shape[1])
    slack = (NEXT_TO if curved else VISIBLE_TOL) * width
    wide = width > VISIBLE_TOL * max(np.abs(decisions).max(), width.max())
    pushed = _pushed(hypothesis, theta, features.mean(axis=0), costs)[:, chosen]
    shown.upper[:, chosen] = wide & (at >= high - slack) & (pushed > 0.0)
    shown.lower[:, chosen] = wide & (at <= low + slack) & (pushed < 0.0)
    return shown


def _pushed(hypothesis: Hypothesis, theta: Array, phi: Array, costs: Array) -> Array:
    """Return where prices push each decision, zero where they leave it."""
    n = costs.shape[1]
    directions = np.vstack([np.eye(n), np.random.default_rng(0).normal(size=(2 * n, n))])
    along = np.vstack([directions, -directions])
    points = hypothesis.predict(theta, np.tile(phi, (len(along), 1)), along)
    ranges = np.ptp(points, axis=0)
    spread = (points - points.mean(axis=0)) / np.where(ranges > 0.0, ranges, 1.0)
    U, sizes, _ = np.linalg.svd(spread.T, full_matrices=False)
    U = U[:, sizes > FLAT * sizes.max(initial=TINY)]
    pushed = -((costs * ranges) @ U) @ U.T
    least = ZERO_PRICE * np.abs(costs * ranges).max(axis=1, keepdims=True)
    return np.where(np.abs(pushed) > least, pushed, 0.0)
