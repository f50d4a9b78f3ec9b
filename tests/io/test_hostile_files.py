"""Files that are damaged, edited, meant to harm, or have no room: our own errors, and quickly."""

from __future__ import annotations

import io
import json
import signal
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from experiments.frame import pictures
from feaslearn.exceptions import FileError, ModelFileError
from feaslearn.export.files import program_text
from feaslearn.io.model_file import MAX_ARRAYS
from feaslearn.io.tables import write_table
from feaslearn.sets import AffineImage
from model_files import POINT, contents_of, fit, packed, table, unpacked, use


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("models")
    facets = fit(fl.Facets())
    facets.conformalize(*table(2))
    models = {
        "box": fit(fl.Affine(fl.Box(2, [0.0, 0.0], 1.0))),
        "facets": facets,
        "terms": fit(fl.Minkowski.pairs(2)),
        "spline": fit(POINT, features=SplineTransformer(n_knots=3, degree=1)),
        "poly": fit(POINT, features=PolynomialFeatures(2)),
        "scale": fit(POINT, features=StandardScaler()),
    }
    return {name: contents_of(model, folder) for name, model in models.items()}


def load_bytes(contents: bytes, folder: Path, **options: Any) -> fl.RegionRegressor:
    path = folder / "model.npz"
    path.write_bytes(contents)
    return fl.load(path, **options)


# Files that are no files, or not whole


def archive(document: bytes) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, document=np.frombuffer(document, dtype=np.uint8))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"", "damaged, or not a model file"),
        (b'{"format": "feaslearn-model"}', "damaged, or not a model file"),
        (b"PK\x03\x04", "damaged, or not a model file"),
        (b"PK\x01\x02" * (MAX_ARRAYS + 1), "too many arrays"),
        (archive(b"{"), "not a model: JSONDecodeError"),
        (archive(b"\xff"), "not a model: UnicodeDecodeError"),
        (archive(b"[" * 100_000), "not a model: RecursionError"),
        (archive(b"[" + b"9" * 10_000 + b"]"), "not a model: ValueError"),
        (archive(b"[]"), "not a model of feaslearn"),
        (archive(b"{}"), "not a model of feaslearn"),
        (archive(b'{"feaslearn model": 2}'), "version 2: this reads 1; fit the model again"),
        (archive(b'{"feaslearn model": true}'), "version True"),
        (archive(b'{"feaslearn model": 1}'), "not whole"),
    ],
    ids=range(13),
)
def test_a_file_that_is_something_else(contents: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=message):
        load_bytes(contents, tmp_path)


def test_a_file_that_is_cut_or_changed(files: dict[str, bytes], tmp_path: Path) -> None:
    whole = files["box"]
    for cut in range(0, len(whole), 997):
        with pytest.raises(ModelFileError):
            load_bytes(whole[:cut], tmp_path)
    with pytest.raises(ModelFileError, match="Bad CRC-32"):
        load_bytes(whole.replace(b'"sense": "min"', b'"sense": "max"'), tmp_path)


def test_a_file_that_is_missing_or_too_large(files: dict[str, bytes], tmp_path: Path) -> None:
    for name in ("missing.npz", "a\0b"):
        with pytest.raises(FileError, match=r"No such file|embedded null"):
            fl.load(f"{tmp_path}/{name}")
    with pytest.raises(FileError, match="the limit is 1000; raise max_bytes"):
        load_bytes(files["box"], tmp_path, max_bytes=1000)


def test_compressed_and_overlapping_archives(files: dict[str, bytes], tmp_path: Path) -> None:
    arrays = unpacked(files["box"])[1]
    buffer = io.BytesIO()
    np.savez_compressed(buffer, document=np.zeros(10**7, dtype=np.uint8), **arrays)
    with pytest.raises(ModelFileError, match="compressed"):
        load_bytes(buffer.getvalue(), tmp_path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as forged:
        forged.writestr("document.npy", bytes(1000))
        for j in range(50):  # fifty entries of the same bytes
            twin = zipfile.ZipInfo(f"array{j}.npy")
            vars_of = forged.getinfo("document.npy")
            for name in ("header_offset", "CRC", "file_size", "compress_size"):
                setattr(twin, name, getattr(vars_of, name))
            forged.filelist.append(twin)
    with pytest.raises(ModelFileError, match="other sizes than it claims"):
        load_bytes(buffer.getvalue(), tmp_path)


# Arrays that are not what they claim


def npy(header: str, data: bytes) -> bytes:
    text = header.encode() + b" " * 20 + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


HEADER = "{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
ARRAYS = {
    "gigantic": (HEADER.format(descr="<f8", shape=(10**13,)), b"", "0 bytes for the shape"),
    "empty": (HEADER.format(descr="<f8", shape=(0, 2**62, 2**62)), b"", "ValueError|theta_"),
    "negative": (HEADER.format(descr="<f8", shape=(-1, -1)), b"8" * 8, "bytes for the shape"),
    "objects": (HEADER.format(descr="|O", shape=(1,)), b"8" * 8, "type object are not held"),
    "texts": (HEADER.format(descr="<U2", shape=(1,)), b"8" * 8, "are not held"),
    "times": (HEADER.format(descr="<M8[s]", shape=(1,)), b"8" * 8, "are not held"),
    "complex": (HEADER.format(descr="<c16", shape=(1,)), b"8" * 16, "are not held"),
    "long": (HEADER.format(descr="<f16", shape=(1,)), b"8" * 16, "are not held"),
    "records": (HEADER.format(descr=[("a", "<f8")], shape=(1,)), b"8" * 8, "are not held"),
    "truth": (HEADER.format(descr="|b1", shape=(1,)), b"\x07", "not truth values"),
    "more-data": (HEADER.format(descr="<f8", shape=(1,)), b"8" * 9, "9 bytes for the shape"),
    "code": ("__import__('os').system('true')", b"", "ValueError"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_forged_array(name: str, files: dict[str, bytes], tmp_path: Path) -> None:
    header, data, message = ARRAYS[name]
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(files["box"])) as whole, zipfile.ZipFile(buffer, "w") as forged:
        for member in whole.namelist():
            data_of = npy(header, data) if member == "array0.npy" else whole.read(member)
            forged.writestr(member, data_of)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=message):
        load_bytes(buffer.getvalue(), tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


# Documents that were written with care to look right


def made(name: str, **parameters: Any) -> Any:
    return {name: parameters}


def affine(primitive: str, **parameters: Any) -> Any:
    return made("Affine", primitive=made(primitive, **parameters))


SEED, HYPOTHESIS = "parameters/random_state", "fitted/hypothesis_"
COVERAGE, FEATURES = "fitted/_seen/Coverage", "fitted/features_/FeatureMap"
SPLINE, POLY, SCALE = (
    f"parameters/features/{name}"
    for name in ("SplineTransformer", "PolynomialFeatures", "StandardScaler")
)

#: By a name, with the model if that is not "box": the path of a node, its value, what is said.
HOSTILE: dict[str, tuple[str, Any, str]] = {
    "no-array": ("fitted/theta_", {"array": "array77"}, "the array is not in the file"),
    "array-path": ("fitted/theta_", {"array": ["x"]}, "the array is not in the file"),
    "theta-list": ("fitted/theta_", [1.0], "theta_: not of the type"),
    "deep": (SEED, json.loads("[" * 400 + "]" * 400), "nested more than 60 deep"),
    "two-keys": (SEED, {"tuple": [], "dict": {}}, "a node has one key, not 2"),
    "no-key": (SEED, {}, "a node has one key, not 0"),
    "tuple": (SEED, {"tuple": 3}, "not a list of nodes"),
    "large-number": (SEED, 10**30, "a number is too large"),
    "not-unicode": ("parameters/sense", "\ud800", "UnicodeEncodeError"),
    "class": (SEED, made("subprocess.Popen", args="ls"), "is not a class that files may name"),
    "own-class": (SEED, made("Blend", hypotheses=[]), "is not a class that files may name"),
    "parameters": (SEED, {"Box": 3}, "has no parameters"),
    "unknown-parameter": (SEED, made("Simplex", p=2, q=3), r"has no parameters \['q'\]"),
    "missing-parameter": (SEED, made("Simplex"), "missing 1 required"),
    "checkpoint": (SEED, made("Annealing", checkpoint="x"), r"no parameters \['checkpoint'\]"),
    "learned-box": (SEED, made("Box", p=2, learned={"dict": {}}), "has learned nothing"),
    "set-as-hypothesis": (HYPOTHESIS, made("Simplex", p=2), "hypothesis_: not of the type"),
    "affine-of-3": (HYPOTHESIS, made("Affine", primitive=3), "primitive set"),
    "74-gigabytes": (HYPOTHESIS, affine("Simplex", p=10**5), "of more than 5000 dimensions"),
    "gigantic": ("parameters/hypothesis", affine("Box", p=10**15), "of more than 5000 dimensions"),
    "nan-in-set": (HYPOTHESIS, affine("Box", p=2, lower=[float("nan"), 0.0]), "Box"),
    "other-set": (HYPOTHESIS, affine("Box", p=3), "theta_"),
    "terms: coordinates": (
        HYPOTHESIS,
        made("Minkowski", terms=[made("Term", primitive=made("Box", p=1), coordinates=[7])]),
        "term 0|theta_",
    ),
    "state": ("fitted", {}, "lacks or should not have"),
    "unknown-model-parameter": ("parameters/colour", 1, "lacks or should not have"),
    "signals": ("fitted/n_features_in_", 0, "not a number of signals"),
    "other-signals": ("fitted/n_features_in_", 4, "features_.n_signals: is 3, expected 4"),
    "names": ("fitted/feature_names_in_", ["a"], "feature_names_in_: is 1, expected 3"),
    "columns": (f"{FEATURES}/columns", {"tuple": [7]}, "features_.columns"),
    "feature-names": (f"{FEATURES}/names", {"tuple": ["1"]}, "theta_"),
    "no-names": (f"{FEATURES}/names", {"tuple": []}, "features_.names|theta_"),
    "flat": ("fitted/_reader/Reader/outputs/Outputs/flat", True, "outputs.flat: is 2"),
    "labels": ("fitted/_reader/Reader/outputs/Outputs/labels", {"tuple": [1]}, "outputs: is 1"),
    "n-decisions": ("fitted/_reader/Reader/n_decisions", 10**9, "not a number of signals or"),
    "true-samples": (f"{COVERAGE}/n_samples", True, "n_samples: not of the type"),
    "no-samples": (f"{COVERAGE}/n_samples", 0, "_seen"),
    "result": ("fitted/result_/TrainingResult/status", "splendid", "status: not of the type"),
    "cost": ("parameters/cost", 7, "load: cost"),
    "cost-column": ("parameters/cost", [0, 9], "column 9"),
    "known": ("parameters/known", made("Known", G=[[1.0]], g=[0.0]), "expected"),
    "no-known": ("parameters/known", 3, "is not a Known"),
    "facets: facet": ("fitted/_facets/FacetTable/facets", {"tuple": [3]}, "FacetTable|facets"),
    "facets: level": ("fitted/conformal_/Conformal/level", 7.0, "conformal_.level"),
    "facets: nan-level": ("fitted/conformal_/Conformal/level", float("nan"), "conformal_.level"),
    "facets: names": (f"{COVERAGE}/rows/RowCoverage/names", {"tuple": []}, "_seen.rows"),
    "facets: doubt": (f"{COVERAGE}/rows/RowCoverage/doubt", float("nan"), "_seen.rows.doubt"),
    "spline: splines": (f"{SPLINE}/learned/dict/splines", [], "has learned"),
    "spline: bias": (f"{SPLINE}/include_bias", False, "SplineTransformer gives"),
    "poly: degree": (f"{POLY}/degree", 10**9, "not a degree"),
    "poly: other-degree": (f"{POLY}/degree", 3, "gives"),
    "poly: many": (f"{POLY}/learned/dict/n_features_in_", 10**6, "learned|gives"),
    "scale: mean": (f"{SCALE}/learned/dict/mean_", None, "TypeError|failed"),
    "scale: nothing": ("parameters/features", made("StandardScaler"), "not fitted"),
}


def put(document: Any, path: str, value: Any) -> None:
    """Replace a node, named by its path."""
    *keys, last = path.split("/")
    for key in keys:
        document = document[key]
    document[last] = value


@pytest.mark.parametrize("name", HOSTILE)
def test_a_forged_document(name: str, files: dict[str, bytes], tmp_path: Path) -> None:
    path, value, message = HOSTILE[name]
    document, arrays = unpacked(files[name.partition(": ")[0] if ": " in name else "box"])
    put(document, path, value)
    contents = packed(document, arrays)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match=message) as caught:
        load_bytes(contents, tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("name", ["box", "facets", "terms", "spline", "poly", "scale"])
def test_forged_arrays_load_and_predict_or_are_refused(
    name: str, files: dict[str, bytes], tmp_path: Path
) -> None:
    """NaN, other shapes and other types, in each array: whatever loads can be used."""
    document, arrays = unpacked(files[name])
    for place, array in arrays.items():
        forged = {
            "nan": np.full(array.shape, np.nan),
            "huge": np.full(array.shape, 1e308),
            "cut": array[:-1] if array.ndim else array[None],
            "nested": array[None],
            "doubled": np.repeat(array, 2, axis=-1) if array.ndim else array,
            "empty": np.zeros((0,) * array.ndim, dtype=array.dtype),
            "whole": np.zeros(array.shape, dtype=np.int64),
            "bytes": np.full(array.shape, 255, dtype=np.uint8),
        }
        for kind, values in forged.items():
            contents = packed(document, arrays | {place: values})
            try:
                model = load_bytes(contents, tmp_path)
            except ModelFileError:
                continue
            assert kind != "nan" or not array.size, f"{place}: NaN was loaded"
            use(model)


# Where there is no room for a file, the one before it survives, whoever writes.

resource = pytest.importorskip("resource", reason="the system limits no files")

REGION = fl.Region(AffineImage(fl.Box(6), np.eye(6), np.zeros(6)), [f"x{j}" for j in range(6)])
COLUMNS = [np.arange(100.0), np.arange(100.0)]


def picture(path: Path) -> None:
    figure, _ = pictures.new_figure(2.0, 2.0)
    pictures.save(figure, path.parent, path.name)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "model.npz": lambda path: fl.save(fit(POINT), path),
    "table.csv": lambda path: write_table(path, ["a", "b"], COLUMNS),
    "table.parquet": lambda path: write_table(path, ["a", "b"], COLUMNS),
    "region.mps": lambda path: fl.export.to_mps(REGION, path),
    "picture.png": picture,
}


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """No file may grow beyond a few bytes: the system refuses the write, in any language."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", WRITERS)
def test_the_old_file_survives(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    whole = path.read_bytes()
    assert len(whole) > 200
    with little_room(100), pytest.raises(FileError) as caught:
        WRITERS[name](path)
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]
    message = str(caught.value)
    assert "stays as it was" in message or "could not be written whole" in message


def test_half_of_what_a_solver_wrote_is_not_taken_for_the_whole() -> None:
    with little_room(100), pytest.raises(FileError, match="could not be written whole"):
        program_text(REGION, "lp")
