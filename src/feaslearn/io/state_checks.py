"""Checks of the fitted state in a model file, before the model is made from it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any, TypeVar, get_args

import numpy as np

from feaslearn.exceptions import FeaslearnError, ModelFileError
from feaslearn.features import FeatureMap
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.conformal import Conformal
from feaslearn.inference.coverage import Coverage, RowCoverage
from feaslearn.io.registry import TRANSFORMERS
from feaslearn.io.transformers import MAX_SIGNALS
from feaslearn.regressor import FacetTable, LearnedFacet
from feaslearn.regressor.outputs import Outputs
from feaslearn.regressor.reader import Reader
from feaslearn.results import Status, TrainingResult
from feaslearn.trainers.convex import as_minkowski
from feaslearn.trainers.minkowski_fit.moments import Moments, Split
from feaslearn.trainers.streaming import AffineStream, DriftTest, MomentStream, Stream

T = TypeVar("T")

STREAM = "stream_"


def check_state(state: Mapping[str, Any], transformer_is_given: bool) -> None:
    """Refuse a state that no fit can have left, naming the part that is wrong."""
    n_signals = check_count(state["n_features_in_"], "n_features_in_")
    check_names(state["feature_names_in_"], n_signals)
    _check_features(state["features_"], n_signals, transformer_is_given)
    _check_reader(state["_reader"])
    n, k = state["_reader"].n_decisions, state["features_"].n_features
    _check_theta(state["hypothesis_"], state["theta_"], n, k)
    _check_result(state["result_"])
    _check_seen(state["_seen"], n_signals, n)
    check_stream(state["stream_"], state["hypothesis_"], n, k)
    _check_conformal(state["conformal_"], n, len(state["theta_"]))
    if state["_facets"] is not None:
        _check_facets(state["_facets"], n, k)


def check_count(value: object, where: str) -> int:
    """Return a number of signals or decisions; refuse anything else."""
    if type(value) is not int or not 1 <= value <= MAX_SIGNALS:
        raise ModelFileError(f"{where}: {value!r} is not a number of signals or decisions")
    return value


def check_names(names: object, count: int) -> list[str] | None:
    """Return the names of the signals, or None; refuse a wrong number of them."""
    if names is None:
        return None
    if not _all_strings(names, list) or len(names) != count:  # type: ignore[arg-type]
        raise ModelFileError(f"feature_names_in_: not a list of {count} names")
    return names  # type: ignore[return-value]


def _check_features(given: object, n_signals: int, transformer_is_given: bool) -> None:
    """Refuse features that do not fit the signals."""
    where = "features_"
    features = _the(FeatureMap, given, where, "not the features of a model")
    columns, transformer = features.columns, features.transformer
    _require(isinstance(columns, tuple) and set(map(type, columns)) <= {int}, where, "no columns")
    _require(all(0 <= j < n_signals for j in columns), where, "a column is not among the signals")
    _require(features.n_signals == n_signals, where, "another number of signals than the model")
    _require(_all_strings(features.names, tuple) and len(features.names) > 0, where, "no names")
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


def _check_reader(given: object) -> None:
    """Refuse an invalid reader of decisions."""
    where = "outputs"
    reader = _the(Reader, given, where, "not how a model reads decisions")
    count, outputs = check_count(reader.n_decisions, where), reader.outputs
    _require(isinstance(outputs, Outputs), where, "not the form of decisions")
    flags = (reader.priced, reader.maximises, outputs.flat)
    _require(all(type(flag) is bool for flag in flags), where, "a truth value is missing")
    _require(not outputs.flat or count == 1, where, "several decisions in a vector")
    labels = outputs.labels
    if labels is not None:
        fits = isinstance(labels, tuple) and len(labels) == count
        _require(fits and all(isinstance(x, Hashable) for x in labels), where, "not the labels")


def _check_theta(hypothesis: object, given: object, n: int, k: int) -> None:
    """Refuse parameters that do not fit the hypothesis, or non-finite ones."""
    where = "theta_"
    if not isinstance(hypothesis, Hypothesis):
        raise ModelFileError("hypothesis_: not a hypothesis")
    theta = _the(np.ndarray, given, where, "not a vector")
    _require(theta.ndim == 1 and theta.dtype == np.float64, where, "not a vector of floats")
    _require(bool(np.isfinite(theta).all()), where, "NaN or infinite parameters")
    try:
        # The size first: it is cheap, and a gigantic set does not come through it.
        size = hypothesis.layout(n, k).size
        _require(size == len(theta), where, f"{len(theta)} parameters, {hypothesis!r} has {size}")
        hypothesis.check(n)
    except ModelFileError:
        raise
    except FeaslearnError as error:
        raise ModelFileError(f"hypothesis_: {error}") from error
    except Exception as error:
        raise ModelFileError(f"hypothesis_: {type(error).__name__}: {error}") from error


def _check_result(given: object) -> None:
    """Refuse an invalid training result."""
    where = "result_"
    result = _the(TrainingResult, given, where, "not the result of a training run")
    _require(result.status in get_args(Status), where, f"no run has the status {result.status!r}")
    _require(isinstance(result.trainer, str), where, "the trainer is not a string")
    names = ("objective", "returned_loss", "n_iter", "seconds", "tied_share")
    _require(all(_is_number(getattr(result, name)) for name in names), where, "a number is missing")
    bound = result.lower_bound
    _require(bound is None or _is_number(bound), where, "the lower bound is not a number")
    met = result.ties_met
    _require(met is None or type(met) is int, where, "the ties are not a number")
    _require(_all_strings(result.warnings, list), where, "the warnings are not strings")
    for name, kept in (("history", result.history), ("details", result.details)):
        _require(isinstance(kept, dict) and _all_strings(list(kept), list), where, f"no {name}")
    lists = result.history.values()
    recorded = all(isinstance(each, list) and all(map(_is_number, each)) for each in lists)
    _require(recorded, where, "the history is not made of numbers")
    _require(all(map(_is_number, result.details.values())), where, "details are not numbers")


def _check_seen(given: object, n_signals: int, n: int) -> None:
    """Refuse an invalid summary of the data."""
    where = "_seen"
    seen = _the(Coverage, given, where, "not a summary of the data of a fit")
    for count in (seen.n_samples, seen.looked_at):
        _require(type(count) is int and count > 0, where, "no number of samples")
    names = ("signals", "decisions", "directions", "upper", "lower", "parts")
    for name in names:
        table = _the(np.ndarray, getattr(seen, name), where, f"{name} is not an array")
        _require(table.dtype == np.float64, where, f"{name} does not hold floats")
        _require(bool(np.isfinite(table).all()), where, f"{name} holds NaN or infinite values")
    shapes = (seen.signals.shape, seen.decisions.shape, seen.upper.shape, seen.lower.shape)
    _require(shapes == ((2, n_signals), (2, n), (n,), (n,)), where, "wrong sizes")
    fits = seen.directions.ndim == 2 and seen.directions.shape[1] == n and seen.parts.ndim == 1
    _require(fits, where, "wrong sizes")
    if seen.rows is not None:
        rows = _the(RowCoverage, seen.rows, where, "not what is known of limits")
        strings = _all_strings(rows.names, tuple) and _all_strings(rows.texts, tuple)
        _require(strings and type(rows.latent) is bool, where, "limits without names")
        count = len(rows.names)
        _require(len(rows.texts) == count, where, "limits without texts")
        for part in (rows.status, rows.scales):
            fits = isinstance(part, np.ndarray) and part.shape == (count,)
            _require(fits and bool(np.isfinite(part).all()), where, "limits without a status")
        printed = rows.printed
        fits = isinstance(printed, np.ndarray) and printed.dtype == np.float64
        fits = fits and (printed.size == 0 or printed.shape[0] == count)
        _require(fits and bool(np.isfinite(printed).all()), where, "limits without coefficients")
        packed = rows.regimes
        fits = isinstance(packed, np.ndarray) and packed.dtype == np.uint8 and packed.ndim == 2
        _require(fits and packed.shape[1] in (0, 1 + count // 8), where, "not limits of samples")
        _require(_is_number(rows.doubt) and rows.doubt >= 0.0, where, "no size of duals")


def _check_conformal(given: object, n: int, size: int) -> None:
    """Refuse an invalid calibration of bands."""
    where = "conformal_"
    if given is None:
        return
    found = _the(Conformal, given, where, "not a calibration of bands")
    numbers = (found.level, found.margin)
    positive = all(type(each) is float and 0.0 < each <= 1.0 for each in numbers)
    _require(positive, where, "no level or no margin")
    for name in ("weights", "scores", "folds", "thetas"):
        table = _the(np.ndarray, getattr(found, name), where, f"{name} is not an array")
        _require(table.dtype == np.float64, where, f"{name} does not hold floats")
        _require(bool(np.isfinite(table).all()), where, f"{name} holds NaN or infinite values")
    shapes = (found.weights.shape, found.scores.shape[1:], found.thetas.shape[1:])
    _require(shapes == ((n,), (n,), (size,)), where, "wrong sizes")
    count = len(found.scores)
    _require(found.folds.shape == (count,) and count > 0, where, "wrong sizes")
    known = np.isin(found.folds, np.arange(max(1, len(found.thetas))))
    _require(bool(known.all() and (found.weights > 0.0).all()), where, "wrong folds or weights")


def _check_facets(given: object, n: int, k: int) -> None:
    """Refuse an invalid table of facets."""
    where = "facets_"
    table = _the(FacetTable, given, where, "not a table of facets")
    texts = _all_strings(table.equalities, tuple) and _all_strings(table.bounds, tuple)
    _require(texts and type(table.regions) is int, where, "equalities or bounds are not strings")
    for facet in table.facets:
        _require(isinstance(facet, LearnedFacet), where, "not a facet")
        _require(isinstance(facet.text, str), where, "a facet has no text")
        for part, size in ((facet.normal, n), (facet.limit, k)):
            _require(isinstance(part, np.ndarray) and part.shape == (size,), where, "wrong sizes")
        named = isinstance(facet.name, str) and isinstance(facet.status, str)
        _require(named, where, "a facet has no name")
        whole = type(facet.binds) is int and type(facet.regions) is int
        _require(whole and _is_number(facet.price), where, "a facet lacks a number")
        _require(type(facet.identified) is bool, where, "a facet lacks a truth value")


def _the(kind: type[T], value: object, where: str, otherwise: str) -> T:
    """Return a value of a class, or refuse it."""
    if not isinstance(value, kind):
        raise ModelFileError(f"{where}: {otherwise}")
    return value


def _require(condition: bool, where: str, otherwise: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise ModelFileError(f"{where}: {otherwise}")


def _is_number(value: object) -> bool:
    """Whether a value is a real number."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _all_strings(values: object, kind: type[list[Any]] | type[tuple[Any, ...]]) -> bool:
    """Whether values are strings in a list or in a tuple."""
    return type(values) is kind and all(isinstance(value, str) for value in values)


def check_stream(given: object, hypothesis: Hypothesis, n: int, k: int) -> None:
    """Refuse a stream that does not belong to a hypothesis of n decisions and k features."""
    if given is None:
        return
    if not isinstance(given, Stream):
        raise ModelFileError(f"{STREAM}: not the state that a model continues from")
    for count in (given.n_samples, given.n_chunks, given.n_tied):
        _require(type(count) is int and count >= 0, STREAM, "no number of samples")
    if given.drift is not None:
        _check_drift(given.drift)
    state = given.state
    terms = as_minkowski(hypothesis, n)
    if isinstance(state, MomentStream) and terms is not None:
        basis = terms.basis(k)
        groups = (
            min(1, len(terms.terms_of(n))) if terms.scale == "shared" else len(terms.terms_of(n))
        )
        offset, m = k if terms.offset else 0, basis.size
        split = Split(m, k, basis.knotted, bool(terms.offset))
        _check_moments(state.sums, groups, m, offset, n, split.n_functions)
        _arrays(state, {"mean": (k,), "scale": (k,), "center": (n,)})
        held = len(state.ages) if isinstance(state.ages, np.ndarray) else 0
        _arrays(state, {"rows": (held, m), "ages": (held,)})
        knots = basis.knots_shape if basis.knotted else None
        _require((state.knots is None) == (knots is None), STREAM, "knots that do not belong")
        if knots is not None:
            _arrays(state, {"knots": knots})
        _require(state.weight > 0.0, STREAM, "no sample counts")
    elif isinstance(state, AffineStream) and terms is None:
        d = hypothesis.layout(n, k).size // n
        _arrays(state, {"mean": (k,), "scale": (k,), "metric": (d, d)})
        _require(type(state.loss) is float and type(state.weight) is float, STREAM, "no sums")
        _require(state.weight > 0.0, STREAM, "no sample counts")
    else:
        raise ModelFileError(f"{STREAM}: not of a model of {hypothesis!r}")
    _require(bool((state.scale > 0.0).all()), STREAM, "a scale is not positive")


def _check_moments(sums: object, g: int, m: int, k: int, n: int, functions: int) -> None:
    """Refuse moments of other sizes."""
    if not isinstance(sums, Moments):
        raise ModelFileError(f"{STREAM}: no moments")
    _arrays(sums, {"aa": (g, m, g, m), "ab": (g, m, k, n), "bb": (k, k, n)})
    _arrays(sums, {"ra": (g, m), "rb": (k, n)})
    _arrays(sums, {"gram": (functions, functions)})
    numbers = (sums.xx, sums.weight, sums.observed, sums.tied)
    finite = all(isinstance(each, float) and np.isfinite(each) for each in numbers)
    _require(finite, STREAM, "no sum of squares, weights or counts")


def _check_drift(drift: object) -> None:
    """Refuse an invalid drift test."""
    if not isinstance(drift, DriftTest):
        raise ModelFileError(f"{STREAM}: not a test for drift")
    _require(
        type(drift.rate) is float and 0.0 < drift.rate < 1.0, STREAM, "not a rate of false alarms"
    )
    _require(type(drift.evidence) is float and drift.evidence >= 0.0, STREAM, "no evidence")
    _require(type(drift.seen) is int, STREAM, "no number of samples")
    whole = isinstance(drift.alarms, tuple) and all(type(each) is int for each in drift.alarms)
    _require(whole, STREAM, "alarms are not numbers of samples")
    reference = drift.reference
    _require(isinstance(reference, np.ndarray) and reference.ndim == 1, STREAM, "no losses")
    _arrays(drift, {"reference": reference.shape})


def _arrays(owner: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    """Refuse arrays of other shapes, or non-finite ones."""
    for name, shape in shapes.items():
        array = getattr(owner, name)
        fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
        _require(fits and bool(np.isfinite(array).all()), STREAM, f"{name} is not what it must be")
