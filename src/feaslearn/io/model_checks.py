"""Checks of a model that came from a file: types of fields, sizes, and a trial."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import FeaslearnError, ModelFileError
from feaslearn.inference.coverage import Coverage
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import Reader

logger = logging.getLogger("feaslearn")

#: Most signals, or decisions.
MAX_COUNT = 10**6
#: Squares of larger numbers overflow.
LARGEST = 1e150


def require(condition: bool, where: str, otherwise: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise ModelFileError(f"{where}: {otherwise}")


def check_count(value: Any, where: str) -> int:
    """Return a number of signals or decisions."""
    counts = type(value) is int and 1 <= value <= MAX_COUNT
    require(counts, where, f"{value!r:.80} is not a number of signals or decisions")
    return int(value)


def check_numbers(array: NDArray[Any], where: str) -> None:
    """Refuse numbers whose squares overflow; whether infinity and NaN may be is for their owner."""
    large = np.isfinite(array) & (np.abs(array) > LARGEST)
    require(not large.any(), where, "a number is too large")


def has_type(value: Any, declared: Any) -> bool:
    """Whether a value has a declared type; numbers of arrays are finite."""
    origin, parts = get_origin(declared), get_args(declared)
    if declared in (Any, Hashable):
        return True
    if declared in (None, NoneType):
        return value is None
    if origin in (Union, UnionType):
        return any(has_type(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is np.ndarray:
        (scalar,) = get_args(parts[1])
        is_array = isinstance(value, np.ndarray) and value.dtype == scalar
        return is_array and bool((np.abs(value) <= LARGEST).all())
    if origin in (list, tuple, Sequence):
        kind = tuple if origin is Sequence else origin
        return type(value) is kind and all(has_type(item, parts[0]) for item in value)
    if origin is dict:
        return type(value) is dict and all(has_type(item, parts[1]) for item in value.values())
    if declared is float:
        return type(value) in (int, float)
    return type(value) is declared if declared in (int, bool) else isinstance(value, declared)


def check_sizes(state: dict[str, Any]) -> None:
    """Refuse parts of other sizes than the numbers of signals, decisions and features."""
    reader, features, seen = state["_reader"], state["features_"], state["_seen"]
    hypothesis, theta, bands = state["hypothesis_"], state["theta_"], state["conformal_"]
    signals, n = (
        check_count(state["n_features_in_"], "signals"),
        check_count(reader.n_decisions, "decisions"),
    )
    k, outputs, labels = len(features.names), reader.outputs, reader.outputs.labels
    layout = hypothesis.layout_of(theta, n, k)
    rows, limits = seen.rows, len(seen.rows.names)
    hypothesis.check(n)
    checks: list[tuple[str, Any, Any]] = [
        ("feature_names_in_", len(state["feature_names_in_"] or range(signals)), signals),
        ("features_.n_signals", features.n_signals, signals),
        ("features_.columns", all(0 <= j < signals for j in features.columns), True),
        ("features_.names", k > 0, True),
        ("outputs", len(range(n) if labels is None else labels), n),
        ("outputs.flat", n if outputs.flat else 1, 1),
        ("theta_", theta.shape, (layout.size,)),
        ("_seen", min(seen.n_samples, seen.looked_at) > 0, True),
        ("_seen.signals", seen.signals.shape, (2, signals)),
        ("_seen.decisions", seen.decisions.shape, (2, n)),
        ("_seen.upper", seen.upper.shape, (n,)),
        ("_seen.lower", seen.lower.shape, (n,)),
        ("_seen.directions", seen.directions.shape, (len(seen.directions), n)),
        ("_seen.parts", seen.parts.ndim, 1),
        ("_seen.rows.texts", len(rows.texts), limits),
        ("_seen.rows.status", rows.status.shape, (limits,)),
        ("_seen.rows.scales", rows.scales.shape, (limits,)),
        ("_seen.rows.printed", rows.printed.shape, (limits, n + k)),
        ("_seen.rows.regimes", rows.regimes.ndim, 2),
        ("_seen.rows.regimes", rows.regimes.shape[-1] in (0, 1 + limits // 8), True),
        ("_seen.rows.doubt", rows.doubt >= 0.0, True),
    ]
    checks += [
        ("facets_", (facet.normal.shape, facet.limit.shape), ((n,), (k,)))
        for facet in state["_facets"] or ()
    ]
    if bands is not None:
        count = len(bands.scores)
        of_fits = np.isin(bands.folds, np.arange(max(1, len(bands.thetas)))).all()
        checks += [
            ("conformal_.level", 0.0 < bands.level <= 1.0 and 0.0 < bands.margin <= 1.0, True),
            ("conformal_.weights", bands.weights.shape, (n,)),
            ("conformal_.weights", bool((bands.weights > 0.0).all()), True),
            ("conformal_.scores", (count > 0, bands.scores.shape), (True, (count, n))),
            ("conformal_.folds", (bands.folds.shape, bool(of_fits)), ((count,), True)),
            ("conformal_.thetas", bands.thetas.ndim, 2),
        ]
        for theta_of_fold in bands.thetas[:1]:
            size = hypothesis.layout_of(theta_of_fold, n, k).size
            checks.append(("conformal_.thetas", theta_of_fold.shape, (size,)))
    for where, found, expected in checks:
        require(found == expected, where, f"is {found}, expected {expected}")


def try_out(model: RegionRegressor) -> None:
    """Use a model at the ends of its data, as its user will: parts must work together."""
    seen: Coverage = vars(model)["_seen"]
    reader: Reader = vars(model)["_reader"]
    costs = np.ones((2, reader.n_decisions)) if reader.priced else None
    signals = np.array(seen.signals)
    model.features_.transform(signals)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for use in (
            lambda: model.predict(signals, costs=costs, return_trust=True),
            lambda: model.region(signals[0]).describe(),
            lambda: model.explain(signals[0], None if costs is None else costs[0]),
            lambda: model.conformal_ and model.predict_interval(signals, costs=costs),
            lambda: str(vars(model)["_facets"]),
            lambda: repr(model) + repr(model.result_),
        ):
            try:
                use()
            except FeaslearnError as error:
                logger.debug("a loaded model: %s", error)
