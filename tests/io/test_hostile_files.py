"""Files that are damaged, edited or meant to harm: our own errors, and quickly."""

from __future__ import annotations

import base64
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from examples import fit
from feaslearn.exceptions import (
    FeaslearnWarning,
    FileError,
    ModelFileError,
    UnsupportedError,
)
from feaslearn.io.arrays import encode_array
from feaslearn.io.model_file import _checksum
from feaslearn.io.table import Frame


def encoded(model: fl.RegionRegressor, folder: Path) -> dict[str, Any]:
    fl.save(model, folder / "encoded.json")
    envelope: dict[str, Any] = json.loads((folder / "encoded.json").read_text("utf-8"))
    return envelope


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    models = {
        "scaled": fit(fl.Scaled(fl.Box(2, [0.0, 0.0], 1.0))),
        "blend": fit(fl.Blend([fl.Facets(2), fl.Affine(fl.Simplex(1))])),
        "spline": fit(fl.Scaled(fl.Box(2)), features=SplineTransformer(n_knots=3, degree=1)),
        "poly": fit(fl.Scaled(fl.Box(2)), features=PolynomialFeatures(2)),
        "scale": fit(fl.Scaled(fl.Box(2)), features=StandardScaler()),
    }
    return {name: json.dumps(encoded(model, folder)) for name, model in models.items()}


def load_text(text: str | bytes, folder: Path) -> fl.RegionRegressor:
    path = folder / "model.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return fl.load(path)


def load_tree(envelope: dict[str, Any], folder: Path) -> fl.RegionRegressor:
    """Load an envelope whose checksum is right again: the next line of defence is meant."""
    envelope["checksum"] = _checksum(envelope["model"])
    return load_text(json.dumps(envelope), folder)


# Files that are no files, or not whole


@pytest.mark.parametrize("name", ["missing.json", "a\0b"])
def test_a_file_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"missing|\.|a"):
        fl.load(f"{tmp_path}/{name}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "empty"),
        (b"\xff\xfe{}", "not UTF-8"),
        (b"PK\x03\x04", "not whole, or not a model file"),
        (b"{", "not whole"),
        (b"[]", "not a model file"),
        (b'{"format": "other"}', "its format is not 'feaslearn-model'"),
        (b'{"format": NaN}', "NaN is not JSON"),
        (b'{"format": 1, "format": 1}', "a key stands twice"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"format": ' + b"9" * 10_000 + b"}", "not whole, or not a model file"),
    ],
)
def test_a_file_that_is_something_else(text: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=message):
        load_text(text, tmp_path)


def test_an_edit_is_seen(texts: dict[str, str], tmp_path: Path) -> None:
    edited = texts["scaled"].replace('"sense": "min"', '"sense": "max"')
    assert edited != texts["scaled"]
    with pytest.raises(ModelFileError, match="checksum is wrong: the file was edited or damaged"):
        load_text(edited, tmp_path)


@pytest.mark.parametrize("name", ["c", "y"])
def test_names_that_no_file_could_be_written_with(name: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((20, 3))

    def fitted(change: dict[str, str]) -> fl.RegionRegressor:
        signals, decisions = ([change.get(each, each) for each in names] for names in ("abc", "xy"))
        model = fl.RegionRegressor(fl.Scaled(fl.Box(2)), cost=["a", "b"])
        return model.fit(Frame(values, signals), Frame(values[:, :2], decisions))

    text = json.dumps(encoded(fitted({}), tmp_path))
    forged = json.loads(text.replace(f'"{name}"', '"\\ud800"'))
    with pytest.raises(ModelFileError, match=r"'\\ud800' is not Unicode"):
        load_tree(forged, tmp_path)
    # Nor is a file written that cannot be read again.
    with pytest.raises(UnsupportedError, match=r"'\\ud800', which is not Unicode"):
        fl.save(fitted({name: "\ud800"}), tmp_path / "encoded.json")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (5, r"version 5 of the schema, written by feaslearn .*: upgrade feaslearn"),
        (1, r"version 1 of the schema, written by feaslearn .*: fit the model again"),
        (0, "0 is not a version"),
        (True, "True is not a version"),
    ],
)
def test_versions(version: Any, message: str, texts: dict[str, str], tmp_path: Path) -> None:
    envelope = json.loads(texts["scaled"]) | {"version": version}
    with pytest.raises(ModelFileError, match=message):
        load_tree(envelope, tmp_path)


# Files that were written with care to look right


def put(*keys: str | int) -> Callable[[dict[str, Any], Any], None]:
    """Return a function that replaces a node of the model."""

    def change(envelope: dict[str, Any], value: Any) -> None:
        node = envelope["model"]
        for key in keys[:-1]:
            node = node[key]
        assert isinstance(keys[-1], int) or keys[-1] in node
        node[keys[-1]] = value

    return change


def array(values: Any) -> Any:
    return encode_array(np.asarray(values))


def deep(levels: int) -> Any:
    node: Any = 1
    for _ in range(levels):
        node = [node]
    return node


def made(name: str, **parameters: Any) -> Any:
    return {"$": "object", "class": name, "parameters": parameters}


theta = put("fitted", "theta_")
seed = put("parameters", "random_state")
hypothesis = put("fitted", "hypothesis_")
outputs = ("fitted", "_reader", "parameters", "outputs", "parameters")
features = ("fitted", "features_", "parameters")
result = ("fitted", "result_", "parameters")

GIGANTIC = {"$": "array", "dtype": "<f8", "order": "C", "data": ""}
SIMPLE = made("Simplex", p=2)

HOSTILE: dict[str, tuple[str, Callable[[dict[str, Any], Any], None], Any, str]] = {
    "gigantic-shape": ("scaled", theta, GIGANTIC | {"shape": [10**12]}, "length of an array"),
    "gigantic-empty": ("scaled", theta, GIGANTIC | {"shape": [0, 2**31, 2**31]}, "no array has"),
    "negative-shape": ("scaled", theta, GIGANTIC | {"shape": [-1]}, "not the length"),
    "object-dtype": ("scaled", theta, array([1.0]) | {"dtype": "|O"}, "type '|O' are not held"),
    "order": ("scaled", theta, array([1.0]) | {"order": "K"}, "order of an array"),
    "not-base64": ("scaled", theta, array([1.0]) | {"data": "!" * 12}, "not base64"),
    "short-data": ("scaled", theta, array([1.0]) | {"shape": [2]}, "do not have the size"),
    "truth-value-7": (
        "scaled",
        seed,
        array([True]) | {"data": base64.b64encode(b"\x07").decode()},
        "neither 0 nor 1",
    ),
    "nan-theta": ("scaled", theta, array(np.full(5, np.nan)), "theta_: NaN or infinite"),
    "short-theta": ("scaled", theta, array([1.0]), "theta_: 1 parameters, .* has 5"),
    "whole-theta": ("scaled", theta, array([1, 2, 3, 4, 5]), "not a vector of floats"),
    "deep": ("scaled", seed, deep(100), "nested more than 60 deep"),
    "tag": ("scaled", seed, {"$": "pickle", "data": "gASVAA=="}, "'pickle' is not a kind of value"),
    "more-keys": ("scaled", seed, {"$": "tuple", "items": [], "x": 1}, "has the keys"),
    "float-text": ("scaled", seed, {"$": "float", "value": "0x1"}, "not a float"),
    "dict-pairs": ("scaled", seed, {"$": "dict", "items": [[1, 2, 3]]}, "not a list of pairs"),
    "range-step": ("scaled", seed, {"$": "range", "parts": [0, 9, 0]}, "not a range"),
    "left-out-item": ("scaled", seed, [{"$": "left out", "what": "x"}], "not a kind of value"),
    "left-out-parameter": (
        "scaled",
        put("fitted", "hypothesis_", "parameters", "primitive"),
        {"$": "left out", "what": "x"},
        "'primitive' of Scaled is missing",
    ),
    "class": ("scaled", seed, made("subprocess.Popen", args="ls"), "not one that files may name"),
    "class-near": ("scaled", seed, made("Simplexx", p=2), "did you mean 'Simplex'"),
    "parameters": ("scaled", seed, made("Box") | {"parameters": 3}, "parameters of Box are 3"),
    "unknown-parameter": ("scaled", seed, made("Simplex", p=2, q=3), "no parameter 'q'; was the"),
    "missing-parameter": ("scaled", seed, made("Simplex"), "'p' of Simplex is missing"),
    "no-hypothesis": ("scaled", hypothesis, 3, "hypothesis_: not a hypothesis"),
    "affine-of-3": ("scaled", hypothesis, made("Affine", primitive=3), "needs a primitive set"),
    "gigantic-set": (
        "scaled",
        hypothesis,
        made("Affine", primitive=made("Box", p=10**15)),
        "parameters, Affine",
    ),
    "empty-blend": ("scaled", hypothesis, made("Blend", hypotheses=[]), "at least one hypothesis"),
    "nan-in-set": (
        "scaled",
        hypothesis,
        made("Scaled", primitive=made("Box", p=2, lower=array([np.nan, 0.0]))),
        "hypothesis_",
    ),
    "class-of-model": ("scaled", put("class"), "Pipeline", "not a model that files hold"),
    "state": ("scaled", put("fitted"), {}, "the fitted state lacks"),
    "unknown-model-parameter": (
        "scaled",
        put("parameters"),
        {"colour": 1},
        "no parameter 'colour'",
    ),
    "no-signals": ("scaled", put("fitted", "n_features_in_"), 0, "not a number of signals"),
    "other-signals": ("scaled", put("fitted", "n_features_in_"), 4, "another number of signals"),
    "names": ("scaled", put("fitted", "feature_names_in_"), ["a"], "not a list of 3 names"),
    "columns": ("scaled", put(*features, "columns"), {"$": "tuple", "items": [7]}, "not among"),
    "feature-names": ("scaled", put(*features, "names"), {"$": "tuple", "items": ["1"]}, "names"),
    "no-reader": ("scaled", put("fitted", "_reader"), 3, "outputs: not a Reader"),
    "flat": ("scaled", put(*outputs, "flat"), True, "several decisions in a vector"),
    "labels": ("scaled", put(*outputs, "labels"), {"$": "tuple", "items": [1]}, "not the labels"),
    "n-decisions": (
        "scaled",
        put("fitted", "_reader", "parameters", "n_decisions"),
        10**9,
        "not a number of signals or decisions",
    ),
    "nan-coverage": (
        "scaled",
        put("fitted", "_seen", "parameters", "signals"),
        array(np.full((2, 3), np.nan)),
        "_seen.signals",
    ),
    "wide-coverage": (
        "scaled",
        put("fitted", "_seen", "parameters", "signals"),
        array(np.zeros((2, 4))),
        "_seen.signals: has shape",
    ),
    "true-samples": (
        "scaled",
        put("fitted", "_seen", "parameters", "n_samples"),
        True,
        "_seen.n_samples",
    ),
    "status": ("scaled", put(*result, "status"), "splendid", "result_.status"),
    "history": (
        "scaled",
        put(*result, "history"),
        {"$": "dict", "items": [["objective", ["x"]]]},
        "result_.history",
    ),
    "cost-columns": ("scaled", put("fitted", "cost_", "columns"), [2], r"read \[2\]"),
    "cost-specification": ("scaled", put("fitted", "cost_", "specification"), [0, 9], "column 9"),
    "facet": (
        "blend",
        put("fitted", "_facets", "parameters", "facets"),
        {"$": "tuple", "items": [3]},
        "not a LearnedFacet",
    ),
    "spline-knots": (
        "spline",
        put(*features, "transformer", "fitted", "items", 1, 1, 0, "items", 0),
        array([np.nan] * 5),
        "knots and coefficients",
    ),
    "spline-bias": (
        "spline",
        put(*features, "transformer", "parameters", "include_bias"),
        False,
        "another number of features",
    ),
    "polynomial-degree": (
        "poly",
        put(*features, "transformer", "parameters", "degree"),
        10**9,
        "not the degree",
    ),
    "scaler-mean": (
        "scale",
        put(*features, "transformer", "fitted", "items", 1, 1),
        array([1.0]),
        "not 3 finite numbers",
    ),
    "transformer": ("scale", put(*features, "transformer"), made("StandardScaler"), "features_"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_forged_file(name: str, texts: dict[str, str], tmp_path: Path) -> None:
    model, change, value, message = HOSTILE[name]
    envelope = json.loads(texts[model])
    change(envelope, value)
    with pytest.raises(ModelFileError, match=message) as caught:
        load_tree(envelope, tmp_path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_random_generator_of_an_older_file_is_none(texts: dict[str, str], tmp_path: Path) -> None:
    envelope = json.loads(texts["scaled"])
    node = {"$": "generator", "kind": "PCG64", "state": [1, 3, 0, 0]}
    put("parameters", "random_state")(envelope, node)
    put("parameters", "n_jobs")(envelope, node)
    with pytest.warns(FeaslearnWarning, match="random generator") as caught:
        model = load_tree(envelope, tmp_path)
    assert len(caught) == 1
    assert model.random_state is None
    assert model.n_jobs is None


def test_no_memory_is_taken_for_what_a_file_only_claims(
    texts: dict[str, str], tmp_path: Path
) -> None:
    envelope = json.loads(texts["scaled"])
    theta(envelope, GIGANTIC | {"shape": [2**30]})
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        load_tree(envelope, tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
