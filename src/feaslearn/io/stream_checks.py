"""Is what a file says about a model that goes on learning possible?"""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.exceptions import ModelFileError
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.trainers.convex import as_minkowski
from feaslearn.trainers.minkowski_fit.moments import Moments
from feaslearn.trainers.minkowski_fit.split import Split
from feaslearn.trainers.streaming import AffineStream, DriftTest, MomentStream, Stream

WHERE = "stream_"


def check_stream(given: object, hypothesis: Hypothesis, n: int, k: int) -> None:
    """Refuse a stream that does not belong to a hypothesis of n decisions and k features."""
    if given is None:
        return
    if not isinstance(given, Stream):
        raise ModelFileError(f"{WHERE}: not what a model goes on from")
    for count in (given.n_samples, given.n_chunks, given.n_tied):
        _require(type(count) is int and count >= 0, "no number of samples")
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
        _require((state.knots is None) == (knots is None), "knots that do not belong")
        if knots is not None:
            _arrays(state, {"knots": knots})
        _require(state.weight > 0.0, "no sample counts")
    elif isinstance(state, AffineStream) and terms is None:
        d = hypothesis.layout(n, k).size // n
        _arrays(state, {"mean": (k,), "scale": (k,), "metric": (d, d)})
        _require(type(state.loss) is float and type(state.weight) is float, "no sums")
        _require(state.weight > 0.0, "no sample counts")
    else:
        raise ModelFileError(f"{WHERE}: not of a model of {hypothesis!r}")
    _require(bool((state.scale > 0.0).all()), "a scale is not positive")


def _check_moments(sums: object, g: int, m: int, k: int, n: int, functions: int) -> None:
    if not isinstance(sums, Moments):
        raise ModelFileError(f"{WHERE}: no moments")
    _arrays(sums, {"aa": (g, m, g, m), "ab": (g, m, k, n), "bb": (k, k, n)})
    _arrays(sums, {"ra": (g, m), "rb": (k, n)})
    _arrays(sums, {"gram": (functions, functions)})
    numbers = (sums.xx, sums.weight, sums.observed, sums.tied)
    finite = all(isinstance(each, float) and np.isfinite(each) for each in numbers)
    _require(finite, "no sum of squares, weights or counts")


def _check_drift(drift: object) -> None:
    if not isinstance(drift, DriftTest):
        raise ModelFileError(f"{WHERE}: not a test for drift")
    _require(type(drift.rate) is float and 0.0 < drift.rate < 1.0, "not a rate of false alarms")
    _require(type(drift.evidence) is float and drift.evidence >= 0.0, "no evidence")
    _require(type(drift.seen) is int, "no number of samples")
    whole = isinstance(drift.alarms, tuple) and all(type(each) is int for each in drift.alarms)
    _require(whole, "alarms are not numbers of samples")
    reference = drift.reference
    _require(isinstance(reference, np.ndarray) and reference.ndim == 1, "no losses")
    _arrays(drift, {"reference": reference.shape})


def _arrays(owner: Any, shapes: dict[str, tuple[int, ...]]) -> None:
    for name, shape in shapes.items():
        array = getattr(owner, name)
        fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
        _require(fits and bool(np.isfinite(array).all()), f"{name} is not what it must be")


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise ModelFileError(f"{WHERE}: {otherwise}")
