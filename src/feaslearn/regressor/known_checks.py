"""Known constraints against the observed decisions, and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import column_names
from feaslearn.exceptions import DataError, InfeasibleProblemError, list_first
from feaslearn.hypotheses.constrained import half_spaces_of
from feaslearn.hypotheses.nearest_known import least_broken
from feaslearn.known import KnownLimits, ResolvedKnown, resolve_known
from feaslearn.regressor.fit_problems import FitProblems
from feaslearn.sets.conic_solver import nearest_by_solver

Array = NDArray[np.float64]

#: Samples that a message names.
NAMED = 5


def check_known(
    known: Any, X: Any, signals: Array | None, n: int | None, problems: FitProblems
) -> ResolvedKnown | None:
    """Check known constraints against the columns; they must have a decision at every signal."""
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
        check_consistent(resolved, resolved.at(signals), "X")
    return resolved


def check_consistent(known: ResolvedKnown, limits: KnownLimits, where: str) -> None:
    """Refuse constraints that no decision satisfies, naming the samples."""
    empty = contradictory(limits, float(known.specification.tolerance))
    rows = np.flatnonzero(empty > 0.0)
    if len(rows):
        places = [f"row {i} (by {empty[i]:.3g})" for i in rows[:NAMED]]
        raise DataError(
            f"known: no decision satisfies all constraints at {list_first(places, len(rows))} of "
            f"{where}; they contradict each other there"
        )


def contradictory(limits: KnownLimits, tolerance: float) -> Array:
    """Return by how much constraints contradict each other at each sample; zero if they do not.

    A linear program certifies it wherever a quick look does not find a decision.
    """
    found = np.zeros(len(limits.e))
    middle = np.clip(0.0, limits.lower, limits.upper)
    guess = limits.settled(np.clip(limits.on_flat(middle), limits.lower, limits.upper))
    crossing = (limits.lower > limits.upper).any(axis=1)
    for i in np.flatnonzero(limits.broken(guess, tolerance) | crossing):
        one = limits.rows(slice(i, i + 1))
        x = least_broken(one)[None]
        if one.broken(x, tolerance)[0]:
            found[i] = one.beyond(x).max()
    return found


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
        If decisions break the constraints, and the user did not say what to do about it.
    """
    specification = known.specification
    over = limits.beyond(decisions)
    over[over <= float(specification.tolerance) * limits.sizes(decisions)] = 0.0
    over[weights <= 0.0] = 0.0
    rows = np.flatnonzero(over.any(axis=1))
    if not len(rows):
        return decisions, weights, ()
    labels = known.row_names(names)
    worst = over[rows].argmax(axis=1)
    places = [
        f"row {i} breaks {labels[j]} by {over[i, j]:.4g}"
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
        if not weights.any():
            raise DataError(
                f"RegionRegressor: every observed decision contradicts known constraints: {told}"
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
    form = half_spaces_of(limits).form()
    seen = ~np.isnan(x)
    M, target = np.where(seen[:, None], np.eye(len(x)), 0.0), np.where(seen, x, 0.0)
    try:
        near = nearest_by_solver(form, M, target, "l2").latent
    except InfeasibleProblemError:
        near = least_broken(limits)
    return np.where(seen, limits.settled(near[None])[0], np.nan)
