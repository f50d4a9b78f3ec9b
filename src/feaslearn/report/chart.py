"""Small charts as paths: the page draws them without any script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Size of a chart, and the room around its axes: left, right, top, bottom.
WIDTH, HEIGHT = 340, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 10, 12, 40
#: A range of more than this factor is drawn on a logarithmic scale.
WIDE = 30.0


class Tick(NamedTuple):
    """A mark on an axis: where, and its text."""

    at: float
    text: str


class Mark(NamedTuple):
    """A path with the class that colours it, and what the legend calls it."""

    kind: str
    path: str
    label: str = ""


@dataclass
class Chart:
    """One chart: its texts, ticks and paths.

    Parameters
    ----------
    title, x_label, y_label : str
        Texts.
    xs, ys : pair of float
        Ranges of the axes.
    log : bool, default=False
        Whether the vertical axis is logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    xs: tuple[float, float]
    ys: tuple[float, float]
    log: bool = False
    marks: list[Mark] = field(default_factory=list)
    width: int = WIDTH
    height: int = HEIGHT

    @classmethod
    def around(
        cls, title: str, x_label: str, y_label: str, x: Array, y: Array, same: bool = False
    ) -> Chart:
        """Return an empty chart with room for points; ``same`` gives both axes one range."""
        x, y = x[np.isfinite(x)], y[np.isfinite(y)]
        if same:
            x = y = np.concatenate([x, y])
        log = bool(len(y) and y.min() > 0.0 and y.max() > WIDE * y.min() and not same)
        return cls(title, x_label, y_label, _range(x), _log_range(y) if log else _range(y), log)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of the axes."""
        return LEFT, self.width - RIGHT, TOP, self.height - BOTTOM

    def x(self, values: Array) -> Array:
        """Return horizontal places."""
        left, right, _, _ = self.box
        low, high = self.xs
        return np.asarray(left + (values - low) / (high - low) * (right - left))

    def y(self, values: Array) -> Array:
        """Return vertical places."""
        _, _, top, bottom = self.box
        low, high = (math.log10(end) if self.log else end for end in self.ys)
        heights = np.log10(np.maximum(values, self.ys[0])) if self.log else values
        return np.asarray(bottom - (heights - low) / (high - low) * (bottom - top))

    def dots(self, kind: str, x: Array, y: Array, label: str = "") -> None:
        """Add dots: lines of no length with round ends."""
        seen = np.isfinite(x) & np.isfinite(y)
        places = zip(self.x(x[seen]), self.y(y[seen]), strict=True)
        path = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in places)
        self.marks.append(Mark(kind, path, label))

    def line(self, kind: str, x: Array, y: Array, label: str = "") -> None:
        """Add a line."""
        places = [f"{a:.1f} {b:.1f}" for a, b in zip(self.x(x), self.y(y), strict=True)]
        self.marks.append(Mark(kind, f"M{'L'.join(places)}" if places else "", label))

    @property
    def x_ticks(self) -> list[Tick]:
        """Marks below the axes."""
        return [Tick(float(self.x(np.array(v))), _text(v)) for v in nice_steps(*self.xs)]

    @property
    def y_ticks(self) -> list[Tick]:
        """Marks beside the axes."""
        steps = _decades(*self.ys) if self.log else nice_steps(*self.ys)
        return [Tick(float(self.y(np.array(v))), _text(v)) for v in steps]

    @property
    def legend(self) -> list[Mark]:
        """Marks that have a name."""
        return [mark for mark in self.marks if mark.label]


def nice_steps(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers in a range, about so many.

    Examples
    --------
    >>> from feaslearn.report.chart import nice_steps
    >>> nice_steps(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / count))
    step *= next(f for f in (1.0, 2.0, 5.0, 10.0) if (high - low) / (f * step) <= count + 0.5)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Written with ten digits and read again, 0.6000000000000001 is 0.6.
    return [float(f"{i * step:.10g}") for i in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    every = max(1, math.ceil(len(decades) / 5))
    steps = [10.0**exponent for exponent in decades][::every]
    return steps if len(steps) > 1 else [low, math.sqrt(low * high), high]


def _range(values: Sequence[float] | Array) -> tuple[float, float]:
    if not len(values):
        return 0.0, 1.0
    low, high = float(np.min(values)), float(np.max(values))
    room = 0.04 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def _log_range(values: Array) -> tuple[float, float]:
    # Losses down to rounding errors would leave no room for the rest.
    low, high = max(float(values.min()), 1e-12 * float(values.max())), float(values.max())
    return low / 1.2, high * 1.2


def _text(value: float) -> str:
    return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-").replace("-", "\u2212")
