"""Check the docstrings of the public names; pyproject.toml says for what."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType

from numpydoc.hooks.validate_docstrings import parse_config
from numpydoc.validate import validate

import feaslearn

# A method may say everything in its summary; a class or a function says all of it.
NOT_FOR_MEMBERS = {"EX01", "PR01", "RT01", "YD01"}
# Users do not make these by hand: errors, protocols, abstract classes, records handed out.
NOT_FOR_UNMADE = {"EX01", "PR01"}


def public_objects() -> Iterator[tuple[str, object]]:
    """Yield the public classes and functions, each once, by the first name that leads to it."""
    seen: set[int] = set()
    for name in feaslearn.__all__:
        value = getattr(feaslearn, name)
        found = {f"feaslearn.{name}": value}
        if isinstance(value, ModuleType):
            found = {f"feaslearn.{name}.{member}": thing for member, thing in contents(value)}
        for path, thing in found.items():
            if id(thing) not in seen and (inspect.isclass(thing) or inspect.isroutine(thing)):
                seen.add(id(thing))
                yield path, thing


def contents(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield what a module offers: its ``__all__``, or else what it defines itself."""
    for name in getattr(module, "__all__", []):
        getattr(module, name)  # some are loaded when they are first used
    for name, thing in vars(module).items():
        is_its_own = (
            not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
        )
        if name in getattr(module, "__all__", [name] if is_its_own else []):
            yield name, thing


def public_members(path: str, thing: object) -> Iterator[str]:
    """Yield the paths of the methods and properties that a class of ours defines."""
    if not inspect.isclass(thing):
        return
    for name, member in vars(thing).items():
        if not name.startswith("_") and (callable(member) or isinstance(member, property)):
            yield f"{path}.{name}"


def is_made_by_users(path: str, thing: object) -> bool:
    """Say whether it is a function, or a class that users make an instance of."""
    if not inspect.isclass(thing):
        return True
    is_estimator = hasattr(thing, "get_params") or hasattr(thing, "from_estimator")
    is_record = issubclass(thing, tuple) or (is_dataclass(thing) and not is_estimator)
    is_ours_to_make = is_record and path.count(".") > 1  # below the top level: it is handed out
    return not (
        is_ours_to_make
        or issubclass(thing, Exception)
        or inspect.isabstract(thing)
        or getattr(thing, "_is_protocol", False)
    )


def problems(path: str, checks: set[str]) -> Iterator[str]:
    """Yield one line for each finding."""
    for code, message in validate(path)["errors"]:
        if code in checks:
            yield f"{path}: {code} {message}"


def main() -> int:
    """Print all findings; the exit code says whether there were any."""
    checks = parse_config(Path(__file__).parents[1])["checks"]
    findings: list[str] = []
    n_objects = 0
    for path, thing in public_objects():
        n_objects += 1
        findings += problems(
            path, checks if is_made_by_users(path, thing) else checks - NOT_FOR_UNMADE
        )
        for member in public_members(path, thing):
            findings += problems(member, checks - NOT_FOR_MEMBERS)
    print("\n".join([*findings, f"{n_objects} public names, {len(findings)} findings"]))
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
