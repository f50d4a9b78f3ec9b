"""What happens between a chunk of samples and a model that goes on learning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Shard
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems, UnsupportedError
from feaslearn.losses import Objective
from feaslearn.regressor.checks import check_weights
from feaslearn.regressor.explanation.seen import Seen, look_on
from feaslearn.regressor.fit_problems import FitProblems
from feaslearn.regressor.parameters import check_parameters
from feaslearn.regressor.reader import Reader, check_signals, read
from feaslearn.runs import one_blas_thread
from feaslearn.trainers import Streaming, Trained, Trainer
from feaslearn.trainers.streaming import told_of_drift

if TYPE_CHECKING:
    from feaslearn.regressor.region_regressor import RegionRegressor
    from feaslearn.trainers.streaming import Stream

Array = NDArray[np.float64]


def can_go_on(model: RegionRegressor) -> bool:
    """Refuse a trainer that cannot go on; others than trainers are refused with the data."""
    trainer = model.trainer
    if isinstance(trainer, Trainer) and not isinstance(trainer, Streaming):
        raise UnsupportedError(
            f"partial_fit: {trainer!r} keeps nothing to go on from; use trainer='auto' or "
            "trainer=Streaming(...)"
        )
    return True


def streaming_trainer(model: RegionRegressor) -> Streaming:
    """Return what goes on with more samples; say who can where the model cannot."""
    trainer = model.trainer if isinstance(model.trainer, Streaming) else Streaming()
    if model.hypothesis is None and model.cost is not None:
        raise UnsupportedError(
            "partial_fit: hypothesis=None is chosen by cross-validation of all samples; name one "
            "that can go on: Minkowski, Scaled or Affine"
        )
    if hasattr(model, "theta_") and model.stream_ is None and not hasattr(model, "_samples"):
        raise UnsupportedError(
            "partial_fit: this model was fitted by a trainer that keeps nothing to go on from, and "
            "its samples are gone; fit it with trainer=Streaming(...) before it is saved"
        )
    return trainer


def begun(trained: Trained, n_rows: int, y: Any, sample_weight: Any) -> Stream | None:
    """Return the stream of a first chunk, in which samples count by the weights as given."""
    stream: Stream | None = trained.stream
    if stream is None or sample_weight is None:
        return stream
    given = np.asarray(sample_weight, dtype=np.float64)
    decisions = np.asarray(y, dtype=np.float64).reshape(len(given), -1)
    total = float(given[~np.isnan(decisions).all(axis=1)].sum())
    return stream.scaled(total / n_rows)


def follow(
    model: RegionRegressor, trainer: Streaming, X: Any, y: Any, costs: Any, sample_weight: Any
) -> tuple[Trained, Seen]:
    """Return a model's parameters after a chunk, and what it has seen; warn of drift."""
    problems = FitProblems()
    loss, _ = check_parameters(model, problems)
    problems.raise_all()
    stream, seen = model.stream_, vars(model)["_seen"]
    if loss is None or stream is None:
        raise AssertionError("no loss or no stream although no problem was found")
    shard, signals = _chunk(model, X, y, costs, sample_weight)
    objective = Objective(loss, model.hypothesis_, [shard])
    trainer.refuse(objective)
    if not len(shard.weights):
        return Trained(model.theta_, model.result_, stream), seen
    with one_blas_thread():
        trained = trainer.follow(objective, model.theta_, stream, shard)
    drift = trained.stream.drift
    if drift is not None and drift.alarms != (stream.drift and stream.drift.alarms):
        warnings.warn(told_of_drift(drift), FeaslearnWarning, stacklevel=4)
    return trained, look_on(seen, model.hypothesis_, trained.theta, shard, signals)


def _chunk(
    model: RegionRegressor, X: Any, y: Any, costs: Any, sample_weight: Any
) -> tuple[Shard, Array]:
    """Return the rows that count, and the signals of these rows."""
    features, prices = read(model, X, costs)
    signals = check_signals(model, X)
    reader: Reader = vars(model)["_reader"]
    decisions = reader.decisions(y, len(features))
    problems = Problems()
    weights = check_weights(sample_weight, len(features), problems)
    problems.raise_if_any(DataError, "partial_fit")
    if weights is None:
        raise AssertionError("no weights although no problem was found")
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
    kept = (weights > 0.0) & ~np.isnan(decisions).all(axis=1)
    return Shard(features, prices, decisions, weights).rows(kept), signals[kept]
