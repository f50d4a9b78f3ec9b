"""Display of when learned limits bind, and of what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.arrays import Array, Indices
from feaslearn.exceptions import DataError
from feaslearn.plots.canvas import BLUE, finish, new_panels, shortened, write
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.limits import Limit, limits_at

#: Days, weeks, months or years side by side.
MOST_COLUMNS = 62
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
#: Longest limit above a panel.
LONGEST = 60


@dataclass(eq=False, repr=False)
class FacetsOverTimeDisplay:
    r"""Shadow prices of facets :math:`a_j'x \le f_j'\phi(s)` over time, and sorted.

    One line of panels for each facet: on the left its shadow price by hour and day, or row by row
    where no times are given, white where it does not bind; on the right the same prices in falling
    order, the price-duration curve. A model without facets shows its bounds.

    Parameters
    ----------
    limits : sequence of Limit
        Limits at rows, as `from_estimator` finds them.
    times : sequence of datetime, default=None
        When the rows were.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure, once drawn.
    axes_ : ndarray of matplotlib Axes of shape (m, 2)
        Calendar and price-duration curve of each facet.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, line_capacity=1.5, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> model = model.fit(data.signals, data.decisions)
    >>> display = fl.plots.FacetsOverTimeDisplay.from_estimator(
    ...     model, data.signals)  # doctest: +SKIP
    >>> display.figure_.savefig("over_time.png")  # doctest: +SKIP
    """

    limits: Sequence[Limit]
    times: Sequence[datetime] | None = None

    @classmethod
    def from_estimator(
        cls,
        model: RegionRegressor,
        X: ArrayLike,
        *,
        costs: ArrayLike | None = None,
        times: Sequence[datetime] | None = None,
        most: int = 6,
    ) -> FacetsOverTimeDisplay:
        """Draw when the facets of a fitted model bind.

        Parameters
        ----------
        model : RegionRegressor
            A fitted model whose rows are known, such as one of `Facets`.
        X : array-like or frame of shape (N, K)
            Signals.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals.
        times : sequence of datetime, default=None
            When the rows were.
        most : int, default=6
            Facets to show, the most valuable first.

        Returns
        -------
        FacetsOverTimeDisplay
            The display, drawn.
        """
        return cls(limits_at(model, X, costs), times).plot(most=most)

    def plot(self, *, most: int = 6) -> FacetsOverTimeDisplay:
        """Draw the picture.

        Parameters
        ----------
        most : int, default=6
            Facets to show, the most valuable first.

        Returns
        -------
        FacetsOverTimeDisplay
            This display.
        """
        shown = binding_limits(self.limits)[:most]
        if not shown:
            raise DataError("no known limit binds in these rows, so there is nothing to draw")
        when = None
        if self.times is not None:
            when = calendar(np.array(self.times, dtype="datetime64[s]"))
            if len(when.down) != len(shown[0].prices):
                raise DataError(f"{len(when.down)} times for {len(shown[0].prices)} rows")
        size = (9.5, 0.6 + (1.5 if when is None else 2.1) * len(shown))
        figure, axes = new_panels(len(shown), 2, size, width_ratios=[2, 1])
        for (left, right), limit in zip(axes, shown, strict=True):
            _draw_prices(left, limit, when)
            _draw_duration(right, limit)
            name = f"{limit.name}: " if limit.is_facet else ""
            write(left, "title", shortened(f"{name}{limit.fitted(LONGEST)}", 80), fontsize="medium")
        write(
            axes[-1, 0], "xlabel", "row" if when is None else f"by {when.unit}; white: not binding"
        )
        write(axes[-1, 1], "xlabel", "% of rows")
        self.figure_, self.axes_ = figure, axes
        return self


def _draw_prices(ax: Any, limit: Limit, when: Calendar | None) -> None:
    """Draw shadow prices in a calendar, or as a strip of rows."""
    cells = limit.prices[None] if when is None else when.mean(limit.prices)
    cells = np.where(cells > 0.0, cells, np.nan)
    image = ax.imshow(cells, cmap="Blues", vmin=0.0, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="shadow price", pad=0.01)
    if when is None:
        ax.set_yticks([])
        return
    every = max(1, len(when.rows) // 4)
    ax.set_yticks(range(0, len(when.rows), every), when.rows[::every])
    ends = [0, len(when.columns) - 1] if len(when.columns) > 1 else [0]
    ax.set_xticks(ends, [when.columns[end] for end in ends])


def _draw_duration(ax: Any, limit: Limit) -> None:
    """Draw the shadow prices in falling order."""
    share, prices = duration(limit.prices)
    ax.fill_between(share, prices, step="post", color=BLUE, alpha=0.25, lw=0)
    ax.step(share, prices, where="post", color=BLUE)
    ax.set_xlim(0.0, 100.0)
    ax.set_ylim(bottom=0.0)
    ax.set_title(f"binds in {100 * limit.share:.0f} % of rows", fontsize="medium")
    finish(ax)


# What the report draws as well.


class Calendar(NamedTuple):
    """Cells of a calendar, and the cell of each row: hours of days, or weekdays of weeks."""

    down: Indices
    across: Indices
    rows: list[str]
    columns: list[str]
    unit: str

    def mean(self, values: Array) -> Array:
        """Return the mean of the rows in each cell, NaN where there is none."""
        sums, counts = (np.zeros((len(self.rows), len(self.columns))) for _ in range(2))
        np.add.at(sums, (self.down, self.across), values)
        np.add.at(counts, (self.down, self.across), 1.0)
        return np.where(counts > 0.0, sums / np.maximum(counts, 1.0), np.nan)


def calendar(times: NDArray[np.datetime64]) -> Calendar:
    """Return the calendar of rows: by day, or week, month or year where there are many."""
    days = times.astype("datetime64[D]")
    hours = (times - days).astype("timedelta64[h]").astype(int)
    rows = [f"{hour:02d} h" for hour in range(24)]
    units = {"D": "day", "W": "week", "M": "month", "Y": "year"}
    if not hours.any():
        # 1970-01-01 was a Thursday.
        hours, rows = (days.astype(int) + 3) % 7, list(WEEKDAYS)
        del units["D"]
    for code in units:
        spans = times.astype(f"datetime64[{code}]")
        across = (spans - spans.min()).astype(int)
        if across.max() < MOST_COLUMNS:
            break
    columns = [str((spans.min() + k).astype("datetime64[D]")) for k in range(across.max() + 1)]
    return Calendar(hours, across, rows, columns, units[code])


def duration(prices: Array) -> tuple[Array, Array]:
    """Return percent of rows, and the shadow price that so many reach: from 0 to 100."""
    falling = np.sort(prices)[::-1]
    return np.linspace(0.0, 100.0, len(prices) + 1), np.append(falling, falling[-1:])


def binding_limits(limits: Sequence[Limit]) -> list[Limit]:
    """Return the facets that bind in some rows, or else the bounds of decisions that move."""
    binding = [limit for limit in limits if limit.binds.any() and not limit.never_moved]
    return [limit for limit in binding if limit.is_facet] or binding
