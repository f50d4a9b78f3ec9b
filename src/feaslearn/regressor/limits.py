"""Learned limits at rows of data: left sides, right sides, where they bind and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array, Mask
from feaslearn.inference.coverage import WORDS, Coverage, is_priced
from feaslearn.inference.trust import Trust, is_in_range, trace_decisions
from feaslearn.messages import write_sum
from feaslearn.regressor.reader import check_signals, decision_names, read, regions_of
from feaslearn.tolerances import SAME_TOL

#: Terms that move a left side by less than this share of its largest term are left out.
SMALL = 0.05
#: Names in a sum that is written in full.
LONGEST_SUM = 4


@dataclass(frozen=True, eq=False)
class Limit:
    """One learned limit at N rows of data, as it is printed: "left relation right"."""

    # "facet_1", or "plant_1<=" of a bound; both sides at each row, the left one at the model's
    # decision, and shadow prices there; coefficients of the decisions; the terms that move the left
    # side most, and the number of others; of a bound, the range of its decision in the data.
    name: str
    left: str
    relation: str
    right: str
    status: str
    values: Array
    limits: Array
    prices: Array
    coefficients: Array
    main: list[tuple[float, str]]
    left_out: int
    seen: tuple[float, float] | None = None

    @property
    def binds(self) -> Mask:
        """Where it binds at the model's decision: relaxing it would lower the cost."""
        return self.prices > 0.0

    @property
    def worth(self) -> float:
        """Mean shadow price where it binds."""
        return float(self.prices[self.binds].mean()) if self.binds.any() else 0.0

    @property
    def is_facet(self) -> bool:
        """Whether it is a facet, not a bound."""
        return self.name.startswith("facet_")

    @property
    def text(self) -> str:
        """The limit in one line."""
        return f"{self.left} {self.relation} {self.right}"

    def fitted(self, width: int) -> str:
        """Return the limit in one line, or its main terms and typical value where it is longer."""
        if len(self.text) <= width:
            return self.text
        sign = -1.0 if sum(np.sign(factor) for factor, _ in self.main) < 0.0 else 1.0
        relation = self.relation if sign > 0.0 else {"<=": ">=", ">=": "<="}[self.relation]
        more = f" ± {self.left_out} small" if self.left_out else ""
        limit = sign * self.typical[0] + 0.0
        terms = [(sign * factor, name) for factor, name in self.main]
        left = write_sum(terms, digits=2, plus_first=True)
        return f"{left}{more} {relation} {limit:.4g}"

    @property
    def honest(self) -> str:
        """The limit in one line; one that was not seen says how far the data came."""
        if self.status != "not seen" or self.seen is None:
            return self.text
        end, word = (self.seen[1], "up") if self.relation == "<=" else (self.seen[0], "down")
        reached = f"{end + 0.0:.4g}"
        return self.text if reached == self.right else f"{self.text} (data {word} to {reached})"

    @property
    def never_moved(self) -> str:
        """ "plant_1 = 8" where it is a bound of a decision that the data hold constant, or ""."""
        if self.seen is None or self.seen[0] < self.seen[1]:
            return ""
        return f"{self.left} = {self.seen[0] + 0.0:.4g}"

    @property
    def share(self) -> float:
        """Share of the rows in which it binds."""
        return float(self.binds.mean()) if len(self.binds) else 0.0

    @property
    def typical(self) -> tuple[float, float, float]:
        """Median, least and greatest value of the limit."""
        low, middle, high = np.quantile(self.limits, [0.0, 0.5, 1.0])
        return float(middle), float(low), float(high)


def limits_at(model: Any, X: ArrayLike, costs: ArrayLike | None = None) -> list[Limit]:
    """Return the limits of a model at rows of signals, those that are worth most first.

    Bounds and facets are in one list, ordered by what one unit more would have saved in all rows;
    limits that were not seen come last. Models whose rows are not known have none.
    """
    features, prices = read(model, X, costs)
    coverage: Coverage = vars(model)["_seen"]
    covered = coverage.rows
    solved = regions_of(model).solve_duals(model.theta_, features, prices)
    duals = solved.duals
    if duals is None or not covered.printed.any():
        return []
    duals = np.where(solved.empty[:, None] | ~is_priced(duals, prices), 0.0, np.abs(duals))
    n, k = prices.shape[1], model.features_.n_features
    names, spread = decision_names(model), solved.decisions.std(axis=0)
    found = []
    for i, (name, text) in enumerate(zip(covered.names, covered.texts, strict=True)):
        row = covered.printed[i]
        if not name or not row.any():
            continue
        relation, sign = (">=", -1.0) if " >= " in text else ("<=", 1.0)
        left, _, right = text.partition(f" {relation} ")
        seen = None
        if name == f"{left}{relation}":
            least, most = coverage.decisions[:, names.index(left)]
            seen = (float(least), float(most))
        found.append(
            Limit(
                name,
                left,
                relation,
                right,
                WORDS[float(covered.status[i])],
                sign * (solved.decisions @ row[:n]) + 0.0,
                sign * (features[:, :k] @ row[n:]) + 0.0,
                duals[:, i] / covered.scales[i],
                sign * row[:n],
                *_main_terms(sign * row[:n], spread, names),
                seen,
            )
        )
    return sorted(found, key=lambda each: (each.status == "not seen", -each.prices.mean()))


def trace(
    model: Any, X: ArrayLike, costs: ArrayLike | None = None
) -> tuple[Array, Trust, list[Limit]]:
    """Return decisions, what they rest on and `limits_at` rows of signals."""
    features, prices = read(model, X, costs)
    inside = is_in_range(model, check_signals(model, X), None if costs is None else prices)
    rows = vars(model)["_seen"].rows
    region = regions_of(model)
    decisions, _, trust = trace_decisions(region, model.theta_, rows, features, prices, inside)
    return decisions, trust, limits_at(model, X, costs)


def _main_terms(
    coefficients: Array, spread: Array, names: Sequence[str]
) -> tuple[list[tuple[float, str]], int]:
    """Return the terms of a sum that move it most, and the number of the others."""
    counted = np.abs(coefficients) > SAME_TOL * np.abs(coefficients).max()
    effect = np.abs(coefficients) * spread * counted
    kept = effect > SMALL * effect.max() if effect.any() else counted
    terms = [(float(coefficients[j]), names[int(j)]) for j in np.flatnonzero(kept)]
    return terms, int(counted.sum() - kept.sum())


def shorten(text: str) -> str:
    """Return a sum of many names with its middle left out: "a + b + ... + z".

    Examples
    --------
    >>> from feaslearn.regressor.limits import shorten
    >>> shorten("p + q = d1 + d2 + d3 + d4 + d5")
    'p + q = d1 + d2 + ... + d5'
    """
    for sign in (" = ", " <= ", " >= "):
        if sign in text:
            return sign.join(_shorter(side) for side in text.split(sign))
    return _shorter(text)


def _shorter(side: str) -> str:
    terms = side.split(" + ")
    plain = all(" " not in term and not term[0].isdigit() for term in terms)
    if len(terms) <= LONGEST_SUM or not plain:
        return side
    return " + ".join([*terms[:2], "...", terms[-1]])
