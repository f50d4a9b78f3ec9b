"""True facets of a known region, and how many of them data determine and a model recovers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Directions that vary by less than this, relative to the largest, are equalities of the data.
RANK = 1e-7
#: A row whose slack is below this, in standard deviations along the normal, lies on the facet.
ON = 1e-6
#: Largest difference between the coefficients of two facets that are the same.
SAME = 1e-6
#: Rows that a facet needs beyond their rank to be determined.
CONFIRMED = 3


class Inequalities(NamedTuple):
    """Rows ``a x <= f phi(s)``, phi the constant and then the signals without costs."""

    a: Array
    f: Array

    def __add__(self, other: tuple[Any, ...]) -> Inequalities:
        return Inequalities(*(np.vstack(pair) for pair in zip(self, other, strict=True)))


def bounds_as_rows(lower: Array, upper: Array, n_features: int) -> Inequalities:
    """Return the finite ones of constant bounds of all decisions as rows."""
    a = np.vstack([-np.eye(len(lower)), np.eye(len(upper))])
    constant = np.concatenate([-lower, upper])
    f = np.zeros((len(constant), n_features))
    f[:, 0] = constant
    finite = np.isfinite(constant)
    return Inequalities(a[finite], f[finite])


def without_hidden(program: Any) -> Inequalities:
    """Return the inequalities of a program whose equations determine its hidden variables.

    The angles of a grid are determined by the dispatch but for a shift that moves no flow, so that
    the least-norm solution serves. The features are the constant and the signals without costs:
    the decisions have the first columns of the signals as costs.
    """
    n = program.n_decisions
    lower, upper = (
        np.column_stack([rows.constant, rows.slope[:, n:]])
        for rows in (program.row_lower, program.row_upper)
    )
    matrix = program.matrix.toarray()
    equations = (lower == upper).all(axis=1)
    own, hidden = matrix[:, :n], matrix[:, n:]
    solved = np.linalg.pinv(hidden[equations])
    moved = hidden[~equations] @ solved
    a = own[~equations] - moved @ own[equations]
    f = moved @ lower[equations]
    sides = [
        Inequalities(sign * a, sign * (limit[~equations] - f))
        for sign, limit in ((1.0, upper), (-1.0, lower))
    ]
    rows = sides[0] + sides[1]
    finite = np.isfinite(rows.f).all(axis=1)
    bounds = bounds_as_rows(program.lower[:n], program.upper[:n], lower.shape[1])
    return Inequalities(rows.a[finite], rows.f[finite]) + bounds


class Coordinates:
    """Coordinates of inequalities modulo the equalities that hold in all rows of some data.

    Decisions and signals are standardised, and what no row tells apart is left out: columns that
    never move, dependent features, multiples of equalities. ``R`` numbers are left.

    Parameters
    ----------
    features : ndarray of shape (N, k)
        The constant, then the signals without costs.
    decisions : ndarray of shape (N, n)
        The decisions.

    Attributes
    ----------
    points : ndarray of shape (N, R)
        The rows; the slack of an inequality is their product with its coordinates.
    """

    def __init__(self, features: Array, decisions: Array) -> None:
        moving = np.hstack([-decisions, features[:, 1:]])
        self._mean, spread = moving.mean(axis=0), moving.std(axis=0)
        size = np.maximum(np.abs(moving).max(axis=0), 1e-12)
        # A column that never moves is a multiple of the constant.
        self._spread = np.where(spread > 1e-9 * size, spread, 0.0)
        scaled = (moving - self._mean) / np.where(self._spread > 0.0, self._spread, np.inf)
        table = np.column_stack([scaled, np.ones(len(moving))])
        _, values, directions = np.linalg.svd(table, full_matrices=False)
        self._basis = directions[values > RANK * values[0]].T
        self.points = table @ self._basis

    def __call__(self, rows: Inequalities) -> Array:
        """Return coordinates of length one; zero for rows that equalities imply."""
        moving = np.hstack([rows.a, rows.f[:, 1:]])
        constant = rows.f[:, 0] + moving @ self._mean
        found = np.column_stack([moving * self._spread, constant]) @ self._basis
        size = np.linalg.norm(found, axis=1)
        whole = np.linalg.norm(moving * self._spread, axis=1) + np.abs(constant)
        alive = size > RANK * np.maximum(whole, 1e-300)
        return np.asarray(found * (alive / np.where(alive, size, 1.0))[:, None])

    def on(self, coordinates: Array) -> Mask:
        """Say which rows lie on which inequality, shape (N, m)."""
        slack = self.points @ coordinates.T
        return np.asarray(np.abs(slack) < ON)


def same(ours: Array, others: Array, tolerance: float = SAME) -> Mask:
    """Say which of our inequalities are among the others, both by their coordinates."""
    found = np.zeros(len(ours), dtype=bool)
    for j, each in enumerate(ours):
        found[j] = (np.abs(others - each).max(axis=1, initial=0.0) < tolerance).any()
    return found


def distinct(coordinates: Array) -> Array:
    """Return the coordinates without repetitions and without rows that are zero."""
    kept: list[Array] = []
    for each in coordinates:
        if each.any() and not same(each[None], np.array(kept).reshape(-1, len(each)), SAME)[0]:
            kept.append(each)
    return np.array(kept).reshape(-1, coordinates.shape[1])


def shared_bounds(decisions: Array, n_features: int) -> Inequalities:
    """Return the bounds of decisions that at least two rows share."""
    ends = []
    for sign in (1.0, -1.0):
        extreme = (sign * decisions).min(axis=0)
        near = ON * np.maximum(decisions.std(axis=0), 1e-12)
        shared = (sign * decisions <= extreme + near).sum(axis=0) >= 2
        ends.append(np.where(shared, sign * extreme, -sign * np.inf))
    return bounds_as_rows(ends[0], ends[1], n_features)


class Recovery(NamedTuple):
    """Counts of facets; those of several fits can be added.

    Parameters
    ----------
    learned, active, determined, recovered : int
        Facets of the model; true facets on which a training row lies (not all of them: that is an
        equality); those of them that the rows determine; those of these that the model has. What a
        bound states that two rows share counts in none of the last three.
    identified, true : int
        Facets that the model calls identified, and those of them that are true; one on which all
        rows lie is an equality of the data and does not count as true.
    called : int
        Facets that the rows determine and that the model has and calls identified.
    """

    learned: int = 0
    active: int = 0
    determined: int = 0
    recovered: int = 0
    identified: int = 0
    true: int = 0
    called: int = 0

    def __add__(self, other: tuple[Any, ...]) -> Recovery:
        return Recovery(*(a + b for a, b in zip(self, other, strict=True)))


def determined_facets(truth: Inequalities, features: Array, decisions: Array) -> tuple[Array, Mask]:
    """Return the active true facets that no shared bound states, and which the rows determine.

    A facet is determined if the rows on it have all but one of the ranks of all rows, and are at
    least three more than that.
    """
    space = Coordinates(features, decisions)
    facets = distinct(space(truth))
    rows_on = space.on(facets)
    stated = same(facets, space(shared_bounds(decisions, features.shape[1])))
    active = rows_on.any(axis=0) & ~rows_on.all(axis=0) & ~stated
    full = space.points.shape[1] - 1
    sure = np.zeros(active.sum(), dtype=bool)
    for j, chosen in enumerate(rows_on.T[active]):
        if chosen.sum() >= full + CONFIRMED:
            values = np.linalg.svd(space.points[chosen], compute_uv=False)
            sure[j] = (values > RANK * values[0]).sum() == full
    return facets[active], sure


def is_identified(facet: Any) -> bool:
    """Say whether a model calls one of its facets identified."""
    flag = getattr(facet, "identified", None)
    return getattr(facet, "status", None) == "identified" if flag is None else bool(flag)


def learned_inequalities(table: Iterable[Any], n: int, n_features: int) -> Inequalities:
    """Return the facets of a fitted model as rows."""
    facets = list(table)
    a = np.array([facet.normal for facet in facets]).reshape(-1, n)
    return Inequalities(a, np.array([facet.limit for facet in facets]).reshape(-1, n_features))


def count_recovered(
    table: Iterable[Any],
    truth: Inequalities,
    features: Array,
    decisions: Array,
    tolerance: float = SAME,
) -> Recovery:
    """Compare the facets of a model with the truth.

    Parameters
    ----------
    table : iterable of LearnedFacet
        The facets of the model.
    truth : Inequalities
        All inequalities of the region, bounds included.
    features, decisions : ndarray of shape (N, k) and (N, n)
        The training rows, exact.
    tolerance : float, default=SAME
        How far coefficients of the same facet may differ, in standardised units.

    Returns
    -------
    Recovery
        The counts.
    """
    facets = list(table)
    active, sure = determined_facets(truth, features, decisions)
    space = Coordinates(features, decisions)
    found = space(learned_inequalities(facets, decisions.shape[1], features.shape[1]))
    named = found[[j for j, facet in enumerate(facets) if is_identified(facet)]]
    return Recovery(
        len(facets),
        len(active),
        int(sure.sum()),
        int(same(active[sure], found, tolerance).sum()),
        len(named),
        int(same(named, distinct(space(truth)), tolerance).sum()),
        int(same(active[sure], named, tolerance).sum()),
    )
