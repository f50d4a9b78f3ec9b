"""Model files of earlier versions: what they name and this version no longer has.

A tree of an older schema is rewritten into one of today's before anything is decoded, so that the
decoder knows one schema alone.
"""

from __future__ import annotations

from typing import Any

#: Classes that have another name now.
RENAMED: dict[str, str] = {}
#: Parameters that are gone, by class, with the default that nobody needs to hear about.
GONE: dict[str, dict[str, Any]] = {
    "AdaptiveSmoothing": {"patience": None, "validation": None},
    "Annealing": {"patience": None, "validation": None},
    "GradientDescent": {"patience": None, "validation": None},
    "Known": {"inequalities": "intersect"},
    "Seen": {"root": None},
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
