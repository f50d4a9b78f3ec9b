"""The charts of the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from feaslearn.arrays import Array, Indices
from feaslearn.regressor.limits import Limit
from feaslearn.report.binding import Calendar, binding_limits, calendar, duration
from feaslearn.report.samples import Samples
from feaslearn.tolerances import SAME_TOL, TINY

#: Decisions that have a chart, points in a chart, limits over time, points of their curves.
MOST_DECISIONS, MOST_POINTS, MOST_LIMITS, MOST_DURATION = 5, 600, 6, 150

#: Size of a chart, and the margins around its axes: left, right, top, bottom.
WIDTH, HEIGHT = 340, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 12, 40
#: Heights of a calendar and of the curve below, and shades of prices.
CALENDAR, DURATION, SHADES = 130, 150, 4


def spread_rows(count: int, most: int = MOST_POINTS) -> Indices:
    """Return so many row numbers at most, spread evenly."""
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


def charts(samples: Samples, labels: Sequence[str]) -> list[Chart]:
    """Return residuals, and predictions of what moves most; ``labels`` are those of decisions."""
    every = spread_rows(len(samples))
    far = samples.distances > SAME_TOL * max(float(samples.ranges.max()), TINY)
    return [
        *([_residuals(samples, every)] if far.any() else []),
        *(
            _prediction(labels[j], samples.observed[every, j], samples.predicted[every, j])
            for j in samples.moving[:MOST_DECISIONS]
        ),
    ]


def activities(samples: Samples, titled: Callable[[Limit], str]) -> list[dict[str, Any]]:
    """Return when each facet binds, the most valuable ones first: text, calendar, sorted prices."""
    when = None if samples.times is None else calendar(samples.times)
    return [
        {
            "title": titled(limit),
            "sentence": _when(limit, when),
            "calendar": None if when is None else _heat_map(when, limit.prices),
            "duration": _duration(limit),
        }
        for limit in binding_limits(samples.limits)[:MOST_LIMITS]
    ]


def _when(limit: Limit, when: Calendar | None) -> str:
    """Say how often a limit binds, and in which hours or on which days most."""
    text = f"Binds in {100 * limit.share:.0f} % of the rows, worth up to {limit.prices.max():.3g}"
    if when is None:
        return f"{text}."
    shares = [float(limit.binds[when.down == k].mean()) for k in np.unique(when.down)]
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    names = [when.rows[k] for k in np.unique(when.down)]
    if shares[most] == shares[least]:
        return f"{text}."
    return (
        f"{text}; most at {names[most]} ({100 * shares[most]:.0f} %), least at {names[least]} "
        f"({100 * shares[least]:.0f} %)."
    )


def _duration(limit: Limit) -> Chart:
    """Draw the shadow prices in falling order."""
    share, prices = duration(limit.prices)
    every = spread_rows(len(share), MOST_DURATION)
    ends = np.append(prices, 0.0)
    chart = Chart.around("Price-duration curve", "% of rows", "shadow price", share, ends, DURATION)
    chart.line("c0", share[every], prices[every])
    return chart


def _residuals(samples: Samples, every: Indices) -> Chart:
    """Draw how far each row is from its prediction, in the order of the data."""
    x, y = every.astype(float) + 1.0, samples.distances[every]
    chart = Chart.around(
        "Residuals in the order of the data", "row", "distance to prediction", x, np.append(y, 0.0)
    )
    chart.dots("dots", x, y)
    return chart


def _prediction(label: str, observed: Array, predicted: Array) -> Chart:
    seen = np.isfinite(observed)
    observed, predicted = observed[seen], predicted[seen]
    both = np.concatenate([observed, predicted])
    chart = Chart.around(label, "observed", "predicted", both, both)
    chart.line("ideal", *chart.ranges)
    chart.dots("dots", observed, predicted)
    return chart


# Small charts as paths: the page draws them without any script.


def _heat_map(when: Calendar, prices: Array) -> dict[str, Any]:
    """Return a calendar as one path for each shade: 0 does not bind, no row has no cell."""
    cells = when.mean(prices)
    most = max(float(np.nanmax(cells)), TINY)
    level = np.nan_to_num(np.ceil(cells / most * SHADES), nan=-1.0).astype(int)
    wide, high = (WIDTH - LEFT - RIGHT) / len(when.columns), CALENDAR / len(when.rows)
    paths = [""] * (SHADES + 1)
    for i, column in enumerate(level.T):
        # Cells of one shade that lie above each other are one rectangle.
        edges = np.flatnonzero(np.diff(column, prepend=-2, append=-2))
        for start, stop in pairwise(edges.tolist()):
            if column[start] >= 0:
                x, y = LEFT + i * wide, start * high
                paths[column[start]] += (
                    f"M{x:.1f} {y:.1f}h{0.92 * wide:.1f}v{(stop - start) * high:.1f}"
                    f"h{-0.92 * wide:.1f}z"
                )
    ends = [(float(LEFT), when.columns[0]), (float(WIDTH - RIGHT), when.columns[-1])]
    every = max(1, len(when.rows) // 4)
    return {
        "width": WIDTH,
        "height": CALENDAR + BOTTOM // 2,
        "shades": paths,
        "x_ticks": ends[: len(when.columns)],
        "y_ticks": [((k + 0.5) * high, when.rows[k]) for k in range(0, len(when.rows), every)],
        "unit": when.unit,
    }


@dataclass
class Chart:
    """One chart: its labels, ranges of axes, and marks: their class, path and name in the key."""

    title: str
    axes: tuple[str, str]
    ranges: tuple[tuple[float, float], tuple[float, float]]
    height: int = HEIGHT
    marks: list[tuple[str, str, str]] = field(default_factory=list)
    width: int = WIDTH

    @classmethod
    def around(
        cls, title: str, x_label: str, y_label: str, x: Array, y: Array, height: int = HEIGHT
    ) -> Chart:
        """Return an empty chart with margins around points."""
        ranges = _range(x[np.isfinite(x)]), _range(y[np.isfinite(y)])
        return cls(title, (x_label, y_label), ranges, height)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of the axes."""
        return LEFT, self.width - RIGHT, TOP, self.height - BOTTOM

    def at(self, values: Any, axis: int) -> Array:
        """Return horizontal (axis 0) or vertical (axis 1) positions."""
        left, right, top, bottom = self.box
        start, stop = ((left, right), (bottom, top))[axis]
        low, high = self.ranges[axis]
        return np.asarray(start + (np.asarray(values) - low) / (high - low) * (stop - start))

    def dots(self, kind: str, x: Array, y: Array, label: str = "") -> None:
        """Add dots: lines of no length with round ends."""
        seen = np.isfinite(x) & np.isfinite(y)
        places = zip(self.at(x[seen], 0), self.at(y[seen], 1), strict=True)
        self.marks.append((kind, "".join(f"M{a:.1f} {b:.1f}h0" for a, b in places), label))

    def shade(self, y: Array, above: bool) -> None:
        """Shade what lies above or below a line across the axes."""
        left, right, top, bottom = self.box
        a, b = np.clip(self.at(y, 1), top, bottom)
        end = top if above else bottom
        self.marks.append(("beyond", f"M{left} {a:.1f}L{right} {b:.1f}V{end}H{left}Z", ""))

    def line(self, kind: str, x: Any, y: Any, label: str = "") -> None:
        """Add a line."""
        places = [f"{a:.1f} {b:.1f}" for a, b in zip(self.at(x, 0), self.at(y, 1), strict=True)]
        self.marks.append((kind, f"M{'L'.join(places)}", label))

    def ticks(self, axis: int) -> list[tuple[float, str]]:
        """Return positions and labels of the marks on an axis."""
        steps = nice_steps(*self.ranges[axis])
        return [(float(self.at(step, axis)), _text(step)) for step in steps]


def nice_steps(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers in a range, about so many."""
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(f for f in (1.0, 2.0, 5.0, 10.0) if (high - low) / (f * step) <= count + 0.5)
    first, last = math.ceil(low / step - SAME_TOL), math.floor(high / step + SAME_TOL)
    # Written with ten digits and read again, 0.6000000000000001 is 0.6.
    return [float(f"{i * step:.10g}") for i in range(first, last + 1)]


def _range(values: Array) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    low, high = float(np.min(values)), float(np.max(values))
    margin = 0.04 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin


def _text(value: float) -> str:
    plain = 1.0 <= abs(value) < 1e5 and float(f"{value:.0f}") == value
    text = f"{value:.0f}" if plain else f"{value:.3g}"
    return text.replace("e+0", "e").replace("e-0", "e-").replace("-", "\u2212")
