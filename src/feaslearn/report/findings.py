"""Problems of the data: what a reader should know before believing the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.data.diagnostics import outliers
from feaslearn.messages import list_first
from feaslearn.report.samples import Samples
from feaslearn.tolerances import SAME_TOL

Array = NDArray[np.float64]

#: Usual distances from the median beyond which a value is far out.
FAR = 8.0
#: A larger share of values than this does not stand out.
RARE = 0.05
#: Rows for each feature below which a fit has little to rest on.
FEW = 5
#: Places that a finding names.
NAMED = 5


class Finding(NamedTuple):
    """One thing found: how much it matters, what it is, and what it means."""

    level: str
    what: str
    meaning: str


def find_problems(samples: Samples, train: Samples | None = None) -> list[Finding]:
    """Look for everything that is odd about data.

    Parameters
    ----------
    samples : Samples
        The rows of the report.
    train : Samples, default=None
        The rows of the fit, where they are others.

    Returns
    -------
    list of Finding
        What was found, warnings first; empty if nothing.
    """
    checks = (_constant, _missing, _duplicates, _conflicts, _zero_costs, _ties)
    found = [finding for check in checks for finding in check(samples)]
    found += [*_far_out(samples), *_dependent(samples), *_few(train or samples), *_empty(samples)]
    if train is not None:
        found += _beyond(samples, train)
    return sorted(found, key=lambda finding: finding.level != "warning")


def _constant(samples: Samples) -> Iterator[Finding]:
    for what, names, table in _tables(samples):
        still = [
            name
            for name, column in zip(names, table.T, strict=True)
            if len(seen := column[~np.isnan(column)]) and np.ptp(seen) == 0.0
        ]
        if still and len(samples) > 1:
            listed = list_first([repr(name) for name in still[:NAMED]], len(still))
            meaning = {
                "signal": "Nothing can be learned about how the region moves with it.",
                "decision": "It is predicted as a constant; drop it if it is one.",
            }[what]
            yield Finding("warning", f"Constant {what}: {listed}.", meaning)


def _missing(samples: Samples) -> Iterator[Finding]:
    gaps = np.isnan(samples.observed)
    if gaps.any():
        counts = [
            f"{name!r} {count}"
            for name, count in zip(samples.data.names.decisions, gaps.sum(axis=0), strict=True)
            if count
        ]
        yield Finding(
            "note",
            f"Decisions that were not observed: {list_first(counts[:NAMED], len(counts))}.",
            "They do not count in any loss; the other decisions of their rows do.",
        )
    blank = np.flatnonzero(gaps.all(axis=1))
    if len(blank):
        yield Finding(
            "warning",
            f"Rows without any decision: {_places(blank, samples.place)}.",
            "They say nothing and can be dropped.",
        )


def _duplicates(samples: Samples) -> Iterator[Finding]:
    rows = np.hstack([samples.data.signals, np.nan_to_num(samples.observed, nan=np.inf)])
    _, first = np.unique(rows, axis=0, return_index=True)
    again = np.setdiff1d(np.arange(len(rows)), first)
    if len(again):
        yield Finding(
            "warning",
            f"Rows that repeat an earlier one: {_places(again, samples.place)}.",
            "A repeated row counts twice, and a held-out copy of it is no fair test.",
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
            "warning",
            f"Other decisions under the same signals: {_places(rows, samples.place)}.",
            "Ties, noise, or a signal that is not in the data: no model explains both.",
        )


def _zero_costs(samples: Samples) -> Iterator[Finding]:
    if not samples.reader.priced:
        yield Finding(
            "warning",
            "No cost is known.",
            "Without prices no region can be learned; the model is a linear policy.",
        )
        return
    rows = np.flatnonzero(~samples.prices.any(axis=1))
    if len(rows):
        yield Finding(
            "warning",
            f"Rows in which every cost is zero: {_places(rows, samples.place)}.",
            "Every decision of the region is optimal there, so these rows say little.",
        )
    free = ~samples.prices.any(axis=0)
    if free.any() and not free.all():
        names = [repr(samples.data.names.decisions[j]) for j in np.flatnonzero(free)]
        yield Finding(
            "note",
            f"Decisions that never cost anything: {list_first(names[:NAMED], len(names))}.",
            "What they do is explained by the constraints alone.",
        )


def _ties(samples: Samples) -> Iterator[Finding]:
    rows = np.flatnonzero(samples.trust.status == "tie")
    if samples.reader.priced and len(rows):
        yield Finding(
            "note",
            f"Rows in which several decisions are cheapest: {_places(rows, samples.place)}.",
            "The model returns one of them; another may have been taken.",
        )


def _far_out(samples: Samples) -> Iterator[Finding]:
    for what, names, table in _tables(samples):
        places = []
        for name, column in zip(names, table.T, strict=True):
            seen = np.flatnonzero(~np.isnan(column))
            if len(seen) < FEW:
                continue
            found = outliers(column[seen, None], gross=FAR, far=FAR, most=RARE)
            far = seen[:0] if found is None else seen[found.places]
            places += [f"{name!r} in {samples.place(int(i))} ({column[i]:.4g})" for i in far]
        if places:
            yield Finding(
                "warning",
                f"Values far from all others, {what}s: {list_first(places[:NAMED], len(places))}.",
                "Check whether they are real; a few can bend a fit.",
            )


def _dependent(samples: Samples) -> Iterator[Finding]:
    features = samples.features[:, 1:] - samples.features[:, 1:].mean(axis=0)
    moving = features[:, features.any(axis=0)]
    if moving.shape[1] and len(moving) > moving.shape[1]:
        rank = int(np.linalg.matrix_rank(moving / np.abs(moving).max(axis=0), tol=None))
        if rank < moving.shape[1]:
            yield Finding(
                "note",
                f"{moving.shape[1]} features span only {rank} dimensions.",
                "Some are combinations of others, so which of them moves the region is a "
                "matter of choice.",
            )


def _few(samples: Samples) -> Iterator[Finding]:
    k = samples.features.shape[1]
    if len(samples) < FEW * k:
        yield Finding(
            "warning",
            f"{len(samples)} rows for {k} features.",
            "That is little to learn from; expect more rows to change the region.",
        )


def _empty(samples: Samples) -> Iterator[Finding]:
    rows = np.flatnonzero(samples.trust.status == "relaxed")
    if len(rows):
        yield Finding(
            "warning",
            f"No decision satisfies all that was learned: {_places(rows, samples.place)}.",
            "These signals are unlike those of the fit; the nearest possible decision is shown.",
        )


def _beyond(samples: Samples, train: Samples) -> Iterator[Finding]:
    low, high = train.data.signals.min(axis=0), train.data.signals.max(axis=0)
    margin = 0.01 * (high - low)
    outside = (samples.data.signals < low - margin) | (samples.data.signals > high + margin)
    rows = np.flatnonzero(outside.any(axis=1))
    if len(rows):
        yield Finding(
            "note",
            f"Signals outside the range of the fit: {_places(rows, samples.place)}.",
            "There the region is an extrapolation.",
        )
    known = {row.tobytes() for row in np.hstack([train.data.signals, train.observed])}
    ours = np.hstack([samples.data.signals, samples.observed])
    seen = np.array([row.tobytes() in known for row in ours])
    if seen.any():
        yield Finding(
            "warning",
            f"Rows that the model was fitted to: {_places(np.flatnonzero(seen), samples.place)}.",
            "They are no fair test of it.",
        )


def _tables(samples: Samples) -> list[tuple[str, Sequence[str], Array]]:
    names = samples.data.names
    return [
        ("signal", names.signals, samples.data.signals),
        ("decision", names.decisions, samples.observed),
    ]


def _places(rows: NDArray[np.intp], place: Callable[[int], str]) -> str:
    return list_first([place(int(row)) for row in rows[:NAMED]], len(rows))
