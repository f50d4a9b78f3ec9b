"""Decoding of the nodes of a file, all of them suspect, to parameters and fitted state."""

from __future__ import annotations

import inspect
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

from feaslearn.costs import resolve_cost
from feaslearn.exceptions import DataError, FeaslearnWarning, ModelFileError, Problems, checked
from feaslearn.io.arrays import decode_array
from feaslearn.io.encode import MAX_DEPTH, RESOLVED, STATE, is_left_out
from feaslearn.io.registry import TRANSFORMERS, Registry, parameter_names
from feaslearn.io.state_checks import check_names, check_state
from feaslearn.io.transformers import MAX_SIGNALS, check_count, restore_state
from feaslearn.known import resolve_known
from feaslearn.messages import did_you_mean
from feaslearn.printable import is_unicode
from feaslearn.regressor import RegionRegressor

#: The floats that JSON has no number for.
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
#: The keys of each kind of node, and those that may be missing.
KEYS: dict[str, tuple[set[str], set[str]]] = {
    "float": ({"value"}, set()),
    "tuple": ({"items"}, set()),
    "dict": ({"items"}, set()),
    "range": ({"parts"}, set()),
    "array": ({"dtype", "shape", "order", "data"}, set()),
    "scalar": ({"dtype", "data"}, set()),
    "generator": ({"kind", "state"}, set()),
    "object": ({"class", "parameters"}, {"fitted"}),
}
#: Where in the fitted state the parts stand that can be left out and given again.
LEFT_OUT_PATHS = {
    "cost": ("cost_", "specification"),
    "features": ("features_", "parameters", "transformer"),
    "known": ("known_",),
}
COST_KEYS = {"columns", "specification"}


class Decoder:
    """Decoder of nodes, of a fixed list of kinds and classes."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._warned = False

    def decode(self, node: Any, where: str, depth: int = 0) -> Any:
        """Return the value of a node; ``where`` is its path, for messages."""
        if depth > MAX_DEPTH:
            raise ModelFileError(f"{where}: nested more than {MAX_DEPTH} deep")
        if isinstance(node, list):
            return self._items(node, where, depth)
        if isinstance(node, dict):
            return self._tagged(node, where, depth)
        if isinstance(node, float) and not math.isfinite(node):
            raise ModelFileError(f"{where}: {node} is not a number that JSON has")
        if isinstance(node, str) and not is_unicode(node):
            raise ModelFileError(f"{where}: the string {_short(node)} is not Unicode")
        return node

    def _items(self, nodes: Any, where: str, depth: int) -> list[Any]:
        """Return the values of a list of nodes."""
        if not isinstance(nodes, list):
            raise ModelFileError(f"{where}: expected a list, got {_short(nodes)}")
        return [self.decode(node, f"{where}[{j}]", depth + 1) for j, node in enumerate(nodes)]

    def _tagged(self, node: dict[str, Any], where: str, depth: int) -> Any:
        """Return the value of a node that names its kind."""
        kind = node.get("$")
        if not isinstance(kind, str) or kind not in KEYS:
            raise ModelFileError(f"{where}: {_short(kind)} is not a kind of value that files hold")
        needed, optional = KEYS[kind]
        if not needed <= node.keys() - {"$"} <= needed | optional:
            raise ModelFileError(f"{where}: {kind} has the keys {_short(sorted(node))}")
        if kind == "tuple":
            return tuple(self._items(node["items"], where, depth))
        if kind == "dict":
            return self._dict(node, where, depth)
        if kind == "object":
            return self._object(node, where, depth)
        if kind == "generator":
            return self._generator(where)
        return _plain(kind, node, where)

    def _generator(self, where: str) -> None:
        """Return None for the state of a random generator, which older versions saved."""
        if not self._warned:
            warnings.warn(
                f"{where}: the file holds the state of a random generator, which is not loaded "
                "any more; it is None now",
                FeaslearnWarning,
                stacklevel=2,
            )
        self._warned = True

    def _dict(self, node: dict[str, Any], where: str, depth: int) -> dict[Any, Any]:
        """Return a dict from its pairs."""
        pairs = self._items(node["items"], where, depth)
        try:
            return {key: value for key, value in pairs}  # noqa: C416 -- checks that these are pairs
        except (TypeError, ValueError):
            raise ModelFileError(f"{where}: a dict is not a list of pairs") from None

    def _object(self, node: dict[str, Any], where: str, depth: int) -> Any:
        """Make an object of a class of the registry."""
        name, nodes = node["class"], node["parameters"]
        if not isinstance(name, str) or name not in self._registry:
            hint = did_you_mean(name, list(self._registry)) if isinstance(name, str) else ""
            raise ModelFileError(
                f"{where}: the class {_short(name)} is not one that files may name (classes of "
                f"your own are given to load: classes=[...]); {hint}"
            )
        if not isinstance(nodes, dict):
            raise ModelFileError(f"{where}: the parameters of {name} are {_short(nodes)}")
        kind = self._registry[name]
        value = make(kind, self.parameters(kind, nodes, where, depth), where)
        if "fitted" in node:
            if kind not in TRANSFORMERS:
                raise ModelFileError(f"{where}: a {name} holds no fitted state")
            restore_state(value, self.decode(node["fitted"], where, depth + 1), where)
        return value

    def parameters(
        self, kind: type, nodes: dict[str, Any], where: str, depth: int = 0
    ) -> dict[str, Any]:
        """Return the parameters of a class; those left out are not among them."""
        known = parameter_names(kind)
        for name in nodes:
            if name not in known:
                raise ModelFileError(
                    f"{where}: {kind.__name__} has no parameter {_short(name)}; was the file "
                    "written by a newer version?"
                )
        return {
            name: self.decode(node, f"{where}.{name}" if where else name, depth + 1)
            for name, node in nodes.items()
            if not is_left_out(node)
        }


def make(kind: type, values: dict[str, Any], where: str) -> Any:
    """Make an instance of a class of the registry; say which parameters are missing."""
    for name, default in parameter_names(kind).items():
        if default is inspect.Parameter.empty and name not in values:
            raise ModelFileError(f"{where}: the parameter {name!r} of {kind.__name__} is missing")
    try:
        return kind(**values)
    except Exception as error:
        raise ModelFileError(f"{where}: no {kind.__name__} can be made: {error}") from error


def _plain(kind: str, node: dict[str, Any], where: str) -> Any:
    """Return an array, scalar, float or range."""
    if kind == "array":
        return decode_array(node, where)
    if kind == "scalar":
        return decode_array({**node, "shape": [], "order": "C"}, where)[()]
    if kind == "float":
        text = node["value"]
        if not isinstance(text, str) or text not in NOT_FINITE:
            raise ModelFileError(f"{where}: {_short(text)} is not a float")
        return NOT_FINITE[text]
    parts = node["parts"]
    whole = isinstance(parts, list) and all(
        type(part) is int and abs(part) <= MAX_SIGNALS for part in parts
    )
    if not whole or len(parts) != 3 or parts[2] == 0:
        raise ModelFileError(f"{where}: {_short(parts)} is not a range")
    return range(*parts)


def _short(value: object) -> str:
    """Return the beginning of a representation."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def decode_model(tree: Any, decoder: Decoder, given: dict[str, Any]) -> RegionRegressor:
    """Return the model that a tree stands for, with the parts that are given again."""
    nodes, fitted = _parts(tree)
    places = {name: _at(fitted, *path) for name, path in LEFT_OUT_PATHS.items()}
    parameters = decoder.parameters(RegionRegressor, nodes, "")
    for name, part in given.items():
        if _is_given(name, nodes.get(name), places[name], part):
            parameters[name] = part
    again = {name: given[name] for name, place in places.items() if is_left_out(place)}
    state = {name: decoder.decode(fitted[name], name) for name in STATE if name not in RESOLVED}
    if "features" in again:
        state["features_"] = _with_transformer(state["features_"], given["features"])
    check_state(state, "features" in again)

    def resolved(resolve: Any, name: str) -> Any:
        """Return the cost or what is known, of the file or given again, checked as by a fit."""
        if places[name] is None:
            return None
        problems = Problems()
        found = resolve(
            again[name] if name in again else decoder.decode(places[name], f"{name}_"),
            n_decisions=check_count(state["_reader"].n_decisions, "n_decisions"),
            signal_names=check_names(state["feature_names_in_"], state["n_features_in_"]),
            n_signals=state["n_features_in_"],
            problems=problems,
        )
        return checked(found, problems, "load", DataError if name in again else ModelFileError)

    state["cost_"] = resolved(resolve_cost, "cost")
    state["known_"] = resolved(resolve_known, "known")
    columns = None if state["cost_"] is None else list(state["cost_"].columns)
    if columns != _at(fitted, "cost_", "columns"):
        raise (DataError if "cost" in again else ModelFileError)(
            f"load: the cost reads the signals {columns}, that of the fitted model read "
            f"{_short(_at(fitted, 'cost_', 'columns'))}"
        )
    model = RegionRegressor(**parameters)
    names = state.pop("feature_names_in_")
    if names is not None:
        state["feature_names_in_"] = np.array(names, dtype=object)
    for name, value in state.items():
        setattr(model, name, value)
    return model


def _parts(tree: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the nodes of the parameters and of the fitted state."""
    if not isinstance(tree, dict) or tree.keys() != {"class", "parameters", "fitted"}:
        raise ModelFileError("the model has no class, no parameters or no fitted state")
    if tree["class"] != RegionRegressor.__name__:
        raise ModelFileError(f"a {tree['class']!r} is not a model that files hold")
    nodes, fitted = tree["parameters"], tree["fitted"]
    if not isinstance(nodes, dict) or not isinstance(fitted, dict):
        raise ModelFileError("parameters and fitted state are not objects")
    # Files written before there were known constraints and bands.
    fitted = {"known_": None, "conformal_": None, **fitted}
    if fitted.keys() != set(STATE):
        odd = sorted(fitted.keys() ^ set(STATE))
        raise ModelFileError(f"the fitted state lacks or should not have {odd}")
    cost = fitted["cost_"]
    if cost is not None and (not isinstance(cost, dict) or cost.keys() != COST_KEYS):
        raise ModelFileError("cost_: not a cost")
    return nodes, fitted


def _at(node: Any, *path: str) -> Any:
    """Return the node at the end of a path of keys, None where there is none."""
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _is_given(name: str, node: Any, place: Any, part: Any) -> bool:
    """Whether a part is given; refuse one that is missing, or given although the file holds it."""
    missing = next((each for each in (node, place) if is_left_out(each)), None)
    if missing is None:
        if part is None:
            return False
        raise DataError(
            f"load: {name} was given, but the file holds it; leave it away, or set it for another "
            f"fit with set_params({name}=...)"
        )
    if part is None:
        raise ModelFileError(
            f"written without {name}, {missing['what']}; give it again: load(path, {name}=...)"
        )
    return True


def _with_transformer(feature_map: Any, transformer: Any) -> Any:
    """Return features with a transformer that the caller gave."""
    if not hasattr(transformer, "transform") or isinstance(transformer, type):
        raise DataError(f"load: features={transformer!r} is not a transformer")
    try:
        check_is_fitted(transformer)
    except (SklearnNotFittedError, TypeError):
        raise DataError(
            f"load: {type(transformer).__name__} is not fitted; give the one that the model had, "
            "model.features_.transformer"
        ) from None
    return replace(feature_map, transformer=transformer)
