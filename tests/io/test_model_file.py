"""Models come back from their files the same; what cannot be saved is refused by name."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import feaslearn as fl
from feaslearn import trainers
from feaslearn.exceptions import DataError, ModelFileError, UnsupportedError
from model_files import HYPOTHESES, POINT, difference, fit, table, unpacked
from registry import fit_rows

pytestmark = pytest.mark.filterwarnings("ignore::feaslearn.exceptions.UnseenLimitWarning")


@pytest.fixture(scope="module")
def model() -> fl.RegionRegressor:
    return fit(fl.Affine(fl.Box(2)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.npz"


def check(model: fl.RegionRegressor, path: Path, **given_again: Any) -> fl.RegionRegressor:
    """Save and load a model, and compare what both say."""
    fl.save(model, path)
    loaded = fl.load(path, **given_again)
    n = model._reader.n_decisions
    signals = table(n)[0]
    costs = None if model.cost_ is not None or not model._reader.priced else signals[:, :n]
    ours, theirs = (each.predict(signals, costs, return_trust=True) for each in (model, loaded))
    assert ours[0].tobytes() == theirs[0].tobytes()
    assert difference(ours[1], theirs[1]) is None
    for name in ("theta_", "result_", "hypothesis_", "conformal_", "_facets", "_seen", "_reader"):
        assert difference(getattr(model, name), getattr(loaded, name), name) is None
    names = model.get_params(deep=False).keys() - {"features", "cost", "random_state"}
    for name in names:
        assert difference(getattr(model, name), getattr(loaded, name), name) is None
    ours, theirs = model.region(signals[0]), loaded.region(signals[0])
    assert ours.names == theirs.names
    assert ours.support(np.ones(n)) == theirs.support(np.ones(n))
    fl.save(loaded, path.with_suffix(".again"))
    assert path.read_bytes() == path.with_suffix(".again").read_bytes()
    return loaded


@pytest.mark.parametrize("name", HYPOTHESES)
def test_every_hypothesis(name: str, path: Path) -> None:
    check(fit(HYPOTHESES[name]), path)


def test_known_constraints_with_numbers_and_signals(path: Path) -> None:
    balance = (np.ones(2), fl.AffineCost([0.0], [[0.0, 0.0, 1.0]]))
    known = fl.Known(G=[[1.0, 0.0]], g=[-9.0], bounds=(-9.0, [9.0, None]), balance=balance)
    for hypothesis in (fl.Facets(), fl.Affine(fl.L2Ball(2))):
        assert check(fit(hypothesis, known=known), path).known_ is not None


@pytest.mark.parametrize("method", ["split", "cross"])
def test_limits_bands_and_names(method: str, path: Path) -> None:
    data = fl.datasets.make_power5(80, random_state=0)
    X, y = (
        pd.DataFrame(part, columns=list(names))
        for part, names in zip((data.signals, data.decisions), data.names, strict=True)
    )
    model = fit_rows(X[:60], y[:60], fl.Facets(), cost=["cost_*"])
    model.conformalize(X[60:], y[60:], method=method)
    fl.save(model, path)
    loaded = fl.load(path)
    assert loaded.predict(X).equals(model.predict(X))
    assert str(loaded.facets_) == str(model.facets_)
    assert str(loaded.explain()) == str(model.explain())
    ours, theirs = model.predict_interval(X), loaded.predict_interval(X)
    assert difference(ours.lower, theirs.lower) is None
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert repr(fl.evaluate(loaded, data)) == repr(fl.evaluate(model, data))
    # It can be fitted again, to the same.
    assert loaded.fit(X[:60], y[:60]).theta_.tobytes() == model.theta_.tobytes()


def public(room: Any, base: type) -> list[type]:
    """Return the classes of a room that can be made."""
    found = [getattr(room, name) for name in room.__all__]
    classes = [each for each in found if isinstance(each, type) and issubclass(each, base)]
    return [each for each in classes if not inspect.isabstract(each)]


PARTS = public(trainers, trainers.Trainer)


@pytest.mark.parametrize("kind", PARTS, ids=lambda kind: kind.__name__)
def test_every_trainer(kind: type, model: fl.RegionRegressor, path: Path) -> None:
    part = kind()
    loaded = check(clone_of(model).set_params(trainer=part), path)
    assert difference(loaded.trainer, part) is None


def clone_of(model: fl.RegionRegressor) -> fl.RegionRegressor:
    """Return a fitted copy, whose parameters can be set."""
    copy = clone(model)
    copy.__setstate__(copy.__getstate__() | vars(model))
    return copy


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
def test_features_that_files_hold(features: Any, path: Path) -> None:
    model = fit(POINT, features=features)
    loaded, signals = check(model, path), table(2)[0]
    assert type(loaded.features) is type(features)
    ours, theirs = (each.features_.transform(signals) for each in (model, loaded))
    assert ours.tobytes() == theirs.tobytes()
    assert loaded.fit(*table(2)).theta_.tobytes() == model.theta_.tobytes()


COSTS = {
    "positions": [1, 0],
    "range": range(2),
    "array": np.array([0, 1], dtype=np.int32),
    "constant": [1.0, np.float64(0.1)],
    "affine": fl.AffineCost([0.5, 0.0], np.asfortranarray([[0.1, 0.2, 0.3], [1.0, 0.0, 0.7]])),
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_that_files_hold(name: str, path: Path) -> None:
    check(fit(POINT, cost=COSTS[name]), path)


def test_no_cost_at_all_and_costs_at_fit_alone(path: Path) -> None:
    check(fit(None, cost=None), path)
    signals, decisions = table(2)
    priced = fl.RegionRegressor(POINT, random_state=0)
    check(priced.fit(signals, decisions, costs=signals[:, :2]), path)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_names_of_frames(library: Any, path: Path) -> None:
    signals, decisions = table(2)
    X = library(dict(zip(["price a", "price b", "demand"], signals.T, strict=True)))
    y = library(dict(zip(["power ä", "power b"], decisions.T, strict=True)))
    model = fit_rows(X, y, fl.Facets(), cost=["price*"])
    fl.save(model, path)
    loaded = fl.load(path)
    assert loaded.predict(X).equals(model.predict(X))
    assert list(loaded.predict(X).columns) == ["power ä", "power b"]


def test_the_order_of_arrays_in_memory_is_kept(path: Path) -> None:
    by_columns = np.asfortranarray([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    model = fit(fl.Affine(fl.Polytope(by_columns, [0.0, 0.0, -1.0])))
    assert check(model, path).hypothesis_.primitive.H.flags.f_contiguous


def test_a_generator_is_saved_as_none(path: Path) -> None:
    loaded = check(fit(fl.Affine(fl.Box(2)), random_state=np.random.default_rng(0)), path)
    assert loaded.random_state is None


# What files do not hold


@pytest.mark.parametrize(
    "thing", [None, LinearRegression(), type("Mine", (fl.RegionRegressor,), {})()]
)
def test_what_is_no_model(thing: Any, path: Path) -> None:
    name = type(thing).__name__
    with pytest.raises(UnsupportedError, match=f"a {name} is not a RegionRegressor"):
        fl.save(thing, path)


def prices(signals: Any) -> Any:
    return 2.0 * signals[:, :2]


def total(signals: Any) -> Any:
    return signals[:, 2:]


@pytest.mark.parametrize(
    ("part", "given", "said"),
    [
        ("cost", fl.FunctionCost(prices, columns=[0, 1]), "cost is a function: FunctionCost"),
        ("known", fl.Known(balance=(np.ones(2), total)), "known.balance.*"),
        ("features", Pipeline([("scale", StandardScaler())]), "features is of type Pipeline"),
        ("features", FunctionTransformer(np.arctan), "features is of type FunctionTransformer"),
        ("features", MinMaxScaler(), "features is of type MinMaxScaler"),
    ],
    ids=["cost", "known", "pipeline", "function", "scaler"],
)
def test_what_files_do_not_hold_is_left_out_and_given_again(
    part: str, given: Any, said: str, path: Path
) -> None:
    (signals, decisions), model = table(2), fit(POINT, **{part: given})
    with pytest.raises(UnsupportedError, match=rf"{said}.*load\(path, {part}="):
        fl.save(model, path)
    assert not path.exists()
    fl.save(model, path, leave_out=[part])
    with pytest.raises(ModelFileError, match=rf"without {part}: .*load\(path, {part}="):
        fl.load(path)
    again = model.features_.transformer if part == "features" else given
    loaded = fl.load(path, **{part: again})
    assert getattr(loaded, part) is again
    assert loaded.predict(signals).tobytes() == model.predict(signals).tobytes()
    assert loaded.fit(signals, decisions).theta_.tobytes() == model.theta_.tobytes()


def test_parts_of_other_data_are_refused(path: Path) -> None:
    cost, known = fl.FunctionCost(prices, [0, 1]), fl.Known(balance=(np.ones(2), total))
    fl.save(fit(POINT, cost=cost, known=known), path, leave_out=["cost", "known"])
    with pytest.raises(DataError, match="column 9"):
        fl.load(path, cost=fl.FunctionCost(prices, columns=[9]), known=known)
    with pytest.raises(DataError, match=r"expected \(rows, 2\)"):
        fl.load(path, cost=cost, known=fl.Known(balance=(np.ones(3), 1.0)))


def test_everything_that_has_no_place_is_named_at_once(path: Path) -> None:
    known = fl.Known(bounds=(lambda signals: np.full((len(signals), 2), -1e9), None))
    model = fit(POINT, known=known, features=MinMaxScaler())
    with pytest.raises(UnsupportedError) as caught:
        fl.save(model, path)
    text = str(caught.value)
    assert "is a function" in text
    assert "features is of type MinMaxScaler" in text


def test_sets_that_are_not_in_the_list_are_refused(path: Path) -> None:
    class Interval(fl.Box):
        """A set of the user's own."""

    with pytest.raises(UnsupportedError, match=r"hypothesis.primitive is of type Interval"):
        fl.save(fit(fl.Affine(Interval(1)), n=1), path)


def test_what_is_left_out_or_given_without_need(model: fl.RegionRegressor, path: Path) -> None:
    with pytest.raises(DataError, match=r"leave_out=\['cost'\]: there is nothing"):
        fl.save(model, path, leave_out="cost")
    fl.save(model, path)
    with pytest.raises(DataError, match="cost was given, but the file holds it"):
        fl.load(path, cost=[0, 1])


# Writing


def test_a_file_is_an_archive_with_a_version(model: fl.RegionRegressor, path: Path) -> None:
    fl.save(model, str(path))
    document, arrays = unpacked(path.read_bytes())
    assert document["feaslearn model"] == 1
    assert document["parameters"]["hypothesis"]["Affine"]["primitive"]["Box"]["p"] == 2
    place = document["fitted"]["theta_"]["array"]
    assert arrays[place].tobytes() == model.theta_.tobytes()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_error_leaves_nothing_behind(
    error: type[BaseException],
    model: fl.RegionRegressor,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(self: Path, target: Path) -> Path:
        raise error

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(error):
        fl.save(model, path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="rights of POSIX")
def test_rights_and_links_are_kept(model: fl.RegionRegressor, path: Path) -> None:
    fl.save(model, path)
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link = path.with_name("link.npz")
    link.symlink_to(path)
    before = path.stat().st_ino
    fl.save(model, link)
    assert link.is_symlink()
    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == 0o640
