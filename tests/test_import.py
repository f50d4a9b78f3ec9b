"""The public names: loaded late, all there, helpful when misspelt."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from types import ModuleType

import pytest

import feaslearn

HEAVY = {
    "clarabel",
    "cvxpy",
    "highspy",
    "numba",
    "numpy",
    "pandas",
    "rich",
    "scipy",
    "sklearn",
    "typer",
}


def modules_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_import_loads_nothing_heavy() -> None:
    assert not modules_after("import feaslearn") & HEAVY


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
