"""Explanations: limits that the data pin, limits not seen, components of the region."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.exceptions import DataError
from feaslearn.inference.coverage import FEWEST_ROWS, Coverage, angle, binding_limits
from feaslearn.inference.trust import STATUSES
from feaslearn.printable import printable
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
#: Share of samples below which a limit is shown by few.
FEW = 0.02


@dataclass(frozen=True)
class Limit:
    """One limit of a decision, and the share of the samples that show it.

    Parameters
    ----------
    decision : str
        Name of the decision.
    side : {"upper", "lower"}
        Which limit.
    share : float
        Share of the samples whose prices push the decision to it.
    known : bool, default=False
        Whether it was given as a known constraint.
    rows : int or None, default=None
        How many samples these are, where it is known.

    Examples
    --------
    >>> from feaslearn.regressor import Limit
    >>> print(Limit("unit 3", "upper", 0.0))
    the data say nothing about the upper limit of unit 3: no price ever pushed it there
    """

    decision: str
    side: str
    share: float
    known: bool = False
    rows: int | None = None

    @property
    def pinned(self) -> bool:
        """Whether samples show it: one alone is only the farthest so far."""
        return self.share > 0.0 and (self.rows is None or self.rows >= FEWEST_ROWS)

    def __str__(self) -> str:
        if self.known and not self.pinned:
            return f"the {self.side} limit of {self.decision} is known, and no sample shows it"
        if not self.pinned:
            once = ", but once" if self.share > 0.0 else ""
            return (
                f"the data say nothing about the {self.side} limit of {self.decision}: no price "
                f"ever pushed it there{once}"
            )
        few = ", which is few" if self.share < FEW else ""
        return (
            f"the {self.side} limit of {self.decision} is shown by {100 * self.share:.3g} % of the "
            f"samples{few}"
        )


@dataclass(frozen=True)
class Outside:
    """A column of a signal that lies outside the range of the training data.

    Parameters
    ----------
    column : str
        Its name.
    value, low, high : float
        Its value, and the ends of the range.
    """

    column: str
    value: float
    low: float
    high: float

    @property
    def ranges(self) -> float:
        """By how many times the range the value is outside; infinite where the range is a point."""
        beyond = max(self.low - self.value, self.value - self.high)
        return beyond / (self.high - self.low) if self.high > self.low else float("inf")

    def __str__(self) -> str:
        if self.high == self.low:
            return f"{self.column} is {self.value:.4g}; in the data it was always {self.low:.4g}"
        return (
            f"{self.column} is {self.value:.4g}, outside {self.low:.4g} to {self.high:.4g} by "
            f"{self.ranges:.2g} times that range"
        )


@dataclass(frozen=True)
class Resting:
    """A limit that holds one decision.

    Parameters
    ----------
    name, text : str
        Its name, and the limit itself.
    status : {"identified", "seen", "not seen"}
        What the data say about it.
    saves : float or None
        What one unit more on the right-hand side of the text would save; None where it is not
        known.
    """

    name: str
    text: str
    status: str
    saves: float | None = None

    def __str__(self) -> str:
        label = f"{self.name}: {self.text}" if self.name.startswith("facet") else self.text
        worth = "" if self.saves is None else f", one unit more saves {self.saves:.4g}"
        return f"{label} ({self.status}{worth})"


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a fitted model knows, in the names of the data.

    Parameters
    ----------
    hypothesis : str
        What was fitted.
    n_samples : int
        To how many samples.
    limits : tuple of Limit
        The limits of every decision.
    carriers : tuple of str
        Terms, columns, facets or members, those that count most first.
    outside : tuple of Outside or None
        Columns of the signal outside the training range; None where no signal was given.
    price_angle : float or None
        Angle in degrees between the prices at the signal and the nearest ones in the data.
    remarks : tuple of str
        What else the signal brings about.
    looked_at : int or None
        How many samples the shares are about, where that is not all of them.
    decision : tuple of (str, float)
        Names and values of the decision at the signal; empty where prices are not known.
    rests_on : tuple of Resting
        The limits that hold it, those worth most first.
    """

    hypothesis: str
    n_samples: int
    limits: tuple[Limit, ...]
    carriers: tuple[str, ...]
    outside: tuple[Outside, ...] | None = None
    price_angle: float | None = None
    remarks: tuple[str, ...] = ()
    looked_at: int | None = None
    decision: tuple[tuple[str, float], ...] = ()
    rests_on: tuple[Resting, ...] = ()

    @property
    def unseen(self) -> tuple[Limit, ...]:
        """The limits about which the data say nothing."""
        return tuple(limit for limit in self.limits if not limit.pinned and not limit.known)

    def sections(self) -> list[tuple[str, list[str]]]:
        """Return headings with their lines."""
        part = f", of which {self.looked_at} were looked at" if self.looked_at else ""
        known = [limit for limit in self.limits if limit.known and not limit.pinned]
        shown = [
            ("pinned by data", [str(limit) for limit in self.limits if limit.pinned]),
            ("known, not seen", [str(limit) for limit in known]),
            ("not seen", [str(limit) for limit in self.unseen]),
            ("what carries the region", list(self.carriers)),
            ("this signal", [] if self.outside is None else self._signal()),
        ]
        head = f"{self.hypothesis}, fitted to {self.n_samples} samples{part}"
        return [(head, []), *((heading, lines) for heading, lines in shown if lines)]

    def _signal(self) -> list[str]:
        lines = [str(column) for column in self.outside or ()]
        lines = lines or ["every signal lies within the range of the data"]
        if self.price_angle is not None:
            lines.append(
                f"its prices point {self.price_angle:.2g} degrees away from the nearest in the data"
            )
        if self.decision:
            values = ", ".join(f"{name} = {value:.4g}" for name, value in self.decision)
            lines.append(f"its decision is {values}")
        lines += [f"it stops at {limit}" for limit in self.rests_on]
        return [*lines, *self.remarks]

    def __repr__(self) -> str:
        return "\n".join(
            "\n".join([printable(heading), *(f"  {printable(line)}" for line in lines)])
            for heading, lines in self.sections()
        )


def explain(
    model: LearnedRegion, seen: Coverage, signal: ArrayLike | None, costs: ArrayLike | None
) -> Explanation:
    """Say what a model knows, and what it knows at one signal."""
    if signal is None and costs is not None:
        raise DataError("explain: costs were given without a signal")
    names, k = decision_names(model), model.features_.n_features
    known = _known(model, seen)
    limits = tuple(
        Limit(name, side, float(shares[j]), bool(known[side][j]), round(shares[j] * seen.looked_at))
        for j, name in enumerate(names)
        for side, shares in (("upper", seen.upper), ("lower", seen.lower))
    )
    components = model.hypothesis_.components(model.theta_, k, seen.parts, names)
    general = Explanation(
        " ".join(repr(model.hypothesis_).split()),
        seen.n_samples,
        limits,
        (*components, *_facets(model, seen)),
        looked_at=seen.looked_at if seen.looked_at < seen.n_samples else None,
    )
    if signal is None:
        return general
    signals = check_signals(model, one_row(signal))
    if len(signals) != 1:
        raise DataError(f"explain: {len(signals)} signals were given; give one")
    general = replace(general, outside=_outside(signals[0], seen, signal_names(model)))
    if costs is None and model.cost_ is None:
        return general
    rows = None if costs is None else np.atleast_2d(np.asarray(costs))
    prices = vars(model)["_reader"].prices(signals, model.cost_, rows)
    return replace(
        general,
        price_angle=angle(prices[0], seen.directions),
        **_decision(model, features_of(model, signals), prices, seen),
    )


def _known(model: LearnedRegion, seen: Coverage) -> dict[str, Mask]:
    """Say which limits were given as known bounds."""
    if model.known_ is None:
        none = np.zeros(seen.decisions.shape[1], dtype=bool)
        return {"upper": none, "lower": none}
    limits = model.known_.at(seen.signals.mean(axis=0)[None])
    return {"upper": np.isfinite(limits.upper[0]), "lower": np.isfinite(limits.lower[0])}


def _outside(values: Array, seen: Coverage, names: tuple[str, ...]) -> tuple[Outside, ...]:
    found = []
    for value, low, high, name in zip(values, *seen.signals, names, strict=True):
        margin = SAME_TOL * max(abs(low), abs(high))
        if not low - margin <= value <= high + margin:
            found.append(Outside(name, float(value), float(low), float(high)))
    return tuple(sorted(found, key=lambda each: -each.ranges))


def _decision(
    model: LearnedRegion, features: Array, prices: Array, seen: Coverage
) -> dict[str, Any]:
    """Return the decision at a signal, the limits that hold it, and those of them not seen."""
    region, rows = regions_of(model), seen.rows
    solved, held = binding_limits(region, model.theta_, features, prices)
    named = tuple(zip(decision_names(model), solved.decisions[0].tolist(), strict=True))
    # What one unit more of each limit as printed saves, NaN where it is not known.
    duals = np.nan if solved.duals is None else solved.duals[0]
    worth = np.abs(duals) / rows.scales
    found: dict[str, Resting] = {}
    remarks = []
    for i in np.flatnonzero(held[0]):
        name, text = rows.names[i], rows.texts[i]
        if name:
            saves = None if np.isnan(worth[i]) else float(worth[i])
            found.setdefault(name, Resting(name, text, STATUSES[int(rows.status[i])], saves))
        if name and rows.unseen[i]:
            remarks.append(f"the decision here is at {text}, about which the data say nothing")
    order = sorted(found.values(), key=lambda each: -(each.saves or 0.0))
    return {"decision": named, "rests_on": tuple(order), "remarks": tuple(dict.fromkeys(remarks))}


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
