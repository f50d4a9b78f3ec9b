"""Problems of the data: what a reader should know before believing the rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.data.diagnostics import outliers
from feaslearn.inference.data_checks import check_data
from feaslearn.inference.roles import Finding, Roles
from feaslearn.messages import list_first
from feaslearn.report.limits import is_wrong
from feaslearn.report.samples import Samples
from feaslearn.tolerances import SAME_TOL

#: Usual distances from the median above which a value is an outlier.
FAR = 8.0
#: A larger share of values than this does not stand out.
RARE = 0.05
#: Fewer values than this have none that are far from the others.
FEW = 5
#: How a finding can be, worst first.
LEVELS = ("no", "note", "unknown", "ok")
#: Places that a finding names.
NAMED = 5


def find_problems(samples: Samples, train: Samples | None = None) -> list[Finding]:
    """Return what is odd about data and about the roles of columns, worst first."""
    found = [
        Finding("rows", "note", f"{text}: {list_first(places[:NAMED], len(places))}", repair)
        for places, text, repair in _oddities(samples, train)
        if places
    ]
    if samples.reader.priced:
        rows = train or samples
        data, reader = rows.data, rows.reader
        costs = (-1.0 if reader.maximises else 1.0) * rows.prices
        args = (data.signals, costs, rows.observed, data.names, rows.model.cost_, reader.maximises)
        found += check_data(Roles.of(*args))
    else:
        repair = "Without prices no region can be learned; the model is a linear policy"
        found.append(Finding("prices", "note", "no cost is known", repair))
    if not is_wrong(samples).any():
        # What looks like a switch is none where a convex region explains every row.
        found = [finding for finding in found if finding.check != "on/off"]
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def _oddities(samples: Samples, train: Samples | None) -> Iterator[tuple[list[str], str, str]]:
    """Yield places in the data, what is odd there, and what that means."""
    signals, observed, names = samples.data.signals, samples.observed, samples.data.names

    def places(mask: ArrayLike) -> list[str]:
        return [samples.place(int(row)) for row in np.flatnonzero(mask)]

    yield (
        places(np.isnan(observed).all(axis=1)),
        "rows without any decision",
        "They say nothing and can be dropped",
    )
    table = np.hstack([signals, np.nan_to_num(observed, nan=np.inf)])
    again = np.ones(len(table), dtype=bool)
    again[np.unique(table, axis=0, return_index=True)[1]] = False
    yield (
        places(again),
        "rows that repeat an earlier one",
        "A repeated row counts twice, and a held-out copy of it is no fair test",
    )
    yield (
        places(_conflicts(signals, observed)),
        "other decisions under the same signals",
        "Ties, noise, or a signal that is not in the data: no model explains both",
    )
    if samples.reader.priced:
        yield (
            places(~samples.prices.any(axis=1)),
            "rows in which every cost is zero",
            "Every decision of the region is optimal there, so these rows say little",
        )
        free = ~samples.prices.any(axis=0)
        yield (
            [] if free.all() else [repr(names.decisions[j]) for j in np.flatnonzero(free)],
            "decisions that never cost anything",
            "What they do is explained by the constraints alone",
        )
    for what, labels, values in zip(
        ("signals", "decisions"), names, (signals, observed), strict=True
    ):
        yield (
            [
                f"{label!r} in {samples.place(i)} ({column[i]:.4g})"
                for label, column in zip(labels, values.T, strict=True)
                for i in _far_out(column)
            ],
            f"values far from all others, {what}",
            "Check whether they are real; a few can bend a fit",
        )
    if train is not None:
        known = {row.tobytes() for row in np.hstack([train.data.signals, train.observed])}
        ours = np.hstack([signals, observed])
        yield (
            places(np.array([row.tobytes() in known for row in ours])),
            "rows that the model was fitted to",
            "They are no fair test of it",
        )


def _conflicts(signals: Array, observed: Array) -> Mask:
    """Return rows whose complete decision is not that of another row with the same signals."""
    groups = np.unique(signals, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(groups, kind="stable")
    seen, gaps = np.nan_to_num(observed)[order], np.asarray(np.isnan(observed[order]))
    differ = np.abs(np.diff(seen, axis=0)) > SAME_TOL * max(1.0, float(np.abs(seen).max()))
    found = np.zeros(len(order), dtype=bool)
    same = np.diff(groups[order]) == 0
    found[order[1:]] = same & differ.any(axis=1) & ~(gaps[1:] | gaps[:-1]).any(axis=1)
    return found


def _far_out(column: Array) -> list[int]:
    """Return rows whose value in a column is an outlier."""
    seen = np.flatnonzero(~np.isnan(column))
    found = (
        outliers(column[seen, None], gross=FAR, far=FAR, most=RARE) if len(seen) >= FEW else None
    )
    return [] if found is None else seen[found.indices].tolist()
