"""What cannot be saved is refused by name; what is given again is checked."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from same import difference
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import feaslearn as fl
from examples import fit, table
from feaslearn.exceptions import (
    ModelFileError,
    UnsupportedError,
)
from feaslearn.trainers import GradientDescent


@pytest.fixture(scope="module")
def model() -> fl.RegionRegressor:
    return fit(fl.Scaled(fl.Box(2)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.json"


def never(iteration: int, iterate: Any) -> bool:
    return False


def prices(signals: Any) -> Any:
    return 2.0 * signals[:, :2]


def test_a_file_is_readable_json_with_a_version(model: fl.RegionRegressor, path: Path) -> None:
    fl.save(model, str(path))
    envelope = json.loads(path.read_text("utf-8"))
    assert (envelope["format"], envelope["version"]) == ("feaslearn-model", 4)
    assert envelope["feaslearn"] == fl.__version__
    assert envelope["model"]["parameters"]["hypothesis"]["class"] == "Scaled"


@pytest.mark.parametrize(
    "thing", [None, fl.baselines.LinearPolicy(), type("Mine", (fl.RegionRegressor,), {})()]
)
def test_what_is_no_model(thing: Any, path: Path) -> None:
    with pytest.raises(
        UnsupportedError, match=f"a {type(thing).__name__} is not a RegionRegressor"
    ):
        fl.save(thing, path)


def test_a_function_as_cost_is_refused_unless_it_is_given_again(path: Path) -> None:
    cost = fl.FunctionCost(prices, columns=[0, 1])
    model = fit(fl.Scaled(fl.Box(2)), cost=cost)
    with pytest.raises(UnsupportedError, match=r"cost is a function: FunctionCost\(prices.*load"):
        fl.save(model, path)
    assert not path.exists()
    fl.save(model, path, leave_out=["cost"])
    node = json.loads(path.read_text("utf-8"))["model"]["parameters"]["cost"]
    assert node == {"$": "left out", "what": "a function: FunctionCost(prices, columns=[0, 1])"}
    with pytest.raises(ModelFileError, match=r"without cost, a function: Fun.*load\(path, cost="):
        fl.load(path)
    loaded = fl.load(path, cost=cost)
    assert loaded.cost is cost
    signals, decisions = table(2)
    assert loaded.predict(signals).tobytes() == model.predict(signals).tobytes()
    assert loaded.fit(signals, decisions).theta_.tobytes() == model.theta_.tobytes()


TRANSFORMERS = {
    "Pipeline": Pipeline([("scale", StandardScaler())]),
    "FunctionTransformer": FunctionTransformer(np.arctan),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_any_other_transformer_is_refused_unless_it_is_given_again(name: str, path: Path) -> None:
    model = fit(fl.Scaled(fl.Box(2)), features=TRANSFORMERS[name])
    with pytest.raises(UnsupportedError, match=f"features is of type {name}, .*load") as caught:
        fl.save(model, path)
    assert str(caught.value).count(name) == 1
    fl.save(model, path, leave_out=["features"])
    with pytest.raises(ModelFileError, match=rf"without features, of type {name}; give it again"):
        fl.load(path)
    loaded = fl.load(path, features=model.features_.transformer)
    signals = table(2)[0]
    assert loaded.predict(signals).tobytes() == model.predict(signals).tobytes()
    assert loaded.features is model.features_.transformer


def test_everything_that_has_no_place_is_named_at_once(path: Path) -> None:
    trainer = GradientDescent(max_iter=0, n_starts=1, callback=never)
    model = fit(fl.Affine(fl.Simplex(2)), trainer=trainer, features=MinMaxScaler())
    model.note = "mine"
    with pytest.raises(UnsupportedError) as caught:
        fl.save(model, path)
    text = str(caught.value)
    assert "trainer.callback is a function: never" in text
    assert "features is of type MinMaxScaler" in text
    assert "note is an attribute" in text


def test_a_callback_left_out_comes_back_as_none(path: Path) -> None:
    trainer = GradientDescent(max_iter=0, n_starts=1, callback=never)
    fl.save(fit(fl.Affine(fl.Simplex(2)), trainer=trainer), path, leave_out=["callback"])
    assert difference(fl.load(path).trainer, GradientDescent(max_iter=0, n_starts=1)) is None


class Interval(fl.Box):
    """A set of the user's own."""

    def __init__(self, half: float) -> None:
        super().__init__(1, -half, half)
        self.half = half


def test_classes_of_the_users_own(path: Path) -> None:
    model = fit(fl.Scaled(Interval(2.0)), n=1)
    with pytest.raises(UnsupportedError, match=r"hypothesis.primitive is of type Interval"):
        fl.save(model, path)
    fl.save(model, path, classes=[Interval])
    with pytest.raises(ModelFileError, match="the class 'Interval' is not one that files may name"):
        fl.load(path)
    loaded = fl.load(path, classes=[Interval])
    assert difference(model, loaded) is None


# Writing


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupt_leaves_nothing_behind(
    model: fl.RegionRegressor, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fl.save(model, path)
    assert leftovers(path.parent) == []


@pytest.mark.skipif(sys.platform == "win32", reason="rights of POSIX")
def test_rights_and_links_are_kept(model: fl.RegionRegressor, path: Path) -> None:
    fl.save(model, path)
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_mask()
    path.chmod(0o640)
    link = path.with_name("link.json")
    link.symlink_to(path)
    before = path.stat().st_ino
    fl.save(model, link)
    assert link.is_symlink()
    assert path.stat().st_ino != before
    assert path.stat().st_mode & 0o777 == 0o640


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
