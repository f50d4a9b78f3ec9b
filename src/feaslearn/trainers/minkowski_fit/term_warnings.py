"""What is said of terms that a fit cannot tell apart."""

from __future__ import annotations

import numpy as np

from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.term import shape_of
from feaslearn.messages import list_first
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import SAME_TOL
from feaslearn.trainers.objective import Objective


def term_warnings(model: Minkowski, objective: Objective, observed: float) -> list[str]:
    """Warn of terms that come twice or are single points, and of too few samples."""
    n, warnings = objective.n_decisions, list[str]()
    terms = model.terms_of(n)
    keys = [term.key(n) for term in terms]
    first = {key: t for t, key in reversed([*enumerate(keys)])}
    twice = [f"term {t} is term {first[key]}" for t, key in enumerate(keys) if first[key] < t]
    if twice:
        warnings.append(
            f"{len(twice)} terms stand in the list before ({list_first(twice[:5], len(twice))}): "
            "only the sum of such scales is determined"
        )
    shapes = {shape_of(term.primitive): term.primitive for term in terms}
    flat = {shape for shape, primitive in shapes.items() if _is_point(primitive)}
    points = [
        f"term {t}, {term.primitive!r}"
        for t, term in enumerate(terms)
        if flat and shape_of(term.primitive) in flat
    ]
    if points:
        what = "only moves b(s)" if model.offset else "is the same decision at every cost"
        warnings.append(f"a single point, which {what}: {list_first(points[:5], len(points))}")
    size = model.layout(n, objective.n_features).size
    if objective.hypothesis is model and size > observed:
        warnings.append(
            f"{size} parameters were fitted to {observed:.0f} observed values, which cannot "
            "determine them: the ridge chooses among those that fit"
        )
    return warnings


def _is_point(primitive: PrimitiveSet) -> bool:
    """Say whether a set has no width in any direction."""
    axes = np.eye(primitive.dimension)
    low, high = primitive.minimum(axes), -primitive.minimum(-axes)
    return bool(np.all(high - low <= SAME_TOL * max(1.0, np.abs([low, high]).max())))
