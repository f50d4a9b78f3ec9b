"""Contents of the interactive view of the region, as JSON."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.costs import FunctionCost
from feaslearn.exceptions import DataError, EmptySetError, FeaslearnWarning, InfeasibleProblemError
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.hypotheses.scale_basis import index_direction
from feaslearn.inference.coverage import WORDS
from feaslearn.known import ResolvedKnown
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names
from feaslearn.report.charts import spread_rows
from feaslearn.report.samples import Samples
from feaslearn.runs.progress import ProgressBar
from feaslearn.sets.primitive_set import PrimitiveSet
from feaslearn.tolerances import SAME_TOL, TINY

#: Rows that are drawn as dots and can be chosen.
MOST_ROWS = 400

#: Values of each signal, directions for each pair of decisions, and decisions that have pairs.
VALUES, DIRECTIONS, PAIRED = 7, 16, 6
#: Signals that move; those that change features least stay.
MOST_SIGNALS = 12

#: More numbers than this would make the page heavy and slow.
MOST_NUMBERS = 100_000


def scene(samples: Samples, decisions: Sequence[str], signals: Sequence[str]) -> dict[str, Any]:
    """Return what the page needs to draw the region at any signal."""
    model, data = samples.model, samples.data
    program = region_program(model, np.array(data.signals))
    grid = region_grid(samples) if program is None else None
    cost = _affine_cost(samples)
    by_hand = cost is None and samples.reader.priced
    # Rows that are spread evenly, the typical one among them.
    rows = sorted({*spread_rows(len(samples), MOST_ROWS).tolist(), samples.typical})
    typical = samples.features[samples.typical]
    image = model.hypothesis_.image(model.theta_, typical, len(decisions))
    prices = zip(decisions, data.cost_matrix.T, strict=True) if by_hand else ()
    return {
        "decisions": list(decisions),
        "names": list(data.names.decisions),
        # Those that move, most first: a constant decision is no axis.
        "moving": samples.moving if len(samples.moving) > 1 else list(range(len(decisions))),
        "signals": [
            _slider(label, column) | {"moves": k in model.features_.columns or grid is not None}
            for k, (label, column) in enumerate(zip(signals, data.signals.T, strict=True))
        ],
        "columns": list(model.features_.columns),
        "part": program,
        "grid": grid,
        "cost": cost,
        "prices": [_slider(f"price of {name}", each) for name, each in prices] or None,
        "maximises": samples.reader.maximises,
        "discrete": bool(image.primitive.discrete),
        "first": rows.index(samples.typical),
        "rows": [
            {
                "place": samples.place(i),
                "signals": data.signals[i].tolist(),
                "decision": [None if np.isnan(x) else float(x) for x in samples.observed[i]],
                "prices": data.cost_matrix[i].tolist() if by_hand else None,
            }
            for i in rows
        ],
    }


def _slider(label: str, column: Array) -> dict[str, Any]:
    return {"label": label, "min": float(column.min()), "max": float(column.max())}


def _affine_cost(samples: Samples) -> dict[str, Any] | None:
    """Return what is paid or earned as ``C0 + C s``, where it is affine in the signals."""
    cost = samples.model.cost_
    if cost is None or isinstance(cost.specification, FunctionCost):
        return None
    constant = cost.evaluate(np.zeros((1, cost.n_signals)))
    slopes = cost.evaluate(np.eye(cost.n_signals)) - constant
    return {"C0": constant[0].tolist(), "C": slopes.T.tolist()}


# Regions on a grid of signals, for models that the page cannot compute by itself.


def region_grid(samples: Samples) -> dict[str, Any]:
    """Return points of the region while one signal moves and the others stay as they were."""
    data = samples.data.signals
    base = np.array(data[samples.typical])
    moving = _moving(samples, base)
    directions = _directions(samples.observed.shape[1])
    moves: dict[str, Any] = {}
    with ProgressBar("regions", VALUES * len(moving) + 1) as bar:
        start = _points(samples, base, directions)
        for done, k in enumerate(moving, 1):
            rows = np.tile(base, (VALUES, 1))
            rows[:, k] = np.linspace(data[:, k].min(), data[:, k].max(), VALUES)
            points = [_points(samples, row, directions) for row in rows]
            moves[str(k)] = {"values": rows[:, k].tolist(), "points": points}
            bar.update(VALUES * done)
    return {"base": base.tolist(), "points": start, "moves": moves}


def _moving(samples: Samples, base: Array) -> list[int]:
    """Return the signals that change the features, those that change them most if many."""
    data, features = samples.data.signals, samples.model.features_
    ends = np.tile(base, (2 * len(base), 1))
    for k in range(len(base)):
        ends[2 * k, k], ends[2 * k + 1, k] = data[:, k].min(), data[:, k].max()
    spread = samples.features.std(axis=0)
    scaled = features.transform(ends) / np.where(spread > 0.0, spread, 1.0)
    change = np.abs(scaled[1::2] - scaled[::2]).max(axis=1)
    strongest = np.argsort(-change, kind="stable")[:MOST_SIGNALS]
    return sorted(int(k) for k in strongest if change[k] > 0.0)


def _directions(n: int) -> Array:
    """Return costs whose minimisers show the outline along every pair of the first decisions."""
    rows = [*np.eye(n), *-np.eye(n)]
    angles = 2.0 * np.pi * (np.arange(DIRECTIONS) + 0.5) / DIRECTIONS
    for i, j in combinations(range(min(n, PAIRED)), 2):
        pair = np.zeros((DIRECTIONS, n))
        pair[:, i], pair[:, j] = np.cos(angles), np.sin(angles)
        rows += [*pair]
    return np.array(rows)


def _points(samples: Samples, signal: Array, directions: Array) -> list[list[float]] | None:
    """Return distinct points where the region at a signal is reached in each direction."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FeaslearnWarning)
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            region = samples.model.region(signal)
        lower, upper = region.bounding_box()
        # Both decisions of a pair count alike.
        span = np.where(upper > lower, upper - lower, 1.0)
        found = np.array([region.minimize(direction / span) for direction in directions])
    except (EmptySetError, FeaslearnWarning, InfeasibleProblemError):
        return None
    size = max(TINY, float(np.abs(found).max()))
    _, first = np.unique((found / size).round(9), axis=0, return_index=True)
    points: list[list[float]] = found[np.sort(first)].tolist()
    return points


# A learned region as numbers that the page computes it from, at any signal.


def region_program(model: RegionRegressor, signals: Array) -> dict[str, Any] | None:
    """Return the region of a fitted model as what JSON can hold."""
    if model.features_.transformer is not None or model.theta_.size > MOST_NUMBERS:
        return None
    n, k = len(decision_names(model)), model.features_.n_features
    part = _part(model.hypothesis_, model.theta_, n, k)
    if part is not None and part["kind"] == "rows":
        part |= _edges(model, n, k)
    if part is None or model.known_ is None:
        return part
    known = _known(model.known_, signals) if part["kind"] == "rows" else None
    return None if known is None else part | {"known": known}


def _edges(model: RegionRegressor, n: int, k: int) -> dict[str, Any]:
    """Return the names of facets in their order, and the status of each limit by its name."""
    covered = vars(model)["_seen"].rows
    labels = model.hypothesis_.describe(model.theta_, n, k).labels
    names = [""] * len(labels) if covered is None else covered.names
    status = () if covered is None else (WORDS[float(code)] for code in covered.status)
    facets = [name for name, row in zip(names, labels, strict=False) if row.kind == "facet"]
    return {"facets": facets, "status": dict(zip(names, status, strict=False))}


def _known(known: ResolvedKnown, signals: Array) -> dict[str, Any] | None:
    """Return known rows with right-hand sides ``C0 + C s``; None where they are not affine."""
    K = signals.shape[1]
    try:
        sides = [known.at(rows).columns() for rows in (np.zeros((1, K)), np.eye(K), signals)]
    except DataError:
        return None
    constant, ends, here = sides[0][0], sides[1], sides[2]
    is_finite = np.isfinite(constant)
    slopes = np.where(is_finite, ends, 0.0) - np.where(is_finite, constant, 0.0)
    if not np.allclose(constant + signals @ slopes, here, rtol=SAME_TOL, atol=SAME_TOL):
        return None
    return {
        "G": known.shape.G.tolist(),
        "E": known.shape.E.tolist(),
        "C0": [
            float(side) if finite else None
            for side, finite in zip(constant, is_finite, strict=True)
        ],
        "C": slopes.T.tolist(),
    }


def _part(hypothesis: Hypothesis, theta: Array, n: int, k: int) -> dict[str, Any] | None:
    facets, image, terms = hypothesis.as_facets(), hypothesis.as_maps(), hypothesis.as_minkowski(n)
    if facets is not None:
        rows = facets.rows(theta, n, k)
        return {"kind": "rows", **{name: part.tolist() for name, part in rows._asdict().items()}}
    if image is not None:
        code, maps = _code(image.latent(n)), image.maps(theta, n, k)
        if code is None or maps.A.size > MOST_NUMBERS:
            return None
        return {"kind": "map", "set": code, "A": maps.A.tolist(), "b": maps.b.tolist()}
    return None if terms is None else _sum(terms, theta, n, k)


def _sum(hypothesis: Minkowski, theta: Array, n: int, k: int) -> dict[str, Any] | None:
    blocks, basis = hypothesis.layout(n, k).unpack(theta), hypothesis.basis(k)
    terms = [
        {"set": _code(term.primitive), "E": term.embedding(n).tolist()}
        for term in hypothesis.terms_of(n)
    ]
    count = sum(np.size(term["E"]) for term in terms)
    if count > MOST_NUMBERS or any(term["set"] is None for term in terms):
        return None
    knots, b = blocks.get("knots"), blocks.get("b")
    index = None
    if knots is not None and hypothesis.scale == "index":
        index = index_direction(knots)
        knots = (knots @ index)[:, None]
    return {
        "kind": "sum",
        "n": n,
        "terms": terms,
        "alpha": blocks["alpha"].tolist() if terms else [],
        "basis": {
            "size": basis.size,
            "knots": None if knots is None else knots.tolist(),
            "index": None if index is None else index.tolist(),
        },
        "b": None if b is None else b.tolist(),
    }


def _code(primitive: PrimitiveSet) -> dict[str, Any] | None:
    """Return a set as the kernels read it."""
    code = primitive.code()
    if code is None or code.points.size > MOST_NUMBERS:
        return None
    return {name: part.tolist() for name, part in code._asdict().items()}
