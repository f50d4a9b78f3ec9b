"""A model comes back from its file the same, bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from same import difference
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from examples import (
    HYPOTHESES,
    PARAMETRISED,
    TRAINERS,
    fit,
    instance,
    planted,
    quick,
    table,
)
from feaslearn.exceptions import TooManyVerticesError
from feaslearn.io.arrays import DTYPES
from feaslearn.io.decode import Decoder
from feaslearn.io.encode import Encoder
from feaslearn.io.registry import own_classes
from feaslearn.trainers import FacetLearning, Trainer
from registry import ONE_OF_EACH


def there_and_back(value: Any) -> Any:
    import json

    encoder = Encoder(own_classes())
    node = encoder.encode(value, "value")
    encoder.problems.raise_if_any(fl.exceptions.UnsupportedError, "test")
    return Decoder(own_classes()).decode(json.loads(json.dumps(node, allow_nan=False)), "value")


def check(model: fl.RegionRegressor, folder: Path, **given_again: Any) -> fl.RegionRegressor:
    path = folder / "model.json"
    fl.save(model, path)
    loaded = fl.load(path, **given_again)
    assert difference(model, loaded) is None
    check_use(model, loaded)
    return loaded


def check_use(model: fl.RegionRegressor, loaded: fl.RegionRegressor) -> None:
    n = model._reader.n_decisions
    signals = table(n)[0]
    costs = None if model.cost_ is not None or not model._reader.priced else signals[:, :n]
    ours, theirs = model.predict(signals, costs), loaded.predict(signals, costs)
    assert ours.tobytes() == theirs.tobytes()
    assert repr(model.result_) == repr(loaded.result_)
    ours, theirs = model.region(signals[0]), loaded.region(signals[0])
    assert ours.names == theirs.names
    assert ours.image.matrix.tobytes() == theirs.image.matrix.tobytes()
    assert ours.image.offset.tobytes() == theirs.image.offset.tobytes()
    assert difference(ours.image.primitive, theirs.image.primitive) is None
    assert ours.support(np.ones(n)) == theirs.support(np.ones(n))


@pytest.mark.parametrize("kind", PARAMETRISED, ids=lambda kind: kind.__name__)
def test_every_public_part_can_be_saved(kind: type) -> None:
    made = instance(kind)
    assert difference(made, there_and_back(made)) is None


@pytest.mark.parametrize("name", [name for name in ONE_OF_EACH if "product" not in name])
def test_every_kind_of_set(name: str, tmp_path: Path) -> None:
    check(planted(fl.Affine, name), tmp_path)


@pytest.mark.parametrize("kind", HYPOTHESES, ids=lambda kind: kind.__name__)
def test_every_hypothesis_with_what_auto_means(kind: type, tmp_path: Path) -> None:
    check(fit(instance(kind)), tmp_path)


@pytest.mark.parametrize("kind", TRAINERS, ids=lambda kind: kind.__name__)
def test_every_trainer(kind: type[Trainer], tmp_path: Path) -> None:
    trainer = quick(kind)
    for hypothesis in map(instance, HYPOTHESES):
        try:
            model = fit(hypothesis, trainer=trainer)
        except fl.exceptions.UnsupportedError:
            continue
        check(model, tmp_path)
        return
    raise AssertionError(f"no hypothesis for {trainer!r}: put an instance into MADE in examples.py")


@pytest.mark.parametrize(
    "features",
    [
        "all",
        StandardScaler(),
        StandardScaler(with_std=False),
        PolynomialFeatures((2, 3), interaction_only=True, order="F"),
        SplineTransformer(n_knots=3, degree=2),
        SplineTransformer(n_knots=4, degree=3, extrapolation="periodic"),
        SplineTransformer(degree=1, knots=np.array([[-9.0] * 3, [0.0] * 3, [9.0] * 3])),
    ],
    ids=repr,
)
def test_features_that_files_hold(features: Any, tmp_path: Path) -> None:
    loaded = check_loosely(fit(fl.Scaled(fl.Simplex(2)), features=features), tmp_path)
    assert type(loaded.features) is type(features)
    signals, decisions = table(2)
    assert loaded.fit(signals, decisions).features_.n_features > 1


def check_loosely(model: fl.RegionRegressor, folder: Path) -> fl.RegionRegressor:
    """Check all but the insides of a transformer, which belong to scikit-learn."""
    fl.save(model, folder / "model.json")
    loaded = fl.load(folder / "model.json")
    signals = table(2)[0]
    ours, theirs = model.features_.transform(signals), loaded.features_.transform(signals)
    assert ours.tobytes() == theirs.tobytes()
    assert model.features_.names == loaded.features_.names
    check_use(model, loaded)
    return loaded


COSTS = {
    "positions": [1, 0],
    "range": range(2),
    "array": np.array([0, 1], dtype=np.int32),
    "constant": [1.0, np.float64(0.1)],
    "affine": fl.AffineCost([0.5, 0.0], np.asfortranarray([[0.1, 0.2, 0.3], [1.0, 0.0, 0.7]])),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_that_files_hold(name: str, tmp_path: Path) -> None:
    check(fit(fl.Scaled(fl.Box(2)), cost=COSTS[name]), tmp_path)


def test_no_cost_at_all_and_costs_at_fit_alone(tmp_path: Path) -> None:
    check(fit(None, cost=None), tmp_path)
    signals, decisions = table(2)
    priced = fl.RegionRegressor(fl.Scaled(fl.Box(2))).fit(signals, decisions, costs=signals[:, :2])
    check(priced, tmp_path)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_names_of_frames(library: Any, tmp_path: Path) -> None:
    signals, decisions = table(2)
    X = library(dict(zip(["price a", "price b", "demand"], signals.T, strict=True)))
    y = library(dict(zip(["power ä", "power b"], decisions.T, strict=True)))
    trainer = FacetLearning()
    model = fl.RegionRegressor(fl.Facets(), cost=["price*"], trainer=trainer, random_state=0)
    fl.save(model.fit(X, y), tmp_path / "model.json")
    loaded = fl.load(tmp_path / "model.json")
    assert difference(model, loaded) is None
    assert list(loaded.feature_names_in_) == ["price a", "price b", "demand"]
    assert loaded.predict(X).equals(model.predict(X))
    assert list(loaded.predict(X).columns) == ["power ä", "power b"]
    assert str(loaded.facets_) == str(model.facets_)


def test_a_loaded_model_can_be_fitted_evaluated_and_saved_again(tmp_path: Path) -> None:
    data = fl.datasets.make_power5(60, random_state=0)
    model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    model.fit(data.signals, data.decisions)
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    fl.save(model, first)
    loaded = fl.load(first)
    assert repr(fl.evaluate(loaded, data)) == repr(fl.evaluate(model, data))
    fl.save(loaded, second)
    assert first.read_bytes() == second.read_bytes()
    region = loaded.region(data.signals[0])
    try:
        assert region.vertices().tobytes() == model.region(data.signals[0]).vertices().tobytes()
    except TooManyVerticesError as error:  # pragma: no cover
        raise AssertionError("power5 has few vertices") from error
    fl.save(loaded.fit(data.signals, data.decisions), second)
    assert fl.load(second).theta_.tobytes() == model.theta_.tobytes()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays(np.dtype(dtype), array_shapes(min_dims=0, min_side=0))
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
        | inner.map(lambda value: fl.Box(1, value))
    ),
    max_leaves=8,
)


@given(VALUES)
def test_any_value_comes_back(value: Any) -> None:
    assert difference(value, there_and_back(value)) is None


@given(arrays(np.float64, array_shapes(), elements=st.floats(allow_nan=True)))
def test_arrays_in_any_order_come_back_exactly(array: Any) -> None:
    for view in (array, np.asfortranarray(array), array[::-1], array.T):
        back = there_and_back(view)
        assert back.tobytes() == view.tobytes()
        if view.flags.f_contiguous and not view.flags.c_contiguous:
            assert back.flags.f_contiguous
