"""When limits bind: cells of a calendar, sorted shadow prices, and the limits worth a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices
from feaslearn.regressor.limits import Limit

#: Days, weeks, months or years side by side.
MOST_COLUMNS = 62
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


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
