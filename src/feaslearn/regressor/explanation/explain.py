"""A fitted model explained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError
from feaslearn.regressor.explanation.carriers import carriers
from feaslearn.regressor.explanation.explanation import Explanation, Limit, Outside
from feaslearn.regressor.explanation.exposure import exposure
from feaslearn.regressor.explanation.seen import Seen, angle
from feaslearn.regressor.reader import (
    check_signals,
    decision_names,
    features_of,
    one_row,
    regions_of,
    signal_names,
)

if TYPE_CHECKING:
    from feaslearn.regressor.learned_region import LearnedRegion

Array = NDArray[np.float64]

#: Beyond the range by less than this share of it is rounding.
ROUNDING = 1e-9


def explain(
    model: LearnedRegion, seen: Seen, signal: ArrayLike | None, costs: ArrayLike | None
) -> Explanation:
    """Say what a model knows, and what it knows at one signal."""
    names = decision_names(model)
    known = _known(model, seen)
    limits = tuple(
        Limit(name, side, float(shares[j]), bool(known[side][j]))
        for j, name in enumerate(names)
        for side, shares in (("upper", seen.upper), ("lower", seen.lower))
    )
    general = Explanation(
        " ".join(repr(model.hypothesis_).split()),
        seen.n_samples,
        limits,
        tuple(carriers(model, seen)),
        looked_at=seen.looked_at if seen.looked_at < seen.n_samples else None,
    )
    if signal is None:
        if costs is not None:
            raise DataError("explain: costs were given without a signal")
        return general
    signals, features, prices = _read(model, signal, costs)
    return replace(
        general,
        outside=tuple(_outside(signals[0], seen, signal_names(model))),
        price_angle=None if prices is None else angle(prices[0], seen.directions),
        remarks=() if prices is None else tuple(_unseen_here(model, features, prices, limits)),
    )


def _known(model: LearnedRegion, seen: Seen) -> dict[str, NDArray[np.bool_]]:
    """Say which limits were given as known bounds."""
    if model.known_ is None:
        none = np.zeros(seen.decisions.shape[1], dtype=bool)
        return {"upper": none, "lower": none}
    limits = model.known_.at(seen.signals.mean(axis=0)[None])
    return {"upper": np.isfinite(limits.upper[0]), "lower": np.isfinite(limits.lower[0])}


def _read(
    model: LearnedRegion, signal: ArrayLike, costs: ArrayLike | None
) -> tuple[Array, Array, Array | None]:
    """Return a signal, its features and its prices, or None where they are not known."""
    signals = check_signals(model, one_row(signal))
    if len(signals) != 1:
        raise DataError(f"explain: {len(signals)} signals were given; give one")
    reader = vars(model)["_reader"]
    features = features_of(model, signals)
    if costs is None and model.cost_ is None:
        return signals, features, None
    rows = None if costs is None else np.atleast_2d(np.asarray(costs))
    return signals, features, reader.prices(signals, model.cost_, rows)


def _outside(values: Array, seen: Seen, names: tuple[str, ...]) -> list[Outside]:
    found = []
    for value, low, high, name in zip(values, *seen.signals, names, strict=True):
        room = ROUNDING * max(abs(low), abs(high))
        if not low - room <= value <= high + room:
            found.append(Outside(name, float(value), float(low), float(high)))
    return sorted(found, key=lambda each: -each.ranges)


def _unseen_here(
    model: LearnedRegion, features: Array, prices: Array, limits: tuple[Limit, ...]
) -> list[str]:
    """Name the limits that decide here although the data say nothing about them."""
    shown = exposure(regions_of(model), model.theta_, features, prices)
    here = np.column_stack([shown.upper[0], shown.lower[0]]).ravel()
    return [
        f"the decision here is at the {limit.side} limit of {limit.decision}, about which the data "
        "say nothing"
        for limit, reached in zip(limits, here, strict=True)
        if reached and not limit.pinned and not limit.known
    ]
