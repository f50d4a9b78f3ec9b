r"""Rows whose decisions lie far beyond all others: gross errors, as a broken meter makes them.

Decisions are compared with a linear policy that such rows do not move: it minimises
:math:`\sum_i \|x_i - \beta'\phi_i\|`, lengths that are not squared, by weighted least squares with
weights :math:`1 / \|x_i - \beta'\phi_i\|` again and again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from feaslearn.data import Shard, ShardSource, shards, shards_of
from feaslearn.data.observed import observed
from feaslearn.kernels.norms import SQUARED_L2
from feaslearn.losses import Loss, Objective, Predictability, Suboptimality
from feaslearn.messages import list_first, row_number
from feaslearn.trainers.least_squares import least_squares

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

#: A row this many times as far from the policy as usual rows are from the middle decision is a
#: gross error, and where there is one, so are those as far as this. (Distances of usual rows from
#: the policy are no measure: it may be exact for most, and off where a rare constraint binds.)
GROSS, FAR = 50.0, 20.0
#: Usual rows are this share of all.
USUAL = 0.7
#: More rows than this share are no outliers but another way to decide.
MOST = 0.25
#: Distances below this share of the largest decision are rounding.
ROUNDING = 1e-9
#: Signals and costs must explain the usual decisions as chance would with this probability: what
#: scatters around a single point is noise, and says nothing of how large the region is.
CHANCE = 1e-3
#: Rows beyond this many usual distances make a closer look necessary.
LOOK = 4.0
#: Rows that the policy is fitted to, and how often they are weighed anew.
FITTED, ROUNDS = 2000, 30
#: The detail of a result that says how many rows a search left out.
LEFT_OUT = "far rows left out"
#: Rows that a message names.
NAMED = 5


class FarRows(NamedTuple):
    """Places of the rows, and how many times as far as usual the nearest of them lies."""

    places: Indices
    times: float


def far_rows(rows: Shard) -> FarRows | None:
    """Return the rows whose decisions are far beyond all others, None where there are none.

    Rows whose features are as far from those of others are not judged: their decisions may well be
    right.
    """
    features, _, decisions, _ = rows
    away = _lengths(decisions - _middle(decisions))
    some = rows.rows(np.arange(0, len(away), -(-len(away) // FITTED)))
    if not (_stand_out(away) or _stand_out(_lengths(decisions - features @ _least_squares(some)))):
        return None  # as nearly always
    left = _lengths(decisions - features @ _policy(some))
    usual = _usual(away)
    if not usual > ROUNDING * np.nanmax(np.abs(decisions)):
        return None
    times = left / (usual * _leverage(features))
    far = times > FAR
    # Rows that are excused by their features are no usual ones either.
    if times.max() < GROSS or far.mean() > MOST or not _explained(rows.rows(left <= FAR * usual)):
        return None
    return FarRows(np.flatnonzero(far), float(times[far].min()))


def without_far_rows(objective: Objective) -> Objective:
    """Return an objective for searches that far rows would lead astray, without them.

    Squared losses ask to follow such rows, so nothing is left out for them, nor from chunks. Other
    norms ask not to, but a search that begins at least squares would begin far from all others.
    """
    source = objective.shards
    if isinstance(source, ShardSource) or objective.loss.norm_code() == SQUARED_L2:
        return objective
    learned = objective.learned()
    many = objective.n_samples > len((some := shards_of(learned.shards).first).weights)
    found = far_rows(some)
    if found is not None and many:
        found = far_rows(learned.whole())
    if found is None:
        return objective
    near = objective.whole().rows(np.delete(np.arange(objective.n_samples), found.places))
    near = near._replace(weights=near.weights / near.weights.sum())
    return replace(objective.within("near"), shards=list(shards(near)), drawn=True)


def follows_far_rows(loss: Loss) -> bool:
    """Say whether a loss is one of ours and squared; of others, nothing is known."""
    return isinstance(loss, Predictability | Suboptimality) and loss.norm_code() == SQUARED_L2


def told_of(found: FarRows, squared: bool, where: str) -> str:
    """Return the warning; ``where`` says which rows they are, or how many."""
    told = (
        f"{where}: decisions {found.times:.0f} times as far from the linear policy as usual ones "
        "are from their middle, or more"
    )
    if squared:
        return (
            f"{told}. Squared losses follow such rows: take them out if they are errors, or use a "
            "norm that resists them, as in loss=Predictability('l1')"
        )
    return f"{told}. The search left them out, losses count them; take them out if they are errors"


def named(numbers: Indices) -> str:
    """Return the numbers of rows in words."""
    return list_first([f"row {row_number(number)}" for number in numbers[:NAMED]], len(numbers))


def _stand_out(lengths: Array) -> bool:
    return bool(lengths.max() > LOOK * _usual(lengths))


def _least_squares(rows: Shard) -> Array:
    return least_squares(rows.features, rows.decisions, rows.weights)


def _middle(decisions: Array) -> Array:
    """Return the median of each decision, of what was observed; zero where that is nothing."""
    if not np.isnan(decisions.sum()):
        return np.asarray(np.median(decisions, axis=0))
    never = np.isnan(decisions).all(axis=0)
    return np.asarray(np.nanmedian(np.where(never, 0.0, decisions), axis=0))


def _policy(rows: Shard) -> Array:
    """Return the linear policy (k, n) of least mean length of what it leaves."""
    features, _, decisions, _ = rows
    left = _lengths(decisions - _middle(decisions))
    beta = np.zeros((features.shape[1], decisions.shape[1]))
    for _ in range(ROUNDS):
        shortest = 1e-9 * float(left.max())
        if not shortest > 0.0:
            break
        before, beta = beta, least_squares(features, decisions, 1.0 / np.maximum(left, shortest))
        left = _lengths(decisions - features @ beta)
        if np.abs(beta - before).max() <= 1e-3 * np.abs(beta).max():
            break
    return beta


def _usual(lengths: Array) -> float:
    return float(np.quantile(lengths, USUAL))


def _lengths(residuals: Array) -> Array:
    """Return the length of each row; what was not observed does not count."""
    seen = np.nan_to_num(residuals)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", seen, seen)))


def _leverage(features: Array) -> Array:
    """Return how many usual distances the features of each row are from their middle, at least 1.

    A feature that hardly ever differs from its middle excuses the rows in which it does.
    """
    away = np.abs(features - np.median(features, axis=0))
    usual = np.quantile(away, USUAL, axis=0)
    times = np.divide(away, usual, out=np.where(away > 0.0, np.inf, 0.0), where=usual > 0.0)
    return np.asarray(np.maximum(1.0, times.max(axis=1)))


def _explained(rows: Shard) -> bool:
    """Say whether features and costs explain some of the decisions, by an F-test of all of them."""
    lengths = np.linalg.norm(rows.costs, axis=1, keepdims=True)
    costs = rows.costs / np.where(lengths > 0.0, lengths, 1.0)
    inputs = np.hstack([rows.features, costs])
    size = inputs.shape[1] - 1
    freedom = len(inputs) - 1 - size
    if freedom < 1 or not size:
        return False
    decisions = rows.decisions
    left = decisions - inputs @ least_squares(inputs, decisions, np.ones(len(inputs)))
    noise = float(np.nansum(left**2)) / freedom
    mean = np.nansum(decisions, axis=0) / np.maximum(1, observed(decisions))
    total = float(np.nansum((decisions - mean) ** 2))
    ratio = (total - freedom * noise) / (size * noise) if noise > 0.0 else np.inf
    return bool(fdtrc(size, freedom, max(0.0, ratio)) < CHANCE)
