"""Files that are damaged, edited or meant to harm: our own errors, and quickly."""

from __future__ import annotations

import base64
import json
import tracemalloc
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
        "facets": fit(fl.Facets(2)),
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


def put(envelope: dict[str, Any], path: str, value: Any) -> None:
    """Replace a node of the model, named by its path."""
    node, keys = envelope["model"], [int(k) if k.isdigit() else k for k in path.split("/")]
    for key in keys[:-1]:
        node = _holder(node, key)[key]
    _holder(node, keys[-1])[keys[-1]] = value


def _holder(node: Any, key: str | int) -> Any:
    """Return a node, or its parameters where these hold the key."""
    holder = node if isinstance(node, list) or key in node else node["parameters"]
    assert isinstance(key, int) or key in holder
    return holder


def array(values: Any) -> Any:
    return encode_array(np.asarray(values))


def deep(levels: int) -> Any:
    node: Any = 1
    for _ in range(levels):
        node = [node]
    return node


def made(name: str, **parameters: Any) -> Any:
    return {"$": "object", "class": name, "parameters": parameters}


THETA, SEED, HYPOTHESIS = "fitted/theta_", "parameters/random_state", "fitted/hypothesis_"
GIGANTIC = {"$": "array", "dtype": "<f8", "order": "C", "data": ""}
SIMPLE = made("Simplex", p=2)

#: By a name, with the model if that is not "scaled": the path of a node, its value, what is said.
HOSTILE: dict[str, tuple[str, Any, str]] = {
    "gigantic-shape": (THETA, GIGANTIC | {"shape": [10**12]}, "length of an array"),
    "gigantic-empty": (THETA, GIGANTIC | {"shape": [0, 2**31, 2**31]}, "no array has"),
    "negative-shape": (THETA, GIGANTIC | {"shape": [-1]}, "not the length"),
    "object-dtype": (THETA, array([1.0]) | {"dtype": "|O"}, "type '|O' are not held"),
    "order": (THETA, array([1.0]) | {"order": "K"}, "order of an array"),
    "not-base64": (THETA, array([1.0]) | {"data": "!" * 12}, "not base64"),
    "short-data": (THETA, array([1.0]) | {"shape": [2]}, "do not have the size"),
    "truth-value-7": (
        SEED,
        array([True]) | {"data": base64.b64encode(b"\x07").decode()},
        "neither 0 nor 1",
    ),
    "nan-theta": (THETA, array(np.full(5, np.nan)), "theta_: NaN or infinite"),
    "short-theta": (THETA, array([1.0]), "theta_: 1 parameters, .* has 5"),
    "whole-theta": (THETA, array([1, 2, 3, 4, 5]), "not a vector of floats"),
    "deep": (SEED, deep(100), "nested more than 60 deep"),
    "tag": (SEED, {"$": "pickle", "data": "gASVAA=="}, "'pickle' is not a kind of value"),
    "more-keys": (SEED, {"$": "tuple", "items": [], "x": 1}, "has the keys"),
    "float-text": (SEED, {"$": "float", "value": "0x1"}, "not a float"),
    "dict-pairs": (SEED, {"$": "dict", "items": [[1, 2, 3]]}, "not a list of pairs"),
    "range-step": (SEED, {"$": "range", "parts": [0, 9, 0]}, "not a range"),
    "left-out-item": (SEED, [{"$": "left out", "what": "x"}], "not a kind of value"),
    "left-out-parameter": (
        "fitted/hypothesis_/primitive",
        {"$": "left out", "what": "x"},
        "'primitive' of Scaled is missing",
    ),
    "class": (SEED, made("subprocess.Popen", args="ls"), "not one that files may name"),
    "class-near": (SEED, made("Simplexx", p=2), "did you mean 'Simplex'"),
    "parameters": (SEED, made("Box") | {"parameters": 3}, "parameters of Box are 3"),
    "unknown-parameter": (SEED, made("Simplex", p=2, q=3), "no parameter 'q'; was the"),
    "missing-parameter": (SEED, made("Simplex"), "'p' of Simplex is missing"),
    "no-hypothesis": (HYPOTHESIS, 3, "hypothesis_: not a hypothesis"),
    "affine-of-3": (HYPOTHESIS, made("Affine", primitive=3), "needs a primitive set"),
    "gigantic-set": (
        HYPOTHESIS,
        made("Affine", primitive=made("Box", p=10**15)),
        "parameters, Affine",
    ),
    "nan-in-set": (
        HYPOTHESIS,
        made("Scaled", primitive=made("Box", p=2, lower=array([np.nan, 0.0]))),
        "hypothesis_",
    ),
    "class-of-model": ("class", "Pipeline", "not a model that files hold"),
    "state": ("fitted", {}, "the fitted state lacks"),
    "unknown-model-parameter": ("parameters", {"colour": 1}, "no parameter 'colour'"),
    "no-signals": ("fitted/n_features_in_", 0, "not a number of signals"),
    "other-signals": ("fitted/n_features_in_", 4, "another number of signals"),
    "names": ("fitted/feature_names_in_", ["a"], "not a list of 3 names"),
    "columns": ("fitted/features_/columns", {"$": "tuple", "items": [7]}, "not among"),
    "feature-names": ("fitted/features_/names", {"$": "tuple", "items": ["1"]}, "names"),
    "no-reader": ("fitted/_reader", 3, "outputs: not a Reader"),
    "flat": ("fitted/_reader/outputs/flat", True, "several decisions in a vector"),
    "labels": ("fitted/_reader/outputs/labels", {"$": "tuple", "items": [1]}, "not the labels"),
    "n-decisions": ("fitted/_reader/n_decisions", 10**9, "not a number of signals or decisions"),
    "nan-coverage": ("fitted/_seen/signals", array(np.full((2, 3), np.nan)), "_seen.signals"),
    "wide-coverage": ("fitted/_seen/signals", array(np.zeros((2, 4))), "_seen.signals: has shape"),
    "true-samples": ("fitted/_seen/n_samples", True, "_seen.n_samples"),
    "status": ("fitted/result_/status", "splendid", "result_.status"),
    "history": (
        "fitted/result_/history",
        {"$": "dict", "items": [["objective", ["x"]]]},
        "result_.history",
    ),
    "not-a-cost": ("fitted/cost_", [0], "cost_: not a cost"),
    "cost-columns": ("fitted/cost_/columns", [2], r"read \[2\]"),
    "cost-specification": ("fitted/cost_/specification", [0, 9], "column 9"),
    "facets: facet": ("fitted/_facets/facets", {"$": "tuple", "items": [3]}, "not a LearnedFacet"),
    "spline: spline-knots": (
        "fitted/features_/transformer/fitted/items/1/1/0/items/0",
        array([np.nan] * 5),
        "knots and coefficients",
    ),
    "spline: spline-bias": (
        "fitted/features_/transformer/include_bias",
        False,
        "another number of features",
    ),
    "poly: polynomial-degree": ("fitted/features_/transformer/degree", 10**9, "not the degree"),
    "scale: scaler-mean": (
        "fitted/features_/transformer/fitted/items/1/1",
        array([1.0]),
        "not 3 finite numbers",
    ),
    "scale: transformer": ("fitted/features_/transformer", made("StandardScaler"), "features_"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_forged_file(name: str, texts: dict[str, str], tmp_path: Path) -> None:
    path, value, message = HOSTILE[name]
    envelope = json.loads(texts[name.partition(": ")[0] if ": " in name else "scaled"])
    put(envelope, path, value)
    with pytest.raises(ModelFileError, match=message) as caught:
        load_tree(envelope, tmp_path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_random_generator_of_an_older_file_is_none(texts: dict[str, str], tmp_path: Path) -> None:
    envelope = json.loads(texts["scaled"])
    node = {"$": "generator", "kind": "PCG64", "state": [1, 3, 0, 0]}
    put(envelope, SEED, node)
    put(envelope, "parameters/n_jobs", node)
    with pytest.warns(FeaslearnWarning, match="random generator") as caught:
        model = load_tree(envelope, tmp_path)
    assert len(caught) == 1
    assert model.random_state is None
    assert model.n_jobs is None


def test_no_memory_is_taken_for_what_a_file_only_claims(
    texts: dict[str, str], tmp_path: Path
) -> None:
    envelope = json.loads(texts["scaled"])
    put(envelope, THETA, GIGANTIC | {"shape": [2**30]})
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        load_tree(envelope, tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
