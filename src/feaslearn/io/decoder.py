"""From the nodes of a file back to parameters and learned state. Every node is suspect."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

from feaslearn.exceptions import FeaslearnWarning, ModelFileError
from feaslearn.io.arrays import decode_array
from feaslearn.io.encoder import DEEPEST, is_left_out
from feaslearn.io.registry import TRANSFORMERS, Registry, parameter_names
from feaslearn.io.texts import is_whole
from feaslearn.io.transformers import MOST_SIGNALS, restore_state
from feaslearn.messages import did_you_mean

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


class Decoder:
    """Turns nodes into values, from a fixed list of kinds and classes.

    Parameters
    ----------
    registry : mapping of str to type
        The classes that may be named.

    Examples
    --------
    >>> from feaslearn.io.decoder import Decoder
    >>> from feaslearn.io.registry import own_classes
    >>> node = {"$": "object", "class": "Simplex", "parameters": {"p": 3}}
    >>> Decoder(own_classes()).decode(node, "primitive")
    Simplex(p=3)
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._warned = False

    def decode(self, node: Any, where: str, depth: int = 0) -> Any:
        """Return the value of a node; ``where`` is its place, for the messages."""
        if depth > DEEPEST:
            raise ModelFileError(f"{where}: nested more than {DEEPEST} deep")
        if isinstance(node, list):
            return self._items(node, where, depth)
        if isinstance(node, dict):
            return self._tagged(node, where, depth)
        if isinstance(node, float) and not math.isfinite(node):
            raise ModelFileError(f"{where}: {node} is not a number that JSON has")
        if isinstance(node, str) and not is_whole(node):
            raise ModelFileError(f"{where}: the text {_short(node)} is not Unicode")
        return node

    def _items(self, nodes: Any, where: str, depth: int) -> list[Any]:
        if not isinstance(nodes, list):
            raise ModelFileError(f"{where}: expected a list, got {_short(nodes)}")
        return [self.decode(node, f"{where}[{j}]", depth + 1) for j, node in enumerate(nodes)]

    def _tagged(self, node: dict[str, Any], where: str, depth: int) -> Any:
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
        pairs = self._items(node["items"], where, depth)
        try:
            return {key: value for key, value in pairs}  # noqa: C416 -- checks that these are pairs
        except (TypeError, ValueError):
            raise ModelFileError(f"{where}: a dict is not a list of pairs") from None

    def _object(self, node: dict[str, Any], where: str, depth: int) -> Any:
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
        type(part) is int and abs(part) <= MOST_SIGNALS for part in parts
    )
    if not whole or len(parts) != 3 or parts[2] == 0:
        raise ModelFileError(f"{where}: {_short(parts)} is not a range")
    return range(*parts)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
