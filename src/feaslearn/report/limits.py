"""The first screen of the report: learned limits, the evidence for one, and what rows rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from feaslearn.arrays import Array, Mask
from feaslearn.inference.trust import MEANINGS, STATUSES
from feaslearn.plots.canvas import Units
from feaslearn.regressor.limits import Limit, shorten
from feaslearn.report.charts import Chart, spread_rows
from feaslearn.report.comparison import is_training
from feaslearn.report.samples import Samples
from feaslearn.tolerances import VISIBLE_TOL

#: Limits that are shown before a fold, and the longest that is written in full.
UNFOLDED, LONGEST = 12, 60
#: Rows that were wrong without a warning and are named; wrong by this share of a decision's range.
NAMED, WRONG = 5, 0.05
#: Share of the rows of which the error is within what the table of trust says.
WITHIN = 0.9


def first_screen(samples: Samples, units: Units) -> dict[str, Any]:
    """Return what the page shows first: limits at its rows, the evidence for one, and trust."""
    limits = [limit for limit in samples.limits if not limit.never_moved]
    still = dict.fromkeys(limit.never_moved for limit in samples.limits if limit.never_moved)
    seen = [limit for limit in limits if limit.status != "not seen"]
    table = vars(samples.model).get("_facets")
    unit = _unit(samples, units)
    return {
        "limits": [_row(limit, i >= UNFOLDED) for i, limit in enumerate(seen)],
        "still": list(still),
        "unseen": [pretty(limit.honest) for limit in limits if limit.status == "not seen"],
        "equalities": [] if table is None else list(map(shorten, table.equalities)),
        "unit": unit,
        **_evidence(samples, seen),
        **_trust(samples, unit),
    }


def pretty(text: str) -> str:
    """Return a limit with signs as they are printed."""
    text = text.replace("<=", "≤").replace(">=", "≥").replace(" -", " \u2212")
    return f"\u2212{text[1:]}" if text.startswith("-") else text


def _row(limit: Limit, folded: bool) -> dict[str, Any]:
    """Return a limit as the page shows it."""
    middle, low, high = limit.typical
    text = limit.fitted(LONGEST)
    short = text != limit.text
    # A long limit is shown by its main terms and typical value; turned if that reads better.
    relation = ">=" if " >= " in text else "<="
    left = text.partition(f" {relation} ")[0] if short else limit.left
    sign = 1.0 if relation == limit.relation else -1.0
    ends = sorted((sign * low, sign * high))
    moves = high - low > VISIBLE_TOL * max(1.0, abs(middle))
    return {
        "name": limit.name if limit.is_facet else "",
        "left": pretty(left),
        "relation": pretty(relation),
        "typical": number(sign * middle) if short or not moves else pretty(limit.right),
        "span": f"{number(ends[0])} to {number(ends[1])}" if moves else "",
        "share": round(100 * limit.share),
        "worth": f"{limit.worth:.3g}" if limit.worth < 1000 else number(limit.worth),
        "status": limit.status,
        "full": pretty(limit.text) if short else "",
        "folded": folded,
    }


def titled(limit: Limit) -> str:
    """Return a limit with its name, for the head of a picture."""
    text = pretty(limit.fitted(LONGEST))
    return f"{limit.name}: {text}" if limit.is_facet else text


def _evidence(samples: Samples, limits: list[Limit]) -> dict[str, Any]:
    """Draw each row's observed left side of the most valuable facet against its limit."""
    chosen = next((limit for limit in limits if limit.is_facet), limits[0] if limits else None)
    if chosen is None:
        return {"chart": None}
    left, limit = samples.observed @ chosen.coefficients, chosen.limits
    every = spread_rows(len(left))
    moves = np.ptp(limit) > VISIBLE_TOL * max(1.0, float(np.abs(limit).max()))
    x = limit if moves else np.arange(1.0, len(left) + 1.0)
    chart = Chart.around(
        titled(chosen),
        "limit of the row" if moves else "row",
        "left side, as observed",
        x[every],
        np.append(left[every], limit[every]),
    )
    ends = np.array(chart.ranges[0])
    wall = ends if moves else np.full(2, limit[0])
    chart.shade(wall, above=chosen.relation == "<=")
    chart.line("wall", ends, wall, "the limit, and beyond it")
    on = chosen.binds[every]
    chart.dots("loose", x[every][~on], left[every][~on], "other rows")
    chart.dots("dots", x[every][on], left[every][on], "rows in which it binds")
    full = "" if chosen.fitted(LONGEST) == chosen.text else pretty(chosen.text)
    return {"chart": chart, "caption": _caption(chosen, left, limit), "formula": full}


def _caption(chosen: Limit, left: Array, limit: Array) -> str:
    """Say how many observed decisions lie beyond the limit."""
    over = (left - limit) * (1.0 if chosen.relation == "<=" else -1.0)
    seen = np.isfinite(over)
    size = max(float(np.nanstd(left)), float(np.abs(limit).max()) * VISIBLE_TOL)
    beyond = int((over[seen] > 0.01 * size).sum())
    on = int((np.abs(over[seen]) <= 0.01 * size).sum())
    text = f"{on} of {int(seen.sum())} observed decisions lie on the limit"
    return f"{text}, none beyond." if not beyond else f"{text}, {beyond} beyond."


def _trust(samples: Samples, unit: str) -> dict[str, Any]:
    """Return counts and errors by status, a line for the head, and wrong rows without a warning."""
    trust, seen = samples.trust, ~np.isnan(samples.observed).all(axis=1)
    mean, worst = np.full((2, len(samples)), np.nan)
    mean[seen] = np.nanmean(samples.errors[seen], axis=1)
    worst[seen] = np.nanmax(samples.errors[seen], axis=1)

    def off(rows: Mask) -> str:
        rows = rows & seen
        return f"{number(float(mean[rows].mean()) if rows.any() else np.nan)} {unit}".rstrip()

    lines = []
    for status in STATUSES:
        rows = trust.status == status
        if rows.any():
            within = np.nanquantile(worst[rows & seen], WITHIN) if (rows & seen).any() else np.nan
            lines.append(
                {
                    "status": status,
                    "meaning": MEANINGS[status],
                    "rows": int(rows.sum()),
                    "error": off(rows),
                    "within": f"{number(within)} {unit}",
                }
            )
    silent = np.flatnonzero(is_wrong(samples).any(axis=1) & trust.trusted)
    silent = silent[np.argsort(-mean[silent], kind="stable")]
    flag, count = "", int((~trust.trusted).sum())
    if count:
        here, others = off(~trust.trusted), off(trust.trusted)
        flag = f"{count} of {len(samples)} rows {'goes' if count == 1 else 'go'} beyond the data"
        if here == others:
            flag += f", as exact as the others ({here} off)"
        else:
            flag += f": {here} off there" + (f", {others} elsewhere" if trust.trusted.any() else "")
        flag += " (errors of the fit itself)." if is_training(samples) else "."
    if len(silent):
        flag += f" {len(silent)} {'is' if len(silent) == 1 else 'are'} wrong without a warning."
    named = [
        f"{samples.place(int(i))} ({number(mean[i])} {unit}".rstrip() + " off)"
        for i in silent[:NAMED]
    ]
    named += [f"{len(silent) - NAMED} more"] if len(silent) > NAMED else []
    return {
        "trust": lines,
        "trusted": trust.trusted.any(),
        "flag": flag.strip(),
        "silent": named,
    }


def is_wrong(samples: Samples) -> Mask:
    """Say which decisions are off by more than a share of their range."""
    # A decision that did not move counts by the range of those that did.
    usual = max(float(samples.ranges.max()), VISIBLE_TOL)
    size = np.where(samples.ranges > VISIBLE_TOL * usual, samples.ranges, usual)
    return np.asarray(np.nan_to_num(samples.errors) > WRONG * size)


def _unit(samples: Samples, units: Units) -> str:
    """Return the unit that all decisions share."""
    if isinstance(units, str):
        return units
    if not isinstance(units, Mapping):
        return ""
    found = {units.get(name, "") for name in samples.data.names.decisions}
    return found.pop() if len(found) == 1 else ""


def number(value: float) -> str:
    """Return a number with three or four digits, thousands apart."""
    if np.isnan(value):
        return "–"
    if abs(value) < VISIBLE_TOL:
        return "0"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return text.replace(",", "\u202f").replace("-", "\u2212")
