"""What carries a learned region: terms, columns, facets, members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses import Blend, MapHypothesis, Minkowski
from feaslearn.hypotheses.term_account import account_of
from feaslearn.regressor.explanation.exposure import ends_of_terms
from feaslearn.regressor.reader import decision_names
from feaslearn.trainers.convex import is_point

if TYPE_CHECKING:
    from feaslearn.regressor.explanation.seen import Seen
    from feaslearn.regressor.learned_region import LearnedRegion

Array = NDArray[np.float64]

#: Carriers that are listed.
LISTED = 8
#: Terms below this share of the largest are not used.
NEGLIGIBLE = 1e-6


def carriers(model: LearnedRegion, seen: Seen) -> list[str]:
    """Say what carries the region, what counts most first."""
    hypothesis = model.hypothesis_
    if isinstance(hypothesis, Blend):
        return [*_members(model, hypothesis), *_facets(model, seen)]
    if isinstance(hypothesis, Minkowski):
        return _terms(model, hypothesis, seen)
    if isinstance(hypothesis, MapHypothesis):
        return _columns(model, hypothesis, seen)
    return _facets(model, seen)


def _members(model: LearnedRegion, blend: Blend) -> list[str]:
    n, k = len(decision_names(model)), model.features_.n_features
    shares: dict[str, list[float]] = {}
    for weight, member, _ in blend.parts(model.theta_, n, k):
        shares.setdefault(" ".join(repr(member).split()), []).append(weight)
    return [
        f"{len(weights)} x {name}: {100 * sum(weights):.3g} % of the region"
        for name, weights in sorted(shares.items(), key=lambda pair: -sum(pair[1]))
        if sum(weights) > NEGLIGIBLE
    ]


def _terms(model: LearnedRegion, hypothesis: Minkowski, seen: Seen) -> list[str]:
    names = decision_names(model)
    terms = hypothesis.terms_at(model.theta_, len(names), model.features_.n_features)
    if len(seen.parts) != len(terms):
        return []  # parameters that no fit has left
    low, high = ends_of_terms(terms, len(names))
    sizes = seen.parts * (high - low).max(axis=1, initial=0.0)
    total = float(sizes.sum())
    used = [int(t) for t in np.argsort(-sizes, kind="stable") if sizes[t] > NEGLIGIBLE * total]
    if not used:
        return ["no term has a size: the region is the single point b(s)"]
    said = [
        f"on average {account_of(terms[t], float(seen.parts[t]), names)} "
        f"({100 * sizes[t] / total:.3g} % of all terms)"
        for t in used[:LISTED]
    ]
    if len(used) > LISTED:
        said.append(f"and {len(used) - LISTED} smaller terms")
    if len(used) < len(terms):
        said.append(f"{len(terms) - len(used)} of {len(terms)} terms have no size")
    return said


def _columns(model: LearnedRegion, hypothesis: MapHypothesis, seen: Seen) -> list[str]:
    n, k = len(decision_names(model)), model.features_.n_features
    A, _ = hypothesis.maps(model.theta_, n, k)
    if is_point(hypothesis, n) or not A.any():
        return ["the region is a single point, b(s): it has no limits to show"]
    order = np.argsort(-seen.parts, kind="stable")
    used = [int(column) for column in order if seen.parts[column] > 0.0]
    said = [
        f"column {column} is used in {100 * seen.parts[column]:.3g} % of the samples"
        for column in used[:LISTED]
    ]
    if len(used) > LISTED:
        said.append(f"and {len(used) - LISTED} columns that are used less")
    never = sorted(set(order.tolist()) - set(used))
    if never:
        said.append(f"no sample uses columns {', '.join(map(str, never[:LISTED]))}")
    return said


def _facets(model: LearnedRegion, seen: Seen) -> list[str]:
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
