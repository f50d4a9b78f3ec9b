"""Bands around what a model says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import UnsupportedError
from feaslearn.messages import did_you_mean
from feaslearn.parameters import Number, require

KINDS = ("bias-aware", "percentile", "basic", "normal")
#: Share of the samples that a sample drawn with replacement holds: 1 - 1/e.
DISTINCT = 1.0 - np.exp(-1.0)


@dataclass(frozen=True, repr=False, eq=False)
class Bands:
    """What a model says, and between what something else lies with a given probability.

    From `bootstrap` that is what the same class would say with ample data, from
    `predict_interval` the next observed decision.

    Parameters
    ----------
    center, lower, upper : ndarray
        The model's answers, and the ends of the bands.
    level : float
        The share of such bands that should hold it.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.inference.bands import Bands
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

    def _repr_html_(self) -> str:
        tables = (np.atleast_2d(part) for part in (self.center, self.lower, self.upper))
        rows = "".join(
            "<tr>"
            + "".join(f"<td>{x:.4g} [{a:.4g}, {b:.4g}]</td>" for x, a, b in zip(*row, strict=True))
            + "</tr>"
            for row in list(zip(*tables, strict=True))[:20]
        )
        return f"<table><caption>{self!r}</caption>{rows}</table>"


def check_level(level: float) -> float:
    """Return a level between zero and one; refuse anything else."""
    return float(require(level, "level", Number(0.0, 1.0, above=True, below=True)))


def normal_bands(center: Array, deviations: Array, level: float) -> Bands:
    """Return bands of as many standard deviations as a normal law asks for."""
    half = norm.ppf(0.5 + check_level(level) / 2.0) * deviations
    return Bands(center, center - half, center + half, float(level))


def bands_of(center: Array, draws: Array, level: float, kind: str) -> Bands:
    r"""Return bands for answers whose draws are ``draws`` (B, ...).

    "bias-aware" bands are :math:`z \sqrt{\sigma^2 + \beta^2}` wide on each side. What refits drift
    on average, they drift for holding fewer distinct samples, a share of :math:`1 - 1/e`. A bias
    that falls like :math:`1/\sqrt N` drifts by :math:`\beta ((1 - 1/e)^{-1/2} - 1)`, which gives
    :math:`\beta`; what the number of draws alone makes of the drift is taken off.
    """
    if kind not in KINDS:
        raise UnsupportedError(f"kind={kind!r} is not known; {did_you_mean(str(kind), KINDS)}")
    tail = 0.5 - check_level(level) / 2.0
    if kind in ("percentile", "basic"):
        low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
        if kind == "basic":
            low, high = 2.0 * center - high, 2.0 * center - low
        return Bands(center, low, high, float(level))
    variance = draws.var(axis=0, ddof=1)
    if kind == "bias-aware":
        drift = np.maximum((draws.mean(axis=0) - center) ** 2 - variance / len(draws), 0.0)
        variance = variance + drift / (DISTINCT**-0.5 - 1.0) ** 2
    return normal_bands(center, np.sqrt(variance), level)
