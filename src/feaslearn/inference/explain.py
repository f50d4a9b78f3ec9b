"""A fitted model explained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.inference.coverage import (
    Coverage,
    angle,
    binding_limits,
)
from feaslearn.inference.explanation import Explanation, Limit, Outside, Resting
from feaslearn.inference.trust import STATUSES
from feaslearn.regressor.reader import (
    check_signals,
    decision_names,
    features_of,
    one_row,
    regions_of,
    signal_names,
)
from feaslearn.tolerances import SAME_TOL

if TYPE_CHECKING:
    from feaslearn.regressor.learned_region import LearnedRegion


#: Facets that are listed.
LISTED = 8


def explain(
    model: LearnedRegion, seen: Coverage, signal: ArrayLike | None, costs: ArrayLike | None
) -> Explanation:
    """Say what a model knows, and what it knows at one signal."""
    names = decision_names(model)
    known = _known(model, seen)
    limits = tuple(
        Limit(name, side, float(shares[j]), bool(known[side][j]), round(shares[j] * seen.looked_at))
        for j, name in enumerate(names)
        for side, shares in (("upper", seen.upper), ("lower", seen.lower))
    )
    general = Explanation(
        " ".join(repr(model.hypothesis_).split()),
        seen.n_samples,
        limits,
        (*_components(model, seen, names), *_facets(model, seen)),
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
        **({} if prices is None else _decision(model, features, prices, seen)),
    )


def _known(model: LearnedRegion, seen: Coverage) -> dict[str, Mask]:
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


def _outside(values: Array, seen: Coverage, names: tuple[str, ...]) -> list[Outside]:
    found = []
    for value, low, high, name in zip(values, *seen.signals, names, strict=True):
        margin = SAME_TOL * max(abs(low), abs(high))
        if not low - margin <= value <= high + margin:
            found.append(Outside(name, float(value), float(low), float(high)))
    return sorted(found, key=lambda each: -each.ranges)


def _decision(
    model: LearnedRegion, features: Array, prices: Array, seen: Coverage
) -> dict[str, Any]:
    """Return the decision at a signal, the limits that hold it, and those of them not seen."""
    region, rows = regions_of(model), seen.rows
    solved, answers, held = binding_limits(region, model.theta_, features, prices)
    named = tuple(zip(decision_names(model), solved.decisions[0].tolist(), strict=True))
    if rows is None:
        return {"decision": named}
    parts = region.parts(model.theta_, prices.shape[1], features.shape[1])
    # What one unit more of each limit as printed saves, NaN where it is not known.
    each = [
        np.full(2 * prices.shape[1], np.nan) if answer.duals is None else weight * answer.duals[0]
        for (weight, _, _), answer in zip(parts, answers, strict=True)
    ]
    duals = np.abs(np.concatenate(each)) / rows.scales
    found: dict[str, Resting] = {}
    remarks = []
    for i in np.flatnonzero(held[0]):
        name, text = rows.names[i], rows.texts[i]
        if not name:
            continue
        if name not in found:
            saves = None if np.isnan(duals[i]) else float(duals[i])
            found[name] = Resting(name, text, STATUSES[int(rows.status[i])], saves)
        if rows.unseen[i]:
            remarks.append(f"the decision here is at {text}, about which the data say nothing")
    order = sorted(found.values(), key=lambda each: -(each.saves or 0.0))
    return {"decision": named, "rests_on": tuple(order), "remarks": tuple(dict.fromkeys(remarks))}


def _components(model: LearnedRegion, seen: Coverage, names: tuple[str, ...]) -> list[str]:
    """Say what makes up the region, what counts most first."""
    k = model.features_.n_features
    return model.hypothesis_.components(model.theta_, k, seen.parts, names)


def _facets(model: LearnedRegion, seen: Coverage) -> list[str]:
    table = vars(model).get("_facets")
    if table is None:
        return []
    said = []
    for facet in table.facets[:LISTED]:
        known = "" if facet.identified else "; these samples do not determine it"
        said.append(f"{facet.text} binds in {facet.binds} of {seen.n_samples} samples{known}")
    if len(table.facets) > LISTED:
        said.append(f"and {len(table.facets) - LISTED} facets that bind less")
    said += [f"equality {text}" for text in table.equalities]
    return said or ["no facets were learned: the bounds alone make the region"]
