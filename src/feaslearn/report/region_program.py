"""A learned region as numbers that the page computes it from, at any signal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import DataError
from feaslearn.hypotheses.blend import Blend
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.known import ResolvedKnown
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names
from feaslearn.sets.primitive_set import PrimitiveSet

Array = NDArray[np.float64]

#: More numbers than this would make the page heavy and slow.
MOST_NUMBERS = 100_000


def region_program(model: RegionRegressor, signals: Array) -> dict[str, Any] | None:
    """Return the region of a fitted model as what JSON can hold.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.
    signals : ndarray of shape (N, K)
        Rows at which known constraints are compared with what the page makes of them.

    Returns
    -------
    dict or None
        A tree of parts, each with a ``kind``; None where the page cannot compute the region: the
        features come from a transformer, a set has no short description, known constraints are
        no rows beside facets or not affine in the signals, or there are too many numbers.
    """
    if model.features_.transformer is not None:
        return None
    n, k = len(decision_names(model)), model.features_.n_features
    if model.theta_.size > MOST_NUMBERS:
        return None
    part = _part(model.hypothesis_, model.theta_, n, k)
    if part is None or model.known_ is None:
        return part
    known = _known(model.known_, signals)
    return part | {"known": known} if known is not None and part["kind"] == "rows" else None


def _known(known: ResolvedKnown, signals: Array) -> dict[str, Any] | None:
    """Return known rows with right-hand sides ``C0 + C s``; None where they are not affine."""
    K = signals.shape[1]
    try:
        sides = [known.at(rows).columns() for rows in (np.zeros((1, K)), np.eye(K), signals)]
    except DataError:
        return None
    constant, ends, here = sides[0][0], sides[1], sides[2]
    there = np.isfinite(constant)
    slopes = np.where(there, ends, 0.0) - np.where(there, constant, 0.0)
    if not np.allclose(constant + signals @ slopes, here, rtol=1e-9, atol=1e-9):
        return None
    return {
        "G": known.shape.G.tolist(),
        "E": known.shape.E.tolist(),
        "C0": [
            float(side) if finite else None for side, finite in zip(constant, there, strict=True)
        ],
        "C": slopes.T.tolist(),
    }


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
