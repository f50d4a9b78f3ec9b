"""Trust in single decisions: the limits they rest on, and what the data say about those."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.arrays import Array, Indices, Mask
from feaslearn.costs import AffineCost, FunctionCost
from feaslearn.exceptions import UnseenLimitWarning
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.coverage import (
    IDENTIFIED,
    SEEN,
    UNSEEN,
    RowCoverage,
    binding_limits,
    is_priced,
)
from feaslearn.messages import list_first

#: Rows that are minimised together.
BLOCK = 65_536
#: What a decision can rest on, better first.
MEANINGS = {
    "identified": "rest on limits that the data determine",
    "seen": "rest on limits that the data show, with coefficients that could be others",
    "not seen": "rest on a limit that the data never show, or where one is missing",
    "out of range": "have a signal or a what-if price outside the range of the data",
    "relaxed": "have an empty region: limits were relaxed as little as possible",
    "tie": "are one of several decisions of least cost, as far as the data show",
}
STATUSES = tuple(MEANINGS)
#: Share of the range by which a signal may lie outside of it.
MARGIN = 0.01
#: Share of ordinary predictions that may rest on limits not seen without a warning, and of samples
#: held by the same limits that may lie off them.
SILENT = 0.05
#: Decisions that are checked for a warning where finding their limits takes further minima.
MOST_CHECKED = 1000
#: Limits that a warning names.
NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class Trust:
    """What each decision rests on.

    Parameters
    ----------
    status : ndarray of str of shape (N,)
        "identified" where the data determine all limits that the decision rests on, "seen" where
        samples were at all of them, "not seen" where no price ever pushed to one, or where samples
        held by the same limits lie elsewhere, so that one is missing; "out of range" where the
        signal lies outside of that of the data, or what-if prices do and limits are missing,
        "relaxed" where the region is empty, so that a decision near to it is returned, "tie" where
        several decisions are optimal, as far as errors in the data allow to tell. The last of these
        that applies.
    rests_on : ndarray of str of shape (N,)
        Names of the limits that hold the decision, with blanks between: facets as in ``facets_``,
        bounds as "plant_1<=" (it can go no higher) and "plant_1>="; of images of latent points,
        those that were not seen.
    in_range : ndarray of bool of shape (N,)
        Whether every signal lies within its range in the data of the fit, and 1 % of that.
    unseen : ndarray of bool of shape (N,)
        Whether the decision rests on a limit that was not seen, whatever its status.
    limits : tuple of str
        The limits that were not seen and that decisions rest on, most of them first.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(300, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> _ = model.fit(data.signals[:200], data.decisions[:200])
    >>> decisions, trust = model.predict(data.signals[200:], return_trust=True)
    >>> bool(trust.trusted.mean() > 0.9)
    True
    """

    status: NDArray[np.str_]
    rests_on: NDArray[np.object_]
    in_range: Mask
    unseen: Mask
    limits: tuple[str, ...] = ()

    @property
    def trusted(self) -> Mask:
        """Where the decision rests on limits that the data show, in their range, and on no tie."""
        return np.asarray(np.isin(self.status, STATUSES[:2]))

    @property
    def counts(self) -> dict[str, int]:
        """How many decisions have each status, those with none left out."""
        names, counts = np.unique(self.status, return_counts=True)
        found = dict(zip(names.tolist(), counts.tolist(), strict=True))
        return {name: found[name] for name in STATUSES if name in found}

    def __repr__(self) -> str:
        parts = [f"{count} {name}" for name, count in self.counts.items()]
        return f"Trust({len(self.status)} decisions: {', '.join(parts)})"


def is_in_range(model: Any, signals: Array, prices: Array | None) -> Mask:
    """Say which signals lie in the range of the data.

    The region does not depend on prices: at what-if ``prices``, their range counts only where some
    limit is known to be missing.
    """
    seen, columns = vars(model)["_seen"], [*range(signals.shape[1])]
    if prices is not None and model.cost_ is not None:
        priced = list(model.cost_.columns)
        by_columns = not isinstance(model.cost_.specification, AffineCost | FunctionCost)
        if by_columns and priced and seen.rows.regimes.size:
            signals = signals.copy()
            signals[:, priced] = -prices if vars(model)["_reader"].maximises else prices
        else:
            columns = [j for j in columns if j not in priced]
    low, high = seen.signals[:, columns]
    margin = MARGIN * (high - low)
    values = signals[:, columns]
    return np.asarray(((values >= low - margin) & (values <= high + margin)).all(axis=1))


def trace_decisions(
    region: Hypothesis,
    theta: Array,
    rows: RowCoverage,
    features: Array,
    costs: Array,
    in_range: Mask,
) -> tuple[Array, Mask, Trust]:
    """Return decisions of least cost, where the region is empty, and what they rest on."""
    named = np.flatnonzero([bool(name) for name in rows.names])
    blocks = [slice(i, i + BLOCK) for i in range(0, max(1, len(costs)), BLOCK)]
    parts = [_minimize(region, theta, rows, named, features[i], costs[i]) for i in blocks]
    decisions, empty, tied, binding = (np.concatenate(part) for part in zip(*parts, strict=True))
    code = np.full(len(costs), int(SEEN if rows.latent else IDENTIFIED))
    for status in (SEEN, UNSEEN):
        code[binding[:, rows.status == status].any(axis=1)] = int(status)
    unseen = code == UNSEEN
    # Names are joined and samples compared once for each set of limits.
    shown = binding[:, named]
    keys = shown @ np.random.default_rng(0).integers(1, 2**62, len(named))
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    texts = [
        " ".join(dict.fromkeys(rows.names[i] for i in named[shown[row]])) for row in first.tolist()
    ]
    missing = _is_missing(rows, named, shown[first])[back.ravel()]
    for k, where in enumerate((missing, ~in_range, empty, tied), 2):
        code[where] = k
    held = binding.sum(axis=0) * rows.unseen
    order = [i for i in np.argsort(-held, kind="stable") if held[i]]
    trust = Trust(
        np.array(STATUSES)[code],
        np.array(texts, dtype=object)[back.ravel()],
        in_range,
        unseen,
        tuple(dict.fromkeys(rows.names[i] for i in order)),
    )
    return decisions, empty, trust


def _minimize(
    region: Hypothesis,
    theta: Array,
    rows: RowCoverage,
    named: Indices,
    features: Array,
    costs: Array,
) -> tuple[Array, Mask, Mask, Mask]:
    """Return decisions, where the region is empty, where several are optimal, what limits bind."""
    solved, binding = binding_limits(region, theta, features, costs, rows.unseen)
    tied = solved.tied_or_all()
    if rows.doubt and solved.duals is not None:
        weak = binding & ~is_priced(solved.duals, costs, rows.doubt)
        tied = tied | weak[:, named].any(axis=1)
    return solved.decisions, solved.empty, tied & ~solved.empty, binding


def _is_missing(rows: RowCoverage, named: Indices, sets: Mask) -> Mask:
    """Say where of the samples held by the nearest sets of limits too many lie off them."""
    found = np.zeros(len(sets), dtype=bool)
    if rows.regimes.size:
        bits = np.unpackbits(rows.regimes, axis=1, count=1 + len(rows.names))
        regimes = bits[:, 1:][:, named].astype(np.float64)
        for i, held in enumerate(sets.astype(np.float64)):
            apart = np.abs(regimes - held).sum(axis=1)
            found[i] = bits[apart == apart.min(), 0].mean() < 1.0 - SILENT
    return found


def warn_of_unseen(trust: Trust, asked: bool) -> None:
    """Warn where decisions rest on limits not seen: any at what-if costs, many at others."""
    if not needs_warning(trust, asked):
        return
    warnings.warn(
        f"{unseen_text(trust)}. If limits are known, fit with known=Known(bounds=...) (--lower, "
        "--upper); predict(..., return_trust=True) says which rows these are",
        UnseenLimitWarning,
        stacklevel=3,
    )


def needs_warning(trust: Trust, asked: bool) -> bool:
    """Say whether decisions rest on limits not seen: any at what-if costs, many at others."""
    count = int(trust.unseen.sum())
    return count > 0 and (asked or count > SILENT * len(trust.unseen))


def unseen_text(trust: Trust) -> str:
    """Say how many decisions rest on which limits that were not seen."""
    limits = list_first(list(trust.limits[:NAMED]), len(trust.limits))
    return (
        f"{int(trust.unseen.sum())} of {len(trust.unseen)} decisions rest on limits that the data "
        f"never showed ({limits}): no price pushed there, so they may be far off"
    )
