"""Problems of the data: what a reader should know before believing the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from feaslearn.arrays import Array, Indices
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
    checks = (_blank, _duplicates, _conflicts, _zero_costs, _far_out)
    found = [finding for check in checks for finding in check(samples)]
    if train is not None:
        found += _fitted(samples, train)
    if samples.reader.priced:
        rows = train or samples
        costs = (-1.0 if rows.reader.maximises else 1.0) * rows.prices
        found += check_data(
            Roles.of(
                rows.data.signals,
                costs,
                rows.observed,
                rows.data.names,
                rows.model.cost_,
                rows.reader.maximises,
            )
        )
    if not is_wrong(samples).any():
        # What looks like a switch is none where a convex region explains every row.
        found = [finding for finding in found if finding.check != "on/off"]
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def _blank(samples: Samples) -> Iterator[Finding]:
    blank = np.flatnonzero(np.isnan(samples.observed).all(axis=1))
    if len(blank):
        yield Finding(
            "rows",
            "note",
            f"rows without any decision: {_places(blank, samples.place)}",
            "They say nothing and can be dropped",
        )


def _duplicates(samples: Samples) -> Iterator[Finding]:
    rows = np.hstack([samples.data.signals, np.nan_to_num(samples.observed, nan=np.inf)])
    _, first = np.unique(rows, axis=0, return_index=True)
    again = np.setdiff1d(np.arange(len(rows)), first)
    if len(again):
        yield Finding(
            "rows",
            "note",
            f"rows that repeat an earlier one: {_places(again, samples.place)}",
            "A repeated row counts twice, and a held-out copy of it is no fair test",
        )


def _conflicts(samples: Samples) -> Iterator[Finding]:
    groups = np.unique(samples.data.signals, axis=0, return_inverse=True)[1].ravel()
    seen = np.nan_to_num(samples.observed)
    order = np.argsort(groups, kind="stable")
    same = np.diff(groups[order]) == 0
    differ = np.abs(np.diff(seen[order], axis=0)).max(axis=1, initial=0.0) > SAME_TOL * max(
        1.0, float(np.abs(seen).max())
    )
    gaps = np.asarray(np.isnan(samples.observed[order]).any(axis=1))
    rows = np.sort(order[1:][same & differ & ~(gaps[1:] | gaps[:-1])])
    if len(rows):
        yield Finding(
            "rows",
            "note",
            f"other decisions under the same signals: {_places(rows, samples.place)}",
            "Ties, noise, or a signal that is not in the data: no model explains both",
        )


def _zero_costs(samples: Samples) -> Iterator[Finding]:
    if not samples.reader.priced:
        yield Finding(
            "prices",
            "note",
            "no cost is known",
            "Without prices no region can be learned; the model is a linear policy",
        )
        return
    rows = np.flatnonzero(~samples.prices.any(axis=1))
    if len(rows):
        yield Finding(
            "rows",
            "note",
            f"rows in which every cost is zero: {_places(rows, samples.place)}",
            "Every decision of the region is optimal there, so these rows say little",
        )
    free = ~samples.prices.any(axis=0)
    if free.any() and not free.all():
        names = [repr(samples.data.names.decisions[j]) for j in np.flatnonzero(free)]
        yield Finding(
            "rows",
            "note",
            f"decisions that never cost anything: {list_first(names[:NAMED], len(names))}",
            "What they do is explained by the constraints alone",
        )


def _far_out(samples: Samples) -> Iterator[Finding]:
    for what, names, table in _tables(samples):
        places = []
        for name, column in zip(names, table.T, strict=True):
            seen = np.flatnonzero(~np.isnan(column))
            if len(seen) < FEW:
                continue
            found = outliers(column[seen, None], gross=FAR, far=FAR, most=RARE)
            far = seen[:0] if found is None else seen[found.indices]
            places += [f"{name!r} in {samples.place(int(i))} ({column[i]:.4g})" for i in far]
        if places:
            yield Finding(
                "rows",
                "note",
                f"values far from all others, {what}s: {list_first(places[:NAMED], len(places))}",
                "Check whether they are real; a few can bend a fit",
            )


def _fitted(samples: Samples, train: Samples) -> Iterator[Finding]:
    known = {row.tobytes() for row in np.hstack([train.data.signals, train.observed])}
    ours = np.hstack([samples.data.signals, samples.observed])
    seen = np.array([row.tobytes() in known for row in ours])
    if seen.any():
        yield Finding(
            "rows",
            "note",
            f"rows that the model was fitted to: {_places(np.flatnonzero(seen), samples.place)}",
            "They are no fair test of it",
        )


def _tables(samples: Samples) -> list[tuple[str, Sequence[str], Array]]:
    names = samples.data.names
    return [
        ("signal", names.signals, samples.data.signals),
        ("decision", names.decisions, samples.observed),
    ]


def _places(rows: Indices, place: Callable[[int], str]) -> str:
    return list_first([place(int(row)) for row in rows[:NAMED]], len(rows))
