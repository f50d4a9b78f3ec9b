"""Encoding of parameters and fitted state as what JSON can hold."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FunctionCost
from feaslearn.exceptions import Problems, UnsupportedError
from feaslearn.io.arrays import encode_array
from feaslearn.io.registry import TRANSFORMERS, Registry, parameter_names
from feaslearn.io.transformers import fitted_state
from feaslearn.printable import is_unicode
from feaslearn.regressor import RegionRegressor

#: Values are not nested deeper than this, neither when they are saved nor when they are loaded.
MAX_DEPTH = 60
#: Parameters without which a model is not the same: they are left out as a whole, and given again.
GIVEN_AGAIN = ("cost", "features", "known")
#: What `fit` leaves in a model. A model with more than this is refused: it would be lost.
STATE = (
    "n_features_in_",
    "feature_names_in_",
    "hypothesis_",
    "features_",
    "cost_",
    "known_",
    "theta_",
    "result_",
    "_reader",
    "_facets",
    "_seen",
    "conformal_",
)
#: What is not stored as such: it is made again from its specification.
RESOLVED = ("cost_", "known_")
#: Settings of scikit-learn for pipelines around a model, and the samples, which are the user's.
NOT_STATE = ("_metadata_request", "_sklearn_output_config", "_samples")


class Encoder:
    """Encoder of values as nodes; what has no node is added to ``problems`` by its path."""

    def __init__(self, registry: Registry, left_out: Collection[str] = ()) -> None:
        self._registry = registry
        self._left_out = left_out
        self._used: set[str] = set()
        self.problems = Problems()

    @property
    def unused(self) -> list[str]:
        """What was to be left out although the file can hold it, or the model lacks it."""
        return [name for name in self._left_out if name not in self._used]

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the node of a value; ``where`` is its path, such as ``trainer.callback``."""
        if depth > MAX_DEPTH:
            return self._refuse(value, where, f"nested more than {MAX_DEPTH} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._string(str(value), where)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return _float(float(value))
        if self._registry.get(type(value).__name__) is type(value):
            return self._object(value, where, depth)
        return self._container(value, where, depth)

    def _container(self, value: Any, where: str, depth: int) -> Any:
        """Return the node of a list, tuple, dict, range or array."""
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{where}[{j}]", depth + 1) for j, item in enumerate(value)]
            return items if isinstance(value, list) else {"$": "tuple", "items": items}
        if type(value) is dict:
            pairs = [
                [self.encode(part, f"{where}[{key!r}]", depth + 2) for part in (key, item)]
                for key, item in value.items()
            ]
            return {"$": "dict", "items": pairs}
        if type(value) is range:
            return {"$": "range", "parts": [value.start, value.stop, value.step]}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return None  # a model file holds no state of a random generator
        if hasattr(value, "__array__") and not isinstance(value, type):
            return self._array(np.asarray(value), value, where)
        return self._refuse(value, where, describe(value))

    def _array(self, array: NDArray[Any], value: Any, where: str) -> Any:
        """Return the node of an array; one of strings is a list."""
        if array.dtype.kind in "UO" and all(isinstance(item, str) for item in array.flat):
            return self.encode(array.tolist(), where)
        node = encode_array(array)
        return self._refuse(value, where, describe(value)) if node is None else node

    def _string(self, text: str, where: str) -> Any:
        """Return a string, or refuse one that is not Unicode."""
        if is_unicode(text):
            return text
        return self._refuse(text, where, f"the string {text!r}, which is not Unicode")

    def _scalar(self, value: np.generic, where: str) -> Any:
        """Return the node of a NumPy scalar."""
        node = encode_array(np.asarray(value))
        if node is None:
            return self._refuse(value, where, describe(value))
        return {"$": "scalar", "dtype": node["dtype"], "data": node["data"]}

    def _object(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        """Return the node of an object of the registry: its parameters."""
        kind = type(value)
        parameters: dict[str, Any] = {}
        for name, default in parameter_names(kind).items():
            path = f"{where}.{name}" if where else name
            parameters[name] = self.encode(getattr(value, name), path, depth + 1)
            if default is inspect.Parameter.empty and is_left_out(parameters[name]):
                self.problems.add(f"{path} cannot be left out: {kind.__name__} needs it")
        node = {"$": "object", "class": kind.__name__, "parameters": parameters}
        if kind in TRANSFORMERS and (state := fitted_state(value)) is not None:
            node["fitted"] = self.encode(state, f"{where}, fitted", depth + 1)
        return node

    def _refuse(self, value: Any, where: str, what: str) -> Any:
        """Leave a value out if the caller asked for it, or add a problem."""
        first = where.partition(".")[0].partition("[")[0]
        whole = first if first in GIVEN_AGAIN else where.rpartition(".")[2]
        name = "features" if where.startswith("features") else whole
        if name in self._left_out and "[" not in name:
            self._used.add(name)
            return {"$": "left out", "what": what}
        self.problems.add(f"{where} is {what}, which a model file cannot hold; {_advice(name)}")
        return None


def encode_model(model: RegionRegressor, encoder: Encoder) -> dict[str, Any]:
    """Return a fitted model as what JSON can hold; raise one error for all that it cannot."""
    parameters = model.get_params(deep=False)
    nodes = {name: encoder.encode(value, name) for name, value in parameters.items()}
    nodes["known"] = _left_out_as_a_whole(nodes["known"])
    for name in sorted(vars(model).keys() - parameters.keys() - {*STATE, *NOT_STATE}):
        encoder.problems.add(f"{name} is an attribute that model files do not hold; delete it")
    encoder.problems.raise_if_any(UnsupportedError, "save")
    fitted = {
        name: encoder.encode(getattr(model, name, None), name)
        for name in STATE
        if name not in RESOLVED
    }
    known = model.known_
    specification = known and encoder.encode(known.specification, "known")
    fitted["known_"] = _left_out_as_a_whole(specification)
    cost = model.cost_
    fitted["cost_"] = cost and {
        "columns": list(cost.columns),
        "specification": encoder.encode(cost.specification, "cost"),
    }
    encoder.problems.raise_if_any(UnsupportedError, "save")
    return {"class": type(model).__name__, "parameters": nodes, "fitted": fitted}


def _left_out_as_a_whole(node: Any) -> Any:
    """Return a node, or that of its first part that was left out."""
    if is_left_out(node):
        return node
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    missing = (found for part in parts if is_left_out(found := _left_out_as_a_whole(part)))
    return next(missing, node)


def is_left_out(node: Any) -> bool:
    """Whether a node stands for a parameter that was left out of the file."""
    return (
        isinstance(node, dict)
        and node.keys() == {"$", "what"}
        and node["$"] == "left out"
        and isinstance(node["what"], str)
    )


def describe(value: object) -> str:
    """Return what a value is, for a message."""
    if isinstance(value, FunctionCost):
        return f"a function: {value!r}"
    if callable(value) and hasattr(value, "__name__"):
        return f"a function: {value.__name__}"
    return f"of type {type(value).__name__}"


def _advice(name: str) -> str:
    """Return what to do about a value that a file cannot hold."""
    if name in GIVEN_AGAIN:
        return f"save with leave_out=[{name!r}] and give it again: load(path, {name}=...)"
    classes = "classes of your own go into classes=[...]"
    if "[" in name:
        return f"change it; {classes}"
    return f"change it, or save with leave_out=[{name!r}], which loads with the default; {classes}"


def _float(value: float) -> Any:
    """Return the node of a float."""
    return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
