"""The arguments with which the gallery runs the examples."""

from __future__ import annotations

from typing import Any


def quick(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:  # noqa: ARG001
    """Return what follows the name of a script; called by Sphinx-Gallery for each of them."""
    return ["--quick"]
