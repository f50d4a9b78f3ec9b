"""From parameters and learned state to what JSON can hold."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FunctionCost
from feaslearn.exceptions import Problems
from feaslearn.io.arrays import encode_array
from feaslearn.io.registry import TRANSFORMERS, Registry, parameter_names
from feaslearn.io.texts import is_whole
from feaslearn.io.transformers import fitted_state

#: Values are not nested deeper than this, neither when they are saved nor when they are loaded.
DEEPEST = 60
#: Parameters without which a model is not the same: they are left out as a whole, and given again.
GIVEN_AGAIN = ("cost", "features", "known")


class Encoder:
    """Turns values into nodes; what has no node is added to ``problems`` by its place.

    Numbers, texts, truth values, None and lists stand for themselves. Everything else is an object
    whose key ``"$"`` says what it is.

    Parameters
    ----------
    registry : mapping of str to type
        The classes that may be named.
    left_out : collection of str
        Parameters to leave out where they have no node.

    Examples
    --------
    >>> from feaslearn import L2Ball
    >>> from feaslearn.io.encoder import Encoder
    >>> from feaslearn.io.registry import own_classes
    >>> Encoder(own_classes()).encode(L2Ball(3), "primitive")
    {'$': 'object', 'class': 'L2Ball', 'parameters': {'p': 3}}
    """

    def __init__(self, registry: Registry, left_out: Collection[str] = ()) -> None:
        self._registry = registry
        self._left_out = left_out
        self._used: set[str] = set()
        self.problems = Problems()

    @property
    def unused(self) -> list[str]:
        """What was to be left out although the file can hold it, or is not there."""
        return [name for name in self._left_out if name not in self._used]

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return the node of a value; ``where`` is its place, such as ``trainer.callback``."""
        if depth > DEEPEST:
            return self._refuse(value, where, f"nested more than {DEEPEST} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(str(value), where)
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
        if array.dtype.kind in "UO" and all(isinstance(item, str) for item in array.flat):
            return self.encode(array.tolist(), where)
        node = encode_array(array)
        return self._refuse(value, where, describe(value)) if node is None else node

    def _text(self, text: str, where: str) -> Any:
        if is_whole(text):
            return text
        return self._refuse(text, where, f"the text {text!r}, which is not Unicode")

    def _scalar(self, value: np.generic, where: str) -> Any:
        node = encode_array(np.asarray(value))
        if node is None:
            return self._refuse(value, where, describe(value))
        return {"$": "scalar", "dtype": node["dtype"], "data": node["data"]}

    def _object(self, value: Any, where: str, depth: int) -> dict[str, Any]:
        kind = type(value)
        parameters: dict[str, Any] = {}
        for name, default in parameter_names(kind).items():
            place = f"{where}.{name}" if where else name
            parameters[name] = self.encode(getattr(value, name), place, depth + 1)
            if default is inspect.Parameter.empty and is_left_out(parameters[name]):
                self.problems.add(f"{place} cannot be left out: {kind.__name__} needs it")
        node = {"$": "object", "class": kind.__name__, "parameters": parameters}
        if kind in TRANSFORMERS and (state := fitted_state(value)) is not None:
            node["fitted"] = self.encode(state, f"{where}, fitted", depth + 1)
        return node

    def _refuse(self, value: Any, where: str, what: str) -> Any:
        first = where.partition(".")[0].partition("[")[0]
        whole = first if first in GIVEN_AGAIN else where.rpartition(".")[2]
        name = "features" if where.startswith("features") else whole
        if name in self._left_out and "[" not in name:
            self._used.add(name)
            return {"$": "left out", "what": what}
        self.problems.add(f"{where} is {what}, which a model file cannot hold; {_advice(name)}")
        return None


def is_left_out(node: Any) -> bool:
    """Say whether a node stands for a parameter that was left out when the file was written."""
    return (
        isinstance(node, dict)
        and node.keys() == {"$", "what"}
        and node["$"] == "left out"
        and isinstance(node["what"], str)
    )


def describe(value: object) -> str:
    """Say what a value is, for a message."""
    if isinstance(value, FunctionCost):
        return f"a function: {value!r}"
    if callable(value) and hasattr(value, "__name__"):
        return f"a function: {value.__name__}"
    return f"of type {type(value).__name__}"


def _advice(name: str) -> str:
    if name in GIVEN_AGAIN:
        return f"save with leave_out=[{name!r}] and give it again: load(path, {name}=...)"
    own = "classes of your own go into classes=[...]"
    if "[" in name:
        return f"change it; {own}"
    return f"change it, or save with leave_out=[{name!r}], which loads with the default; {own}"


def _float(value: float) -> Any:
    return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
