"""The first screen of the report: learned limits, the evidence for one, and what rows rest on."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.inference.limits import Limit, limits_at, shorten
from feaslearn.inference.trust import MEANINGS, STATUSES, Trust
from feaslearn.plots.canvas import Units
from feaslearn.report.charts import Chart
from feaslearn.report.samples import Samples
from feaslearn.tolerances import VISIBLE_TOL

#: Limits that are shown before a fold, and the longest that is written in full.
UNFOLDED, LONGEST = 12, 60
#: Points of the picture.
MOST_POINTS = 600
#: Rows that were wrong without a warning and are named; wrong by this share of a decision's range.
NAMED, WRONG = 5, 0.05


class LimitRow(NamedTuple):
    """A limit as the page shows it."""

    name: str
    left: str
    relation: str
    typical: str
    span: str
    share: int
    worth: str
    status: str
    full: str
    folded: bool


class TrustLine(NamedTuple):
    """Rows with one status, and how far their predictions are off on average."""

    status: str
    meaning: str
    rows: int
    error: str


class FirstScreen(NamedTuple):
    """What is seen first.

    ``unit`` is that of all decisions, "" where they differ or have none.
    """

    limits: list[LimitRow]
    unseen: list[str]
    equalities: tuple[str, ...]
    chart: Chart | None
    caption: str
    trust: list[TrustLine]
    flag: str
    silent: list[str]
    unit: str


def first_screen(samples: Samples, units: Units) -> FirstScreen:
    """Return the limits at the rows of the report, with the evidence and the trust."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        limits = limits_at(samples.model, samples.signals, samples.given_costs)
        _, trust = samples.model.predict(
            samples.signals, costs=samples.given_costs, return_trust=True
        )
    seen = [limit for limit in limits if limit.status != "not seen"]
    rows = [_row(limit, i >= UNFOLDED) for i, limit in enumerate(seen)]
    unseen = [limit.fitted(LONGEST) for limit in limits if limit.status == "not seen"]
    table = vars(samples.model).get("_facets")
    chart, caption = _evidence(samples, seen)
    unit = _unit(samples, units)
    lines, flag, silent = _trust(samples, trust, unit)
    equalities = () if table is None else tuple(map(shorten, table.equalities))
    return FirstScreen(rows, unseen, equalities, chart, caption, lines, flag, silent, unit)


def _row(limit: Limit, folded: bool) -> LimitRow:
    middle, low, high = limit.typical
    text = limit.fitted(LONGEST)
    short = text != limit.text
    # A long limit is shown by its main terms and typical value; turned if that reads better.
    relation = ">=" if " >= " in text else "<="
    left = text.partition(f" {relation} ")[0] if short else limit.left
    sign = 1.0 if relation == limit.relation else -1.0
    ends = sorted((sign * low, sign * high))
    moves = high - low > VISIBLE_TOL * max(1.0, abs(middle))
    return LimitRow(
        limit.name if limit.is_facet else "",
        left,
        {"<=": "≤", ">=": "≥"}[relation],
        _number(sign * middle) if short or not moves else limit.right,
        f"{_number(ends[0])} to {_number(ends[1])}" if moves else "",
        round(100 * limit.share),
        f"{limit.worth:.3g}" if limit.worth < 1000 else _number(limit.worth),
        limit.status,
        limit.text if short else "",
        folded,
    )


def _evidence(samples: Samples, limits: list[Limit]) -> tuple[Chart | None, str]:
    """Draw each row's observed left side of the most valuable facet against its limit."""
    chosen = next((limit for limit in limits if limit.is_facet), limits[0] if limits else None)
    if chosen is None:
        return None, ""
    left, limit = samples.observed @ chosen.coefficients, chosen.limits
    every = np.unique(np.linspace(0, len(left) - 1, MOST_POINTS).round().astype(int))
    moves = np.ptp(limit) > VISIBLE_TOL * max(1.0, float(np.abs(limit).max()))
    x = limit if moves else np.arange(1.0, len(left) + 1.0)
    main = chosen.fitted(LONGEST) if chosen.main else chosen.text
    title = f"{chosen.name}: {main}" if chosen.is_facet else main
    chart = Chart.around(
        title,
        "limit of the row" if moves else "row",
        "left side, as observed",
        x[every],
        np.append(left[every], limit[every]),
    )
    ends = np.array([x[every].min(), x[every].max()])
    chart.line("wall", ends, ends if moves else np.full(2, limit[0]), "the limit")
    on = chosen.binds[every]
    chart.dots("dots", x[every][on], left[every][on], "rows in which it binds")
    chart.dots("loose", x[every][~on], left[every][~on], "other rows")
    return chart, _caption(chosen, left, limit)


def _caption(chosen: Limit, left: Array, limit: Array) -> str:
    """Say how many observed decisions lie beyond the limit."""
    over = (left - limit) * (1.0 if chosen.relation == "<=" else -1.0)
    seen = np.isfinite(over)
    size = max(float(np.nanstd(left)), float(np.abs(limit).max()) * VISIBLE_TOL)
    beyond = int((over[seen] > 0.01 * size).sum())
    on = int((np.abs(over[seen]) <= 0.01 * size).sum())
    text = f"{on} of {int(seen.sum())} observed decisions lie on the limit"
    return f"{text}, none beyond." if not beyond else f"{text}, {beyond} beyond."


def _trust(samples: Samples, trust: Trust, unit: str) -> tuple[list[TrustLine], str, list[str]]:
    """Return counts and errors by status, a line for the head, and wrong rows without a warning."""
    errors = np.abs(samples.observed - samples.predicted)
    mean = np.nanmean(errors, axis=1)
    lines = []
    for status in STATUSES:
        rows = trust.status == status
        if rows.any():
            error = _error(mean, rows, unit)
            lines.append(TrustLine(status, MEANINGS[status], int(rows.sum()), error))
    doubtful = ~trust.trusted
    flag = ""
    if doubtful.any():
        flag = (
            f"{int(doubtful.sum())} of {len(samples)} rows go beyond what the data show: "
            f"{_error(mean, doubtful, unit)} off there"
        )
        if (~doubtful).any():
            flag += f", {_error(mean, ~doubtful, unit)} elsewhere"
        flag += "."
    size = np.nanmax(samples.observed, axis=0) - np.nanmin(samples.observed, axis=0)
    wrong = (np.nan_to_num(errors) > WRONG * np.maximum(size, VISIBLE_TOL)).any(axis=1)
    rows = np.flatnonzero(wrong & trust.trusted)
    rows = rows[np.argsort(-mean[rows], kind="stable")]
    silent = [f"{samples.place(int(i))} ({_number(mean[i])} {unit} off)" for i in rows[:NAMED]]
    if len(rows) > NAMED:
        silent.append(f"{len(rows) - NAMED} more")
    return lines, flag, silent


def _error(mean: Array, rows: Mask, unit: str) -> str:
    return f"{_number(float(np.nanmean(mean[rows])))} {unit}".rstrip()


def _unit(samples: Samples, units: Units) -> str:
    """Return the unit that all decisions share."""
    if isinstance(units, str):
        return units
    if not isinstance(units, Mapping):
        return ""
    found = {units.get(name, "") for name in samples.data.names.decisions}
    return found.pop() if len(found) == 1 else ""


def _number(value: float) -> str:
    """Return a number with three or four digits, thousands apart."""
    if abs(value) < VISIBLE_TOL:
        return "0"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace(",", "\u202f").replace("-", "\u2212")
