"""The features phi(s) that a hypothesis is linear in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from feaslearn.arrays import Array, Indices
from feaslearn.costs import ResolvedCost
from feaslearn.data import Block, Chunk, as_matrix
from feaslearn.data.checks import counting
from feaslearn.exceptions import DataError, Problems, checked
from feaslearn.messages import did_you_mean

SPECIFICATIONS = ("non-cost", "all")


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """The features of a signal, ``phi(s) = (1, phi_1(s), ..., phi_{k-1}(s))``."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    n_signals: int
    transformer: Any = None

    @property
    def n_features(self) -> int:
        """The number k of features, with the constant."""
        return len(self.names)

    def transform(self, signals: Array) -> Array:
        """Return the features (N, k) of finite signals (N, K); the first column is 1."""
        if signals.ndim != 2 or signals.shape[1] != self.n_signals:
            raise DataError(
                f"features: the signals have shape {signals.shape}, expected (N, {self.n_signals})"
            )
        if self.transformer is None:
            # Column 0 holds the place of the constant: one pass over the signals, one new array.
            features = signals.take((0, *self.columns), axis=1)
        else:
            output = _transformed(self.transformer, signals)
            if output.shape[1] != self.n_features - 1:
                raise DataError(
                    f"features: {type(self.transformer).__name__} gives {output.shape[1]} columns, "
                    f"it gave {self.n_features - 1} when it was fitted"
                )
            features = np.empty((len(signals), self.n_features))
            features[:, 1:] = output
        features[:, 0] = 1.0
        return features


def fit_features(
    spec: Any,
    signals: Array,
    *,
    cost_columns: Collection[int],
    signal_names: Sequence[str],
) -> FeatureMap:
    """Make the feature map that a specification asks for."""
    n_signals = signals.shape[1]
    if isinstance(spec, str):
        if spec not in SPECIFICATIONS:
            hint = did_you_mean(spec, SPECIFICATIONS)
            raise DataError(f"features: {spec!r} is not known, nor a transformer; {hint}")
        left_out = set(cost_columns) if spec == "non-cost" else set()
        columns = tuple(j for j in range(n_signals) if j not in left_out)
        return FeatureMap(columns, ("1", *(signal_names[j] for j in columns)), n_signals)
    if isinstance(spec, type) or not (hasattr(spec, "fit") and hasattr(spec, "transform")):
        raise DataError(
            f"features: {spec!r} is not 'non-cost', 'all' or an instance of a scikit-learn "
            "transformer, with fit and transform"
        )
    transformer = clone(spec)
    _call(transformer, "fit", signals)
    width = _transformed(transformer, signals).shape[1]
    names = ("1", *_output_names(transformer, signal_names, width))
    return FeatureMap(tuple(range(n_signals)), names, n_signals, transformer)


def _call(transformer: Any, method: str, signals: Array) -> Any:
    view = signals.view()
    # A transformer that works in place would change the signals that the cost is read from.
    view.flags.writeable = False
    try:
        return getattr(transformer, method)(view)
    except Exception as error:
        raise DataError(
            f"features: {method} of {type(transformer).__name__} failed: {type(error).__name__}: "
            f"{error} (it receives all signals as an array without column names)"
        ) from error


def _transformed(transformer: Any, signals: Array) -> Array:
    name = type(transformer).__name__
    output = _call(transformer, "transform", signals)
    if hasattr(output, "toarray"):
        raise DataError(
            f"features: {name} gives a sparse matrix; ask it for a dense one (sparse_output=False, "
            "or sparse_threshold=0 for a ColumnTransformer)"
        )
    problems = Problems()
    matrix = as_matrix(output, name=f"the output of {name}", problems=problems)
    if matrix is not None and len(matrix) != len(signals):
        problems.add(f"{name} gives {len(matrix)} rows for {len(signals)} samples")
    return checked(matrix, problems, "features")


def _output_names(transformer: Any, signal_names: Sequence[str], width: int) -> tuple[str, ...]:
    """Ask the transformer; f0, f1, ... where it cannot say."""
    try:
        names = tuple(str(name) for name in transformer.get_feature_names_out(list(signal_names)))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        names = ()
    return names if len(names) == width else tuple(f"f{j}" for j in range(width))


# How rows of signals and decisions become what a loss reads.


@dataclass(frozen=True)
class SampleReader:
    """Makes features and costs of signals, and leaves out rows that do not count."""

    # An object, so that it can be sent to where the rows are.

    features: FeatureMap
    cost: ResolvedCost | None
    maximises: bool = False
    #: Whether the rows that do not count were left out before.
    counted: bool = False

    def __call__(self, chunk: Chunk) -> tuple[Block, Indices]:
        """Return the block, and which rows of the chunk it holds."""
        kept = np.arange(chunk.n_rows)
        if not self.counted:
            count = counting(chunk.decisions, chunk.weights)
            if not count.all():
                kept = np.flatnonzero(count)
                chunk = chunk.chosen(kept)
        signals, decisions, weights = (_as_kernels_read(table) for table in chunk[:3])
        try:
            features = self.features.transform(signals)
            costs = self._costs(chunk, signals)
        except DataError as error:
            if not chunk.place:
                raise
            raise DataError(
                f"{chunk.place}: {error} (rows are counted from row {chunk.first} of the data)"
            ) from error
        return Block(features, -costs if self.maximises else costs, decisions, weights), kept

    def _costs(self, chunk: Chunk, signals: Array) -> Array:
        if chunk.costs is not None:
            return _as_kernels_read(chunk.costs)
        return np.zeros(chunk.decisions.shape) if self.cost is None else self.cost.evaluate(signals)


def _as_kernels_read(table: Array) -> Array:
    """Return a table in the one form that kernels are compiled for."""
    if table.dtype == np.float64 and table.flags.c_contiguous and table.flags.writeable:
        return table
    return np.require(table, dtype=np.float64, requirements=["C", "W"])
