r"""Conformal bands for the next decision, within the learned region and its tolerance.

The band of radius r at a signal is a box around the prediction, cut by the region with a margin:

.. math:: C_r(s) = \{x : |x_j - \hat x_j| \le r w_j, \; l_j(s) - \kappa r w_j \le x_j
    \le u_j(s) + \kappa r w_j\}

with the least and greatest values l and u of each decision in the region. The score of an observed
decision is the least radius whose band holds it, so that bands are calibrated after the cut.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.exceptions import DataError, FeaslearnWarning
from feaslearn.parameters import Number, require
from feaslearn.tolerances import ROUNDING, TINY, VISIBLE_TOL

if TYPE_CHECKING:
    from feaslearn.hypotheses.hypothesis import Hypothesis


#: Rows from which a half says how wide bands are beside each other, and the other half how wide;
#: of rows in time, at most so many of the last ones say that.
HALVED, LAST = 100, 100
#: Parts that samples are cut into; each is predicted by a fit to the others.
FOLDS = 5
#: Margins of the region that are tried, in radii.
MARGINS = (0.05, 0.2, 1.0)
METHODS = ("split", "cross", "time")
#: Numbers in memory for bands that are made of many.
AT_ONCE = 2_000_000


@dataclass(frozen=True, repr=False, eq=False)
class Bands:
    """Predictions, and between what the next observed decisions lie with a given probability.

    Parameters
    ----------
    center, lower, upper : ndarray
        Predictions, and the ends of the bands.
    level : float
        Share of next decisions that such bands should hold.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.regressor import Bands
    >>> bands = Bands(np.array([1.0]), np.array([0.8]), np.array([1.2]), 0.9)
    >>> bands.contains([1.1])
    array([ True])
    >>> bands
    Bands(1 at level 0.9, mean width 0.4)
    """

    center: Array
    lower: Array
    upper: Array
    level: float

    @property
    def width(self) -> Array:
        """How wide each band is."""
        return np.asarray(self.upper - self.lower)

    def contains(self, values: ArrayLike) -> Mask:
        """Say for each value whether it lies in its band.

        Parameters
        ----------
        values : array-like
            Values of the shape of the bands.

        Returns
        -------
        ndarray of bool
            The answers.
        """
        given = np.asarray(values, dtype=float)
        return np.asarray((given >= self.lower) & (given <= self.upper))

    def __repr__(self) -> str:
        mean = float(self.width.mean()) if self.width.size else 0.0
        return f"Bands({self.width.size} at level {self.level:g}, mean width {mean:.4g})"


def check_level(level: float) -> float:
    """Return a level between zero and one; refuse anything else."""
    return float(require(level, "level", Number(0.0, 1.0, above=True, below=True)))


@dataclass(frozen=True, eq=False)
class Conformal:
    """What bands for the next decision need: the level and the scores of held-out decisions."""

    # Scales of the bands (n,); margin of the region, in radii; scores (N, n), of all decisions the
    # largest of a row; the fit of each score (N,), and parameters of the fits to the other parts,
    # none where rows were held out.
    level: float
    weights: Array
    margin: float
    scores: Array
    folds: Array
    thetas: Array

    def bands(
        self,
        region: Hypothesis,
        theta: Array,
        features: Array,
        costs: Array,
        joint: bool,
        level: float,
    ) -> Bands:
        """Return bands for decisions at new signals."""
        center = region.predict(theta, features, costs)
        scores = self.scores.max(axis=1, keepdims=True) if joint else self.scores
        scores = np.broadcast_to(scores, self.scores.shape)
        if not len(self.thetas):
            radii = _quantile(scores, level)
            box = self._box(region, theta, features, costs, center)
            return Bands(center, *box.at(radii[None]), level)
        return self._cross(region, features, costs, center, scores, level)

    def _box(
        self, region: Hypothesis, theta: Array, features: Array, costs: Array, center: Array
    ) -> _Box:
        low, high = region.ends(theta, features, costs.shape[1])
        return _Box(center, low, high, self.weights, self.margin)

    def _cross(
        self,
        region: Hypothesis,
        features: Array,
        costs: Array,
        center: Array,
        scores: Array,
        level: float,
    ) -> Bands:
        """Return the bands between quantiles of those of all fits, each with its scores."""
        count, size = len(scores), max(1, AT_ONCE // scores.size)
        rank = min(count, int(np.ceil(level * (count + 1) - ROUNDING)))
        lower, upper = np.empty(center.shape), np.empty(center.shape)
        for start in range(0, len(center), size):
            rows = slice(start, start + size)
            parts = []
            for fold, theta in enumerate(self.thetas):
                middle = region.predict(theta, features[rows], costs[rows])
                box = self._box(region, theta, features[rows], costs[rows], middle)
                parts.append(box.at(scores[self.folds == fold][:, None]))
            lowers, uppers = (np.concatenate(ends) for ends in zip(*parts, strict=True))
            lower[rows] = np.sort(lowers, axis=0)[count - rank]
            upper[rows] = np.sort(uppers, axis=0)[rank - 1]
        return Bands(center, np.minimum(lower, center), np.maximum(upper, center), level)


@dataclass(frozen=True)
class _Box:
    """Predictions, and the ends of the region, from which bands of a radius are made."""

    center: Array
    low: Array
    high: Array
    weights: Array
    margin: float

    def rows(self, rows: Indices) -> _Box:
        """Return those of some rows."""
        return replace(self, center=self.center[rows], low=self.low[rows], high=self.high[rows])

    def at(self, radius: Array) -> tuple[Array, Array]:
        """Return the ends of the bands of these radii, (..., 1 or N, n)."""
        half = radius * self.weights
        lower = np.maximum(self.center - half, self.low - self.margin * half)
        upper = np.minimum(self.center + half, self.high + self.margin * half)
        return np.minimum(lower, self.center), np.maximum(upper, self.center)

    def scores(self, decisions: Array) -> Array:
        """Return the least radius whose band holds each decision."""
        away = np.abs(decisions - self.center)
        violation = np.maximum(np.maximum(self.low - decisions, decisions - self.high), 0.0)
        # Where the region holds the center by rounding alone, it cuts nothing.
        inside = (self.low <= self.center) & (self.center <= self.high)
        violation = np.where(inside, violation, 0.0)
        return np.asarray(np.maximum(away, violation / self.margin) / self.weights)


def _quantile(scores: Array, level: float) -> Array:
    """Return the scores that a next one exceeds with probability at most 1 - level."""
    count = len(scores)
    rank = int(np.ceil(level * (count + 1) - ROUNDING))
    if rank > count:
        need = int(np.ceil(level / (1.0 - level) - ROUNDING))
        raise DataError(
            f"bands at level {level:g} need at least {need} rows to calibrate with; these are "
            f"{count}"
        )
    return np.asarray(np.sort(scores, axis=0)[rank - 1])


def split_conformal(
    region: Hypothesis,
    theta: Array,
    features: Array,
    costs: Array,
    decisions: Array,
    ranges: Array,
    level: float,
    in_time: bool = False,
) -> Conformal:
    """Calibrate on rows that were held out of the fit: coverage is guaranteed by exchangeability.

    With enough rows, every other one says how wide bands are beside each other and what margin the
    region needs, and the others how wide they are. Of rows in time the last ones say that, which
    follows errors that grow or shrink but guarantees nothing.
    """
    level = check_level(level)
    complete = ~np.isnan(decisions).any(axis=1)
    features, costs, decisions = features[complete], costs[complete], decisions[complete]
    center = region.predict(theta, features, costs)
    low, high = region.ends(theta, features, costs.shape[1])
    whole = _Box(center, low, high, np.maximum(ranges, TINY), 1.0)
    rows = np.arange(len(decisions))
    if len(rows) >= HALVED:
        last = min(len(rows) // 2, LAST)
        first, rows = (rows[:-last], rows[-last:]) if in_time else (rows[::2], rows[1::2])
        shaped = _shaped(whole.rows(first), decisions[first], ranges, level)
        whole = replace(whole, weights=shaped.weights, margin=shaped.margin)
    scores = whole.rows(rows).scores(decisions[rows])
    _quantile(scores, level)
    none = np.zeros(len(rows)), np.zeros((0, len(theta)))
    return Conformal(level, whole.weights, whole.margin, scores, *none)


def cross_conformal(
    region: Hypothesis,
    fits: CrossFit,
    features: Array,
    costs: Array,
    decisions: Array,
    ranges: Array,
    level: float = 0.9,
) -> Conformal:
    """Calibrate on the rows of the fit, each scored by a fit to other rows.

    Coverage of at least 1 - 2 (1 - level) is guaranteed, and about the level is usual.
    """
    level = check_level(level)
    low, high = np.empty(decisions.shape), np.empty(decisions.shape)
    for fold, theta in enumerate(fits.thetas):
        out = fits.folds == fold
        low[out], high[out] = region.ends(theta, features[out], costs.shape[1])
    rows = np.flatnonzero(~np.isnan(decisions).any(axis=1))
    box = _Box(fits.predicted, low, high, ranges, 1.0).rows(rows)
    box = _shaped(box, decisions[rows], ranges, level)
    scores = box.scores(decisions[rows])
    _quantile(scores, level)
    folds = fits.folds[rows].astype(float)
    # Folds may learn different numbers of facets: zeros behind parameters are facets not there.
    longest = max(map(len, fits.thetas))
    thetas = [np.append(theta, np.zeros(longest - len(theta))) for theta in fits.thetas]
    return Conformal(level, box.weights, box.margin, scores, folds, np.array(thetas))


def _shaped(box: _Box, decisions: Array, ranges: Array, level: float) -> _Box:
    """Return boxes as wide beside each other as errors are, with the margin that is narrowest."""
    least = VISIBLE_TOL * np.maximum(ranges, TINY)
    errors = np.abs(decisions - box.center)
    weights = np.maximum(np.quantile(errors, level, axis=0), least)
    boxes = [replace(box, weights=weights, margin=margin) for margin in MARGINS]
    return min(boxes, key=lambda each: _size(each, decisions, level))


def _size(box: _Box, decisions: Array, level: float) -> float:
    """Return the mean width of joint bands of the level on these rows, in units of the weights."""
    radius = np.quantile(box.scores(decisions).max(axis=1), level)
    lower, upper = box.at(np.full((1, decisions.shape[1]), radius))
    return float(((upper - lower) / box.weights).mean())


class CrossFit:
    """A model fitted to all but one of the parts of its rows, part after part.

    What the model chose is held. ``folds`` says which part each row is in; by default, parts are
    consecutive.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        costs: Any = None,
        weights: Any = None,
        folds: Indices | None = None,
    ) -> None:
        count, given = len(y), (X, y, costs, weights)
        if count < 2 * FOLDS:
            raise DataError(f"{count} rows are too few to hold parts of them out")
        self.folds = np.arange(count) * FOLDS // count if folds is None else folds
        self.thetas, found = [], []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeaslearnWarning)
            for fold in range(FOLDS):
                out = self.folds == fold
                inside, outside = (
                    [None if each is None else _taken(each, rows) for each in given]
                    for rows in (np.flatnonzero(~out), np.flatnonzero(out))
                )
                part = clone(model).set_params(hypothesis=model.hypothesis_)
                part.fit(*inside)
                predicted = np.asarray(part.predict(outside[0], outside[2]), dtype=np.float64)
                found.append(predicted.reshape(int(out.sum()), -1))
                self.thetas.append(part.theta_)
        self.predicted = np.empty((count, found[0].shape[1]))
        self.predicted[np.argsort(self.folds, kind="stable")] = np.concatenate(found)


def _taken(values: Any, rows: Indices) -> Any:
    """Return some rows of an array, a list or a frame."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "columns") and hasattr(values, "values"):
        return type(values)(np.asarray(values.values)[rows], list(values.columns))
    if hasattr(values, "columns"):
        return values[rows]
    return np.asarray(values)[rows]
