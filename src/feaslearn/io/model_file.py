"""Model files: arrays of numbers and one JSON document in an npz archive."""

from __future__ import annotations

import inspect
import io
import json
import os
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from math import prod
from types import MappingProxyType
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.utils.validation import check_is_fitted

from feaslearn import trainers
from feaslearn.costs import AffineCost, CostSpecification, FunctionCost, resolve_cost
from feaslearn.exceptions import (
    DataError,
    FeaslearnError,
    ModelFileError,
    Problems,
    UnsupportedError,
)
from feaslearn.features import FeatureMap
from feaslearn.hypotheses import Affine, Facets, Minkowski, Term
from feaslearn.hypotheses.hypothesis import Hypothesis
from feaslearn.inference.conformal import Conformal
from feaslearn.inference.coverage import Coverage, RowCoverage
from feaslearn.io.model_checks import (
    MAX_COUNT,
    check_count,
    check_numbers,
    check_sizes,
    has_type,
    require,
    try_out,
)
from feaslearn.io.whole_files import read_bytes, write_bytes
from feaslearn.known import Known, resolve_known
from feaslearn.regressor import FacetTable, LearnedFacet, RegionRegressor
from feaslearn.regressor.outputs import Outputs
from feaslearn.regressor.reader import Reader, check_fitted
from feaslearn.results import TrainingResult
from feaslearn.sets import Box, Hypersimplex, L1Ball, L2Ball, Polytope, Simplex

#: The version of the files that are written, and the only one that is read.
VERSION = 1
#: Larger files, and more arrays in one, are refused. An entry of an archive begins with the mark.
MAX_BYTES, MAX_ARRAYS, ENTRY = 256 * 2**20, 10_000, b"PK\x01\x02"
#: Most entries of a point of a set: some programs have a dense matrix of so many rows and columns.
MAX_DIMENSION = 5_000
#: Highest degree of polynomials, and how deep values are nested.
MAX_DEGREE, MAX_DEPTH = 100, 60
#: What `fit` leaves in a model, with its type; cost and known constraints are resolved anew.
STATE: dict[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": list[str] | None,
    "hypothesis_": Hypothesis,
    "features_": FeatureMap,
    "theta_": NDArray[np.float64],
    "result_": TrainingResult,
    "conformal_": Conformal | None,
    "_reader": Reader,
    "_facets": FacetTable | None,
    "_seen": Coverage,
}
#: Parts that can be left out as a whole, and are given again to `load`.
GIVEN_AGAIN = ("cost", "features", "known")
LEFT_OUT = "left out"
#: What a scaler has learned.
MOMENTS = ("mean_", "scale_")
#: Kinds and largest size of the numbers in arrays.
KINDS, LARGEST_ITEM = "biuf", 8
TRANSFORMERS = (PolynomialFeatures, SplineTransformer, StandardScaler)
#: Parts of the fitted state, whose fields have the types that they declare.
TYPED = (
    *(Conformal, Coverage, FacetTable, FeatureMap, LearnedFacet),
    *(Outputs, Reader, RowCoverage, TrainingResult),
)
SETS = (Box, Hypersimplex, L1Ball, L2Ball, Polytope, Simplex)
HYPOTHESES = (Affine, Facets, Minkowski, Term)
OWN = (*HYPOTHESES, *SETS, AffineCost, Known)


@cache
def classes() -> Mapping[str, type]:
    """Return the classes that a file may name, by their names."""
    public = [getattr(trainers, name) for name in trainers.__all__]
    found = [each for each in public if isinstance(each, type)]
    found = [each for each in found if issubclass(each, trainers.Trainer)]
    found = [each for each in found if not inspect.isabstract(each)]
    return MappingProxyType({each.__name__: each for each in (*found, *OWN, *TYPED, *TRANSFORMERS)})


def parameters_of(kind: type) -> list[str]:
    """Return the parameters that describe an instance; a file says nowhere where a fit writes."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    every = inspect.signature(kind).parameters.values()
    return [each.name for each in every if each.kind in named]


def save(
    model: RegionRegressor, path: str | os.PathLike[str], *, leave_out: Collection[str] = ()
) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file is an archive of NumPy (npz): arrays, and one JSON document. Numbers are exact, so that
    `load` returns a model with the same predictions, bit by bit. It holds parameters and what was
    learned, not the data.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model. Of scikit-learn's transformers, `StandardScaler`, `SplineTransformer` and
        `PolynomialFeatures` can be saved as its features.
    path : path-like
        Where to write. A file that is there is replaced.
    leave_out : collection of str, default=()
        Parts that no file can hold, and that are given again to `load`: ``"cost"`` (a
        `FunctionCost`), ``"features"`` (another transformer), ``"known"`` (with a function).

    Raises
    ------
    UnsupportedError
        Naming everything that a file cannot hold.
    FileError
        If the file cannot be written.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost)
    >>> fl.save(model.fit(data.signals, data.decisions), getfixture("tmp_path") / "switch.npz")
    """
    if type(model) is not RegionRegressor:
        raise UnsupportedError(
            f"save: a {type(model).__name__} is not a RegionRegressor; only these can be saved"
        )
    check_fitted(model)
    names = {leave_out} if isinstance(leave_out, str) else set(leave_out)
    writer = Writer(names)
    parameters = model.get_params(deep=False)
    # Those that the fit used: a cost may have been set since, and transformers hold what they
    # learned.
    features = model.features_
    parameters["cost"] = model.cost_ and model.cost_.specification
    parameters["known"] = model.known_ and model.known_.specification
    if features.transformer is not None:
        parameters["features"] = features.transformer
    state = {name: getattr(model, name, None) for name in STATE}
    state["features_"] = replace(features, transformer=None)
    document = {
        "feaslearn model": VERSION,
        "parameters": {name: writer.part(value, name) for name, value in parameters.items()},
        "fitted": {name: writer.part(value, name) for name, value in state.items()},
    }
    writer.problems.raise_if_any(UnsupportedError, "save")
    if names != writer.left_out:
        odd = sorted(names - writer.left_out)
        raise DataError(f"save: leave_out={odd}: there is nothing of it to leave out")
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8")
    buffer = io.BytesIO()
    np.savez(buffer, document=np.frombuffer(text, dtype=np.uint8), **writer.arrays)  # type: ignore[arg-type]
    write_bytes(path, buffer.getvalue())


def load(
    path: str | os.PathLike[str],
    *,
    cost: CostSpecification | None = None,
    features: Any = None,
    known: Known | None = None,
    max_bytes: int = MAX_BYTES,
) -> RegionRegressor:
    """Read a model that `save` has written.

    Nothing in the file is executed: it names classes of a fixed list, and its sizes are checked
    before memory is taken for them.

    Parameters
    ----------
    path : path-like
        The file.
    cost : cost specification, default=None
        The cost, where it was left out of the file.
    features : fitted transformer, default=None
        The transformer of the features, fitted, where it was left out of the file.
    known : Known, default=None
        The known constraints, where they were left out of the file.
    max_bytes : int, default=268435456
        Larger files are refused.

    Returns
    -------
    RegionRegressor
        The model, fitted.

    Raises
    ------
    FileError
        If the file cannot be read, or is too large.
    ModelFileError
        If it is not a model file, is damaged, is of another version, or lacks a part that must be
        given again.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost)
    >>> path = getfixture("tmp_path") / "switch.npz"
    >>> fl.save(model.fit(data.signals, data.decisions), path)
    >>> bool((fl.load(path).predict(data.signals) == model.predict(data.signals)).all())
    True
    """
    contents = read_bytes(path, max_bytes)
    given = {"cost": cost, "features": features, "known": known}
    try:
        document, arrays = _open(contents)
        model = _model(document, Reading(arrays, given))
        try_out(model)
    except FeaslearnError as error:
        if isinstance(error, DataError) and any(part is not None for part in given.values()):
            raise  # about what the caller gave
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{os.fspath(path)}: damaged, or not a model file: {error}") from error
    except Exception as error:
        # The last line of defence: whatever a forged file still brings about, it is the file.
        what = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{os.fspath(path)}: not a model: {what:.300}") from error
    return model


class Writer:
    """The nodes of a document, with the arrays that they refer to."""

    def __init__(self, leave_out: Collection[str] = ()) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.problems = Problems()
        self.left_out: set[str] = set()
        self._leave_out = leave_out

    def part(self, value: Any, name: str) -> Any:
        """Return the node of a parameter or of a part of the state; note what has none."""
        try:
            return self.node(value, name)
        except UnsupportedError as error:
            if name in self._leave_out:
                self.left_out.add(name)
                return {LEFT_OUT: str(error)}
            advice = "change it with set_params"
            if name in GIVEN_AGAIN:
                advice = f"save with leave_out=[{name!r}] and give it again: load(path, {name}=...)"
            self.problems.add(f"{error}, which a model file cannot hold; {advice}")
        return None

    def node(self, value: Any, where: str) -> Any:
        """Return the node of a value; ``where`` is its path, such as ``trainer.callback``."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return value
        if isinstance(value, list | tuple | range) and not hasattr(value, "_fields"):
            items = [self.node(item, f"{where}[{j}]") for j, item in enumerate(value)]
            return {"tuple": items} if isinstance(value, tuple) else items
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": {key: self.node(item, where) for key, item in value.items()}}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return None
        if classes().get(type(value).__name__) is type(value):
            return {type(value).__name__: self._object(value, where)}
        if hasattr(value, "__array__") and not isinstance(value, type):
            return self._array(np.asarray(value), where)
        is_function = callable(value) or isinstance(value, FunctionCost)
        name = getattr(value, "__name__", repr(value))
        what = f"a function: {name}" if is_function else f"of type {type(value).__name__}"
        raise UnsupportedError(f"{where} is {what}")

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        """Return the nodes of the parameters of an object, and what a transformer has learned."""
        names = parameters_of(type(value))
        nodes = {name: self.node(getattr(value, name), f"{where}.{name}") for name in names}
        if isinstance(value, TRANSFORMERS) and hasattr(value, "n_features_in_"):
            nodes["learned"] = self.node(_learned(value), where)
        return nodes

    def _array(self, array: NDArray[Any], where: str) -> Any:
        """Return a reference to an array of numbers; one of strings is a list."""
        if array.dtype.kind in "OU":
            return self.node(array.tolist(), where)
        if array.dtype.kind not in KINDS or array.dtype.itemsize > LARGEST_ITEM:
            raise UnsupportedError(f"{where} is an array of {array.dtype}")
        name = f"array{len(self.arrays)}"
        self.arrays[name] = array.astype(array.dtype.newbyteorder("<"), copy=False)
        return {"array": name}


def _learned(transformer: Any) -> dict[str, Any]:
    """Return what `transform` of a fitted transformer reads."""
    found = {"n_features_in_": transformer.n_features_in_}
    if isinstance(transformer, StandardScaler):
        found |= {name: getattr(transformer, name) for name in MOMENTS}
    if isinstance(transformer, SplineTransformer):
        found["splines"] = [
            (each.t, each.c, int(each.k), bool(each.extrapolate)) for each in transformer.bsplines_
        ]
    return found


def _restore(transformer: Any, learned: dict[str, Any], where: str) -> None:
    """Set what a transformer has learned; powers depend on the number of signals alone."""
    count = check_count(learned["n_features_in_"], where)
    if isinstance(transformer, SplineTransformer):
        splines = [BSpline(t, c, k, extrapolate=more) for t, c, k, more in learned["splines"]]
        fits = len(splines) == count and {each.k for each in splines} == {transformer.degree}
        fits &= len({each.c.shape[1] for each in splines}) == 1
        first = 0 if transformer.include_bias else 1
        transformer.bsplines_ = splines
        transformer.n_features_out_ = sum(each.c.shape[1] - first for each in splines)
    elif isinstance(transformer, StandardScaler):
        moments = {name: learned[name] for name in MOMENTS}
        fits = all(each is None or each.shape == (count,) for each in moments.values())
        for name, values in moments.items():
            setattr(transformer, name, values)
    else:
        fits = all(0 <= degree <= MAX_DEGREE for degree in np.ravel(transformer.degree))
        require(fits, where, f"{transformer.degree!r:.80} is not a degree")
        transformer.fit(np.zeros((1, count)))
        fits = transformer.n_output_features_ <= MAX_COUNT
    transformer.n_features_in_ = count
    require(fits, where, f"not what a {type(transformer).__name__} has learned")


class Reading:
    """Nodes of a document, all of them suspect, to values."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], given: Mapping[str, Any]) -> None:
        self._arrays = arrays
        self.unused = {name: part for name, part in given.items() if part is not None}

    def part(self, node: Any, name: str) -> Any:
        """Return the value of a parameter or of a part of the state, or what is given for it."""
        if not isinstance(node, dict) or node.keys() != {LEFT_OUT}:
            return self.value(node, name)
        if name not in self.unused:
            raise ModelFileError(
                f"written without {name}: {node[LEFT_OUT]!s:.200}; give it again: "
                f"load(path, {name}=...)"
            )
        return self.unused.pop(name)

    def value(self, node: Any, where: str) -> Any:
        """Return the value of a node; ``where`` is its path, for messages."""
        depth = where.count("[") + where.count(".")
        require(depth <= MAX_DEPTH, where[:80], f"nested more than {MAX_DEPTH} deep")
        if isinstance(node, list):
            return [self.value(item, f"{where}[{j}]") for j, item in enumerate(node)]
        if isinstance(node, dict):
            require(len(node) == 1, where, f"a node has one key, not {len(node)}")
            ((kind, inner),) = node.items()
            return self._made(kind, inner, where)
        if isinstance(node, str):
            node.encode("utf-8")
        require(not isinstance(node, int) or abs(node) <= 2**63, where, "a number is too large")
        if isinstance(node, float) and not where.startswith("result_"):
            check_numbers(np.array(node), where)
        return node

    def _made(self, kind: str, inner: Any, where: str) -> Any:
        """Return an array, a container or an object of one of our classes."""
        if kind == "array":
            known = isinstance(inner, str) and inner in self._arrays
            require(known, where, "the array is not in the file")
            check_numbers(self._arrays[inner], where)
            return self._arrays[inner]
        if kind == "tuple":
            require(isinstance(inner, list), where, "a tuple is not a list of nodes")
            return tuple(self.value(inner, where))
        require(isinstance(inner, dict), where, f"{kind!r:.80} has no parameters")
        if kind == "dict":
            return {key: self.value(item, f"{where}[{key!r}]") for key, item in inner.items()}
        require(kind in classes(), where, f"{kind!r:.80} is not a class that files may name")
        made, learned = classes()[kind], inner.pop("learned", None)
        names = {*inner} - {*parameters_of(made)}
        require(not names, where, f"{kind} has no parameters {sorted(names)!r:.80}")
        value = made(**{key: self.value(item, f"{where}.{key}") for key, item in inner.items()})
        if made in TYPED:
            for name, declared in get_type_hints(made.__init__).items():
                fits = name == "return" or has_type(getattr(value, name), declared)
                require(fits, f"{where}.{name}", f"not of the type {declared}, or not finite")
        if made in SETS:
            limit = f"sets of more than {MAX_DIMENSION} dimensions are not held by files"
            require(value.dimension <= MAX_DIMENSION, where, limit)
        if learned is not None:
            require(made in TRANSFORMERS, where, f"a {kind} has learned nothing")
            _restore(value, self.value(learned, where), where)
        return value


def _model(document: Any, reading: Reading) -> RegionRegressor:
    """Return the model that a document stands for; its parts must fit together."""
    whole = isinstance(document, dict) and document.get("feaslearn model") is not None
    require(whole, "document", "not a model of feaslearn")
    version = document["feaslearn model"]
    advice = "fit the model again, or read it with the version that wrote it"
    require(
        type(version) is int and version == VERSION,
        f"version {version!r:.80}",
        f"this reads {VERSION}; {advice}",
    )
    nodes, fitted = document.get("parameters"), document.get("fitted")
    require(isinstance(nodes, dict) and isinstance(fitted, dict), "document", "not whole")
    for found, known in ((nodes, parameters_of(RegionRegressor)), (fitted, [*STATE])):
        odd = sorted({*found} ^ {*known})
        require(not odd, "document", f"lacks or should not have {odd!r:.80}")
    values = {name: reading.part(node, name) for name, node in nodes.items()}
    state = {name: reading.part(node, name) for name, node in fitted.items()}
    if reading.unused:
        raise DataError(f"load: {', '.join(reading.unused)} was given, but the file holds it")
    for name, declared in STATE.items():
        require(has_type(state[name], declared), name, f"not of the type {declared}, or not finite")
    check_sizes(state)
    model, names = RegionRegressor(**values), state.pop("feature_names_in_")
    for name, value in state.items():
        setattr(model, name, value)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    if not isinstance(model.features, str):
        check_is_fitted(model.features)
        model.features_ = replace(model.features_, transformer=model.features)
    problems, n = Problems(), state["_reader"].n_decisions
    sizes = {"n_decisions": n, "n_signals": model.n_features_in_, "signal_names": names}
    model.cost_ = model.known_ = None
    if model.cost is not None:
        model.cost_ = resolve_cost(model.cost, **sizes, problems=problems)
    if model.known is not None:
        model.known_ = resolve_known(model.known, **sizes, problems=problems)
    problems.raise_if_any(DataError, "load")
    return model


def _open(contents: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the document and the arrays of an archive, whose sizes are those of the file."""
    require(contents.count(ENTRY) <= MAX_ARRAYS, "archive", "too many arrays")
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        members = archive.infolist()
        stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
        fits = stored and sum(member.file_size for member in members) <= len(contents)
        require(fits, "archive", "compressed, or of other sizes than it claims")
        arrays = {
            member.filename.removesuffix(".npy"): _array(archive.read(member), member.filename)
            for member in members
        }
    require("document" in arrays, "archive", "there is no document in it")
    document = json.loads(arrays.pop("document").tobytes().decode("utf-8"))
    return document, arrays


def _array(contents: bytes, where: str) -> NDArray[Any]:
    """Return the array that a member of an archive holds; its size is checked before."""
    file = io.BytesIO(contents)
    require(np.lib.format.read_magic(file) == (1, 0), where, "another version of arrays")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    plain = dtype.kind in KINDS and dtype.itemsize <= LARGEST_ITEM and dtype.names is None
    require(plain, where, f"arrays of type {dtype} are not held by model files")
    size, start = prod(shape) * dtype.itemsize, file.tell()
    fits = min(shape, default=0) >= 0 and size == len(contents) - start
    require(fits, where, f"{len(contents) - start} bytes for the shape {shape}")
    flat = np.frombuffer(contents, dtype, offset=start)
    require(dtype.kind != "b" or flat.view(np.uint8).max(initial=0) <= 1, where, "not truth values")
    # The order of the entries in memory can change the last bit of a matrix product.
    array = flat.reshape(shape, order="F" if by_columns else "C")
    return array.astype(dtype.newbyteorder("="), order="K")
