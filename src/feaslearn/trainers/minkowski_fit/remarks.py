"""What users should know about the terms of a Minkowski sum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term import Term, shape_of
from feaslearn.losses import Objective
from feaslearn.messages import list_first


def remarks(model: Minkowski, objective: Objective, observed: float) -> list[str]:
    """Say which terms come twice or are single points, and whether there are too few samples."""
    n = objective.n_decisions
    terms = model.terms_of(n)
    said = []
    twice = _repeated(terms, n)
    if twice:
        said.append(
            f"{len(twice)} terms stand in the list before ({list_first(twice[:5], len(twice))}): "
            "only the sum of such scales is determined"
        )
    points = _points(terms)
    if points:
        what = "only moves b(s)" if model.offset else "is the same decision at every cost"
        said.append(f"a single point, which {what}: {list_first(points[:5], len(points))}")
    size = model.layout(n, objective.n_features).size
    if isinstance(objective.hypothesis, Minkowski) and size > observed:
        said.append(
            f"{size} parameters were fitted to {observed:.0f} observed values, which cannot "
            "determine them: the ridge chooses among those that fit"
        )
    return said


def _repeated(terms: Sequence[Term], n: int) -> list[str]:
    seen: dict[bytes, int] = {}
    twice = []
    for t, term in enumerate(terms):
        first = seen.setdefault(term.key(n), t)
        if first != t:
            twice.append(f"term {t} is term {first}")
    return twice


def _points(terms: Sequence[Term]) -> list[str]:
    """Return the terms whose set has no width in any direction."""
    flat: dict[bytes, bool] = {}
    found = []
    for t, term in enumerate(terms):
        shape = shape_of(term.primitive)
        if shape not in flat:
            axes = np.eye(term.primitive.dimension)
            ends = term.primitive.minimum(np.vstack([axes, -axes]))
            width = -(ends[: len(axes)] + ends[len(axes) :])
            flat[shape] = bool(np.all(width <= 1e-9 * max(1.0, float(np.abs(ends).max()))))
        if flat[shape]:
            found.append(f"term {t}, {term.primitive!r}")
    return found
