"""Known constraints against the observed decisions, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import column_names
from feaslearn.exceptions import DataError, InfeasibleProblemError
from feaslearn.hypotheses.constrained import half_spaces_of
from feaslearn.hypotheses.nearest_known import least_broken
from feaslearn.known import KnownLimits, ResolvedKnown, resolve_known
from feaslearn.messages import list_first, row_number
from feaslearn.regressor.fit_problems import FitProblems
from feaslearn.sets.conic_solver import nearest_by_solver
from feaslearn.sets.half_spaces import HalfSpaces

Array = NDArray[np.float64]

#: Samples that a message names.
NAMED = 5
#: Rows that a solver's answer misses by less are met, and forces that are smaller are none.
CLOSE = 1e-6
#: What an exact answer may break a row by, and how far it may be from that of the solver.
HOLDS, FAR = 1e-12, 1e-4


def check_known(
    known: Any, X: Any, signals: Array | None, n: int | None, problems: FitProblems
) -> ResolvedKnown | None:
    """Check known constraints against the columns, and that they have values at all signals."""
    resolved = resolve_known(
        known,
        n_decisions=n or None,
        signal_names=column_names(X),
        n_signals=None if signals is None else signals.shape[1] or None,
        problems=problems,
    )
    if resolved is None or signals is None or not np.isfinite(signals).all():
        return None
    with problems.taking():
        resolved.at(signals)
    return resolved


def _check_consistent(
    limits: KnownLimits, decisions: Array, tolerance: float, suspects: NDArray[np.intp]
) -> None:
    """Refuse constraints that no decision satisfies; a linear program certifies it.

    Where a decision, moved into the bounds and onto the equalities, satisfies all rows, none is
    needed.
    """
    found: list[tuple[np.intp, float]] = []
    suspected = limits.rows(suspects)
    moved = suspected.settled(np.nan_to_num(decisions[suspects]))
    for i in suspects[suspected.broken(moved, tolerance)]:
        one = limits.rows(slice(i, i + 1))
        x = least_broken(one)[None]
        if one.broken(x, tolerance)[0]:
            found.append((i, float(one.beyond(x).max())))
    if found:
        places = [f"row {row_number(i)} (by {gap:.3g})" for i, gap in found[:NAMED]]
        raise DataError(
            "RegionRegressor: known: no decision satisfies all constraints at "
            f"{list_first(places, len(found))}; they contradict each other there"
        )


def reconcile(
    known: ResolvedKnown,
    limits: KnownLimits,
    decisions: Array,
    weights: Array,
    names: Sequence[str],
) -> tuple[Array, Array, tuple[str, ...]]:
    """Return decisions and weights that known constraints can live with, and what was done.

    Raises
    ------
    DataError
        If constraints contradict each other at a sample, or decisions break them and the user did
        not say what to do about it.
    """
    specification = known.specification
    tolerance = float(specification.tolerance)
    over = limits.beyond(decisions)
    over[over <= tolerance * limits.sizes(decisions)] = 0.0
    over[weights <= 0.0] = 0.0
    # A complete decision that satisfies all of them proves that they can be satisfied.
    unsure = over.any(axis=1) | (np.isnan(decisions).any(axis=1) & (weights > 0.0))
    _check_consistent(limits, decisions, tolerance, np.flatnonzero(unsure))
    rows = np.flatnonzero(over.any(axis=1))
    if not len(rows):
        return decisions, weights, ()
    labels = known.row_names(names)
    worst = over[rows].argmax(axis=1)
    places = [
        f"row {row_number(i)} breaks {labels[j]} by {over[i, j]:.4g}"
        for i, j in zip(rows[:NAMED], worst[:NAMED], strict=True)
    ]
    told = list_first(places, len(rows))
    action = specification.contradictions
    if action == "raise":
        raise DataError(
            f"RegionRegressor: known constraints contradict observed decisions: {told}. Correct "
            "them, or choose Known(contradictions='project', 'drop' or 'keep')"
        )
    if action == "drop":
        weights = weights.copy()
        weights[rows] = 0.0
        observed = ~np.isnan(decisions[weights > 0.0])
        if not observed.any():
            raise DataError(
                f"RegionRegressor: every observed decision contradicts known constraints: {told}"
            )
        if not observed.any(axis=0).all():
            nothing = names[int(observed.any(axis=0).argmin())]
            raise DataError(
                "RegionRegressor: without the samples that contradict known constraints, nothing "
                f"is observed of {nothing!r}: {told}"
            )
        return decisions, weights, (f"{len(rows)} samples were left out: {told}",)
    if action == "project":
        decisions = decisions.copy()
        for i in rows:
            decisions[i] = nearest_decision(limits.rows(slice(i, i + 1)), decisions[i])
        return decisions, weights, (f"{len(rows)} decisions were moved: {told}",)
    return decisions, weights, (f"{len(rows)} decisions break known constraints: {told}",)


def nearest_decision(limits: KnownLimits, x: Array) -> Array:
    """Return the nearest decision that satisfies the constraints; unobserved entries stay so."""
    seen = ~np.isnan(x)
    numbers = np.concatenate([x, *(side.ravel() for side in limits[2:])])
    # The solver's tolerances are absolute.
    unit = float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)) or 1.0
    relative = KnownLimits(limits.G, limits.E, *(side / unit for side in limits[2:]))
    M, target = np.where(seen[:, None], np.eye(len(x)), 0.0), np.where(seen, x, 0.0) / unit
    rows = half_spaces_of(relative)
    try:
        near = nearest_by_solver(rows.form(), M, target, "l2").latent
        near = unit * (_on_active_rows(rows, target, near) if seen.all() else near)
    except InfeasibleProblemError:
        near = least_broken(limits)
    return np.where(seen, limits.settled(near[None])[0], np.nan)


def _on_active_rows(rows: HalfSpaces, target: Array, near: Array) -> Array:
    """Return the nearest point to the last digit, given about where a solver saw it.

    It is the projection onto those rows that are met with equality and push back.
    """
    active = rows.b - rows.A @ near <= CLOSE * (1.0 + np.abs(rows.b))
    for _ in range(len(near) + 1):
        K = np.vstack([rows.E, rows.A[active]])
        gap = np.concatenate([rows.e, rows.b[active]]) - K @ target
        forces = np.linalg.lstsq(K @ K.T, gap, rcond=1e-12)[0]
        wrong = forces[len(rows.E) :] > CLOSE
        if not wrong.any():
            break
        active[np.flatnonzero(active)[wrong]] = False
    found = target + K.T @ forces
    holds = (rows.A @ found <= rows.b + HOLDS * (1.0 + np.abs(rows.b))).all()
    return found if holds and np.abs(found - near).max() <= FAR else near
