"""Model files of earlier versions: what they name and this version no longer has.

A tree of an older schema is rewritten into one of today's before anything is decoded, so that the
decoder knows one schema alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from feaslearn.exceptions import ModelFileError
from feaslearn.io.arrays import decode_array, encode_array

#: Classes that have another name now.
RENAMED: dict[str, str] = {}
#: Parameters that are gone, by class, with the default that nobody needs to hear about.
GONE: dict[str, dict[str, Any]] = {
    "AdaptiveSmoothing": {"patience": None, "validation": None},
    "Annealing": {"patience": None, "validation": None},
    "GradientDescent": {"patience": None, "validation": None},
    "Known": {"inequalities": "intersect"},
}


def upgrade(tree: Any, version: int, newest: int) -> tuple[Any, list[str]]:
    """Return a tree in today's schema, and what of it was ignored, a text each.

    Examples
    --------
    >>> from feaslearn.io.old_schema import upgrade
    >>> upgrade({"class": "RegionRegressor"}, 3, 3)
    ({'class': 'RegionRegressor'}, [])
    """
    if version == newest or not isinstance(tree, dict):
        return tree, []
    notes: list[str] = []
    tree = _grown_sums(tree, notes)
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
    """Say whether a node is an array: no option, but something a fit had measured."""
    return isinstance(node, dict) and node.get("$") == "array"


def _grown_sums(tree: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return the tree of a GrownMinkowski as that of the Minkowski sum of the terms it found."""
    parameters, fitted = tree.get("parameters"), tree.get("fitted")
    if not isinstance(parameters, dict) or not isinstance(fitted, dict):
        return tree
    if _is_grown(parameters.get("hypothesis")):
        notes.append("GrownMinkowski, which is a Minkowski of the terms it found now")
        parameters = {**parameters, "hypothesis": _sum_node(parameters["hypothesis"], "auto")}
    if _is_grown(fitted.get("hypothesis_")):
        fitted = {**fitted, **_listed(fitted)}
    return {**tree, "parameters": parameters, "fitted": fitted}


def _is_grown(node: Any) -> bool:
    return isinstance(node, dict) and node.get("class") == "GrownMinkowski"


def _sum_node(node: dict[str, Any], terms: Any) -> dict[str, Any]:
    kept = {name: node["parameters"][name] for name in ("scale", "offset", "n_knots")}
    return _object("Minkowski", {"terms": terms, **kept})


def _listed(fitted: dict[str, Any]) -> dict[str, Any]:
    """Return hypothesis and parameters with the terms as parameters of the hypothesis.

    The parameters of a grown sum began with the shapes of its terms, one row of n entries each.
    """
    try:
        node, n = fitted["hypothesis_"], fitted["_reader"]["parameters"]["n_decisions"]
        count, family = node["parameters"]["max_terms"], node["parameters"]["family"]
        theta = decode_array(fitted["theta_"], "theta_")
        shapes, rest = np.split(theta, [count * n])
        terms = [_term(shape, family) for shape in shapes.reshape(count, n)]
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"hypothesis_: not a GrownMinkowski: {error}") from None
    return {"hypothesis_": _sum_node(node, terms), "theta_": encode_array(rest)}


def _term(shape: np.ndarray[Any, Any], family: str) -> dict[str, Any]:
    """Return the node of the term that a row of shapes stood for; a row of zeros was a point."""
    given: dict[str, Any] = {"coordinates": None, "weights": 1.0, "matrix": None}
    if family == "segments":
        box = _object("Box", {"p": 1, "lower": 0.0, "upper": 1.0})
        return _object("Term", {**given, "primitive": box, "matrix": shape[:, None].tolist()})
    chosen = np.flatnonzero(shape > 0.5).tolist() or [0]
    simplex = _object("Simplex", {"p": len(chosen), "binary": False})
    return _object("Term", {**given, "primitive": simplex, "coordinates": chosen})


def _object(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"$": "object", "class": name, "parameters": parameters}
