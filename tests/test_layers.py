"""The import contracts cover every module; `make check` runs the contracts themselves."""

from __future__ import annotations

import tomllib
from pathlib import Path

import feaslearn

ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
]
MAY_USE_HEAVY_PACKAGES = {"cli", "distributed", "export", "plots", "report"}


def existing_layers() -> set[str]:
    folder = Path(feaslearn.__file__).parent
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    modules = {path.stem for path in folder.glob("*.py")}
    return (packages | modules) - {"__init__", "__main__"}


def test_every_layer_below_the_tools_is_kept_from_their_packages() -> None:
    (contract,) = (each for each in CONTRACTS if each["name"].startswith("Only plots"))
    sources = {module.removeprefix("feaslearn.") for module in contract["source_modules"]}
    assert sources == existing_layers() - MAY_USE_HEAVY_PACKAGES


def test_no_exceptions_are_listed() -> None:
    assert not [contract["name"] for contract in CONTRACTS if "ignore_imports" in contract]
