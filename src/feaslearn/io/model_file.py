"""Model files: JSON, nothing of which is executed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Collection, Iterable
from typing import Any

from feaslearn.atomic import read_bytes, write_bytes
from feaslearn.costs import CostSpecification
from feaslearn.exceptions import (
    DataError,
    FeaslearnError,
    FeaslearnWarning,
    ModelFileError,
    UnsupportedError,
)
from feaslearn.io.decode import Decoder, decode_model
from feaslearn.io.encode import Encoder, encode_model
from feaslearn.io.registry import with_classes
from feaslearn.known import Known
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_fitted

FORMAT = "feaslearn-model"
#: The schema that is written, and the oldest that is read.
VERSION, OLDEST = 4, 2
#: Files beyond this are refused unless the caller says otherwise.
MAX_BYTES = 256 * 2**20
#: Asked of the package itself: its names lead to every layer, this one may not.
__version__: str = sys.modules["feaslearn"].__version__
KEYS = {"format", "version", "feaslearn", "checksum", "model"}

#: Classes that have another name now.
RENAMED: dict[str, str] = {"Seen": "Coverage"}
#: Parameters that are gone, by class, with the default that needs no warning.
GONE: dict[str, dict[str, Any]] = {
    "AdaptiveSmoothing": {"patience": None, "validation": None},
    "Annealing": {"patience": None, "validation": None},
    "FacetLearning": {"n_starts": 3, "held_out": 0.2, "support": 4, "tries": 8},
    "GradientDescent": {"patience": None, "validation": None},
    "Known": {"inequalities": "intersect"},
    "Seen": {"root": None},
}


def save(
    model: RegionRegressor,
    path: str | os.PathLike[str],
    *,
    leave_out: Collection[str] = (),
    classes: Iterable[type] = (),
) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file is JSON. Arrays are exact, so that `load` returns a model with the same predictions,
    regions and results, bit by bit. It holds parameters and what was learned, not the data.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model. Of scikit-learn's transformers, `StandardScaler`, `SplineTransformer` and
        `PolynomialFeatures` can be saved as its features.
    path : path-like
        Where to write. A file that is there is replaced.
    leave_out : collection of str, default=()
        Parameters that no file can hold. ``"cost"`` (a `FunctionCost`), ``"features"`` (another
        transformer) and ``"known"`` (with a function) must be given again to `load`;
        others, such as the ``"callback"`` of a trainer, load with their default.
    classes : iterable of type, default=()
        Sets, hypotheses, losses or trainers of your own that the model is made of.

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
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> fl.save(model.fit(data.signals, data.decisions), getfixture("tmp_path") / "switch.json")
    """
    if type(model) is not RegionRegressor:
        raise UnsupportedError(
            f"save: a {type(model).__name__} is not a RegionRegressor; only these can be saved"
        )
    check_fitted(model)
    names = [leave_out] if isinstance(leave_out, str) else list(leave_out)
    encoder = Encoder(with_classes(classes), names)
    tree = encode_model(model, encoder)
    if encoder.unused:
        raise DataError(f"save: leave_out={encoder.unused}: there is nothing of it to leave out")
    envelope = {
        "format": FORMAT,
        "version": VERSION,
        "feaslearn": __version__,
        "checksum": _checksum(tree),
        "model": tree,
    }
    text = json.dumps(envelope, indent=1, allow_nan=False)
    write_bytes(path, text.encode("ascii") + b"\n")


def load(
    path: str | os.PathLike[str],
    *,
    cost: CostSpecification | None = None,
    features: Any = None,
    known: Known | None = None,
    classes: Iterable[type] = (),
    max_bytes: int = MAX_BYTES,
) -> RegionRegressor:
    """Read a model that `save` has written.

    Nothing in the file is executed: it can name classes of feaslearn, three transformers of
    scikit-learn and those in ``classes``, and numbers are checked before memory is taken for them.

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
    classes : iterable of type, default=()
        Classes of your own that the file may name.
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
        If it is not a model file, is damaged or was edited, is of another version, or lacks a
        part that must be given again.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> path = getfixture("tmp_path") / "switch.json"
    >>> fl.save(model.fit(data.signals, data.decisions), path)
    >>> bool((fl.load(path).predict(data.signals) == model.predict(data.signals)).all())
    True
    """
    contents = read_bytes(path, max_bytes)
    try:
        tree, ignored = upgrade(*_open(contents), VERSION)
        given = {"cost": cost, "features": features, "known": known}
        model = decode_model(tree, Decoder(with_classes(classes)), given)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error
    except FeaslearnError:
        raise  # about what the caller gave
    except Exception as error:
        # The last line of defence: whatever a forged file still brings about, it is the file.
        what = f"{type(error).__name__}: {error}"
        raise ModelFileError(f"{os.fspath(path)}: makes no model: {what}") from error
    if ignored:
        warnings.warn(
            f"{os.fspath(path)} is of an earlier version; ignored, because it is gone: "
            f"{', '.join(ignored)}",
            FeaslearnWarning,
            stacklevel=2,
        )
    return model


def _open(contents: bytes) -> tuple[Any, int]:
    """Return the model of a file as a tree, and its schema, after checks of the envelope."""
    if not contents.strip():
        raise ModelFileError("the file is empty")
    try:
        envelope = json.loads(
            contents.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_object
        )
    except RecursionError:
        raise ModelFileError("not a model file: nested too deep") from None
    except UnicodeDecodeError:
        raise ModelFileError("not a model file: it is not UTF-8 text") from None
    except ValueError as error:
        raise ModelFileError(f"not whole, or not a model file: {error}") from None
    if not isinstance(envelope, dict) or envelope.get("format") != FORMAT:
        raise ModelFileError(f"not a model file: its format is not {FORMAT!r}")
    _check_version(envelope.get("version"), envelope.get("feaslearn"))
    if envelope.keys() != KEYS:
        raise ModelFileError(f"the file has the parts {sorted(envelope)}, not {sorted(KEYS)}")
    if envelope["checksum"] != _checksum(envelope["model"]):
        raise ModelFileError(
            "the checksum is wrong: the file was edited or damaged after it was written; save the "
            "model again"
        )
    return envelope["model"], envelope["version"]


def _check_version(version: object, writer: object) -> None:
    """Refuse a schema that is too old, too new or invalid."""
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{version!r} is not a version of the schema")
    if not OLDEST <= version <= VERSION:
        advice = "fit the model again" if version < OLDEST else "upgrade feaslearn"
        raise ModelFileError(
            f"the file has version {version} of the schema, written by feaslearn {writer}; this is "
            f"feaslearn {__version__}, which reads {OLDEST} to {VERSION}: {advice}"
        )


def _checksum(tree: Any) -> str:
    """Hash a tree in a form that does not depend on spaces or on the order of keys."""
    try:
        text = json.dumps(tree, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (RecursionError, ValueError):
        raise ModelFileError("nested too deep, or a number is too large for a float") from None
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _refuse_constant(name: str) -> float:
    """Refuse NaN and infinity, which JSON does not have."""
    raise ModelFileError(f"not a model file: {name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; refuse a repeated key."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ModelFileError("a key stands twice in one object")
    return found


def upgrade(tree: Any, version: int, newest: int) -> tuple[Any, list[str]]:
    """Return a tree in today's schema, the only one that is decoded, and what was ignored."""
    if version == newest or not isinstance(tree, dict):
        return tree, []
    notes: list[str] = []
    return _rewritten(tree, notes), list(dict.fromkeys(notes))


def _rewritten(node: Any, notes: list[str]) -> Any:
    """Return a node without what is gone, in itself and in what it holds."""
    if isinstance(node, list):
        return [_rewritten(each, notes) for each in node]
    if not isinstance(node, dict):
        return node
    node = {key: _rewritten(value, notes) for key, value in node.items()}
    name, parameters = node.get("class"), node.get("parameters")
    if node.get("$") != "object" or not isinstance(name, str) or not isinstance(parameters, dict):
        return node
    gone = GONE.get(name, {})
    notes += [
        f"{name}({key}={value!r})"
        for key, value in parameters.items()
        if key in gone and value != gone[key] and not _is_array(value)
    ]
    kept = {key: value for key, value in parameters.items() if key not in gone}
    return {**node, "class": RENAMED.get(name, name), "parameters": kept}


def _is_array(node: Any) -> bool:
    """Whether a node is an array: not an option, but measured by a fit."""
    return isinstance(node, dict) and node.get("$") == "array"
