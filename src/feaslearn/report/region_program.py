"""A learned region as numbers that the page computes it from, at any signal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.hypotheses.blend import Blend
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]

#: More numbers than this would make the page heavy and slow.
MOST_NUMBERS = 100_000


def region_program(model: RegionRegressor) -> dict[str, Any] | None:
    """Return the region of a fitted model as what JSON can hold.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.

    Returns
    -------
    dict or None
        A tree of parts, each with a ``kind``; None where the page cannot compute the region: the
        features come from a transformer, a set has no short description, there are constraints
        beside the hypothesis, or too many numbers.
    """
    if model.features_.transformer is not None or model.known is not None:
        return None
    n, k = len(decision_names(model)), model.features_.n_features
    if model.theta_.size > MOST_NUMBERS:
        return None
    return _part(model.hypothesis_, model.theta_, n, k)


def _part(hypothesis: Hypothesis, theta: Array, n: int, k: int) -> dict[str, Any] | None:
    if isinstance(hypothesis, Facets):
        rows = hypothesis.rows(theta, n, k)
        return {"kind": "rows", **{name: part.tolist() for name, part in rows._asdict().items()}}
    if isinstance(hypothesis, Minkowski):
        return _sum(hypothesis, theta, n, k)
    if isinstance(hypothesis, MapHypothesis):
        code, maps = _code(hypothesis.latent(n)), hypothesis.maps(theta, n, k)
        if code is None or maps.A.size > MOST_NUMBERS:
            return None
        return {"kind": "map", "set": code, "A": maps.A.tolist(), "b": maps.b.tolist()}
    if isinstance(hypothesis, Blend):
        members = [
            {"weight": weight, "part": _part(member, part, n, k)}
            for weight, member, part in hypothesis.parts(theta, n, k)
        ]
        known = all(member["part"] is not None for member in members)
        return {"kind": "blend", "members": members} if known else None
    return None


def _sum(hypothesis: Minkowski, theta: Array, n: int, k: int) -> dict[str, Any] | None:
    blocks, basis = hypothesis.layout(n, k).unpack(theta), hypothesis.basis(k)
    terms = [
        {"set": _code(term.primitive), "E": term.embedding(n).tolist()}
        for term in hypothesis.terms_at(theta, n, k)
    ]
    count = sum(np.size(term["E"]) for term in terms)
    if count > MOST_NUMBERS or any(term["set"] is None for term in terms):
        return None
    knots, b = blocks.get("knots"), blocks.get("b")
    return {
        "kind": "sum",
        "n": n,
        "terms": terms,
        "alpha": blocks["alpha"].tolist() if terms else [],
        "basis": {"size": basis.size, "knots": None if knots is None else knots.tolist()},
        "b": None if b is None else b.tolist(),
    }


def _code(primitive: PrimitiveSet) -> dict[str, Any] | None:
    """Return a set as the kernels read it."""
    code = primitive.code()
    if code is None or code.points.size > MOST_NUMBERS:
        return None
    return {name: part.tolist() for name, part in code._asdict().items()}
