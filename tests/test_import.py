"""Public names: loaded late, all there, helpful when misspelt. Import contracts cover every module;
`make check` runs the contracts themselves."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import feaslearn

HEAVY = {"clarabel", "cvxpy", "highspy", "numba", "numpy", "pandas", "rich", "scipy", "sklearn"}
HEAVY |= {"typer"}
ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
]
MAY_USE_HEAVY_PACKAGES = {"cli", "distributed", "export", "plots", "report"}


def modules_after(statement: str, *arguments: str) -> set[str]:
    code = f"import atexit, sys; atexit.register(lambda: print(*sys.modules)); {statement}"
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    loaded = {name.partition(".")[0] for name in run.stdout.splitlines()[-1].split()}
    assert "feaslearn" in loaded
    return loaded


def test_import_loads_nothing_heavy() -> None:
    assert not modules_after("import feaslearn") & HEAVY


def test_help_loads_nothing_that_computes() -> None:
    loaded = modules_after("from feaslearn.cli import main; main()", "fit", "--help")
    assert not loaded & {"numpy", "numba", "scipy", "sklearn"}


def test_estimators_load_no_solver_and_no_command_line() -> None:
    loaded = modules_after("import feaslearn; feaslearn.RegionRegressor")
    assert not loaded & {"cvxpy", "highspy", "rich", "typer"}


@pytest.mark.parametrize("name", feaslearn.__all__)
def test_public_name_resolves(name: str) -> None:
    value = getattr(feaslearn, name)
    if isinstance(value, ModuleType):
        assert value.__name__ == f"feaslearn.{name}"
    else:
        assert value.__name__ == name
        assert value.__module__.startswith("feaslearn.")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("RegionRegresor", "RegionRegressor"), ("simplex", "Simplex"), ("dataset", "datasets")],
)
def test_wrong_name_suggests_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{wrong}'; did you mean '{right}'"):
        getattr(feaslearn, wrong)


def test_version_is_the_installed_one() -> None:
    assert version("feaslearn") == feaslearn.__version__


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
