"""Checks of the fitted state in a model file: fields by their declared types, then sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from feaslearn.exceptions import FeaslearnError, ModelFileError
from feaslearn.features import FeatureMap
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.conformal import Conformal
from feaslearn.inference.coverage import Coverage
from feaslearn.io.registry import TRANSFORMERS
from feaslearn.io.transformers import check_count
from feaslearn.regressor import FacetTable, LearnedFacet
from feaslearn.regressor.reader import Reader
from feaslearn.results import TrainingResult

T = TypeVar("T")


def check_state(state: Mapping[str, Any], transformer_is_given: bool) -> None:
    """Refuse a state that no fit can have left, naming the part that is wrong."""
    n_signals = check_count(state["n_features_in_"], "n_features_in_")
    check_names(state["feature_names_in_"], n_signals)
    features = _checked(FeatureMap, state["features_"], "features_")
    _check_features(features, n_signals, transformer_is_given)
    reader = _checked(Reader, state["_reader"], "outputs")
    n, k = check_count(reader.n_decisions, "outputs"), features.n_features
    _require(not reader.outputs.flat or n == 1, "outputs", "several decisions in a vector")
    labels = reader.outputs.labels
    _require(labels is None or len(labels) == n, "outputs", "not the labels of the decisions")
    _check_theta(state["hypothesis_"], state["theta_"], n, k)
    _checked(TrainingResult, state["result_"], "result_")
    _check_coverage(_checked(Coverage, state["_seen"], "_seen"), n_signals, n)
    if state["conformal_"] is not None:
        found = _checked(Conformal, state["conformal_"], "conformal_")
        _check_conformal(found, n, k, state["hypothesis_"])
    if state["_facets"] is not None:
        _check_facets(state["_facets"], n, k)


def _checked(kind: type[T], value: object, where: str) -> T:
    """Return an object of a class of ours whose fields have the declared types, or refuse it."""
    if not isinstance(value, kind):
        raise ModelFileError(f"{where}: not a {kind.__name__}")
    for name, declared in get_type_hints(kind).items():
        if not _fits(getattr(value, name), declared, f"{where}.{name}"):
            shown = getattr(declared, "__name__", declared)
            raise ModelFileError(f"{where}.{name}: not of the type {shown}")
    return value


def _fits(value: Any, declared: Any, where: str) -> bool:
    """Whether a value has a declared type; numbers of arrays must be finite, too."""
    origin, parts = get_origin(declared), get_args(declared)
    if declared is Any:
        return True
    if declared in (None, NoneType):
        return value is None
    if origin in (Union, UnionType):
        return any(_fits(value, part, where) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is np.ndarray:
        (scalar,) = get_args(parts[1])
        fits = isinstance(value, np.ndarray) and value.dtype == scalar
        return fits and bool(np.isfinite(value).all())
    if origin in (list, tuple):
        return type(value) is origin and all(_fits(each, parts[0], where) for each in value)
    if origin is dict:
        pairs = value.items() if type(value) is dict else [(None, None)]
        return all(_fits(k, parts[0], where) and _fits(v, parts[1], where) for k, v in pairs)
    if declared in (int, float):
        number = Integral if declared is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    if is_dataclass(declared) or hasattr(declared, "_fields"):
        return isinstance(value, declared) and _checked(declared, value, where) is value
    return isinstance(value, declared)


def _require(condition: bool, where: str, otherwise: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise ModelFileError(f"{where}: {otherwise}")


def _shapes(owner: Any, where: str, **shapes: tuple[int, ...]) -> None:
    """Refuse arrays of other shapes."""
    for name, shape in shapes.items():
        found = getattr(owner, name).shape
        _require(found == shape, f"{where}.{name}", f"has shape {found}, expected {shape}")


def check_names(names: object, count: int) -> list[str] | None:
    """Return the names of the signals, or None; refuse a wrong number of them."""
    if not _fits(names, list[str] | None, "") or (isinstance(names, list) and len(names) != count):
        raise ModelFileError(f"feature_names_in_: not a list of {count} names")
    return names  # type: ignore[return-value]


def _check_features(features: FeatureMap, n_signals: int, transformer_is_given: bool) -> None:
    """Refuse features that do not fit the signals."""
    where, columns, transformer = "features_", features.columns, features.transformer
    _require(all(0 <= j < n_signals for j in columns), where, "a column is not among the signals")
    _require(features.n_signals == n_signals, where, "another number of signals than the model")
    _require(len(features.names) > 0, where, "no names")
    if not transformer_is_given:
        width = len(columns) if transformer is None else _width(transformer, n_signals)
        _require(width == len(features.names) - 1, where, "another number of features than names")


def _width(transformer: Any, n_signals: int) -> object:
    """Return how many features a transformer makes, without making them."""
    where = "features_"
    _require(type(transformer) in TRANSFORMERS, where, "not a transformer that files hold")
    seen = getattr(transformer, "n_features_in_", None)
    _require(seen == n_signals, where, "the transformer was fitted to other signals")
    names = ("n_output_features_", "n_features_out_", "n_features_in_")
    return next(getattr(transformer, name) for name in names if hasattr(transformer, name))


def _check_theta(hypothesis: object, theta: object, n: int, k: int) -> None:
    """Refuse parameters that do not fit the hypothesis, or non-finite ones."""
    if not isinstance(hypothesis, Hypothesis):
        raise ModelFileError("hypothesis_: not a hypothesis")
    if not isinstance(theta, np.ndarray) or theta.ndim != 1 or theta.dtype != np.float64:
        raise ModelFileError("theta_: not a vector of floats")
    _require(bool(np.isfinite(theta).all()), "theta_", "NaN or infinite parameters")
    try:
        # The size first: it is cheap, and a gigantic set does not come through it.
        size = hypothesis.layout_of(theta, n, k).size
        wrong = f"{len(theta)} parameters, {hypothesis!r} has {size}"
        _require(size == len(theta), "theta_", wrong)
        hypothesis.check(n)
    except ModelFileError:
        raise
    except FeaslearnError as error:
        raise ModelFileError(f"hypothesis_: {error}") from error
    except Exception as error:
        raise ModelFileError(f"hypothesis_: {type(error).__name__}: {error}") from error


def _check_coverage(seen: Coverage, n_signals: int, n: int) -> None:
    """Refuse a summary of the data of other sizes."""
    where = "_seen"
    _require(min(seen.n_samples, seen.looked_at) > 0, where, "no number of samples")
    _shapes(seen, where, signals=(2, n_signals), decisions=(2, n), upper=(n,), lower=(n,))
    _shapes(seen, where, directions=(len(seen.directions), n), parts=(seen.parts.size,))
    if seen.rows is not None:
        rows, count = seen.rows, len(seen.rows.names)
        _require(len(rows.texts) == count, where, "limits without texts")
        _shapes(rows, where, status=(count,), scales=(count,))
        fits = rows.printed.size == 0 or rows.printed.shape[0] == count
        _require(fits, where, "limits without coefficients")
        fits = rows.regimes.ndim == 2 and rows.regimes.shape[1] in (0, 1 + count // 8)
        _require(fits, where, "not limits of samples")
        _require(rows.doubt >= 0.0, where, "no size of duals")


def _check_conformal(found: Conformal, n: int, k: int, hypothesis: Hypothesis) -> None:
    """Refuse a calibration of bands of other sizes."""
    where, count = "conformal_", len(found.scores)
    for share in (found.level, found.margin):
        _require(0.0 < share <= 1.0, where, "no level or no margin")
    _shapes(found, where, weights=(n,), scores=(count, n), folds=(count,))
    for theta in found.thetas[:1]:
        size = hypothesis.layout_of(theta, n, k).size
        _shapes(found, where, thetas=(len(found.thetas), size))
    known = np.isin(found.folds, np.arange(max(1, len(found.thetas))))
    fits = count > 0 and known.all() and (found.weights > 0.0).all()
    _require(bool(fits), where, "wrong folds or weights")


def _check_facets(table: object, n: int, k: int) -> None:
    """Refuse an invalid table of facets."""
    where = "facets_"
    if not isinstance(table, FacetTable):
        raise ModelFileError(f"{where}: not a table of facets")
    texts = _fits((*table.equalities, *table.bounds), tuple[str, ...], where)
    _require(texts, where, "equalities or bounds are not strings")
    for facet in table.facets:
        _shapes(_checked(LearnedFacet, facet, where), where, normal=(n,), limit=(k,))
