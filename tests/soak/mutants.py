"""Change the library in small ways, one at a time, and list the changes that no test notices.

    python tests/soak/mutants.py --sample 60 --seed 0
    python tests/soak/mutants.py --folders losses --sample 5

Changes of each folder are drawn at random and made in a copy of the package; the tests of the
folder run against the copy until one fails. Compiled code is left alone. Exit code 1 if tests fail
although nothing was changed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The tests of a folder, the quick ones first.
TESTS = {
    "losses": "src/feaslearn/losses tests/losses tests/formulations tests/properties",
    "sets": "src/feaslearn/sets tests/sets tests/losses tests/export",
    "hypotheses": "src/feaslearn/hypotheses tests/hypotheses tests/region tests/known tests/export",
}
PYTEST = "-x -q -o addopts= --import-mode=importlib -p no:cacheprovider --doctest-modules"
#: Seconds after which a mutant counts as noticed.
HANGS = 900.0

SWAPPED = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot))
SWAPPED += ((ast.In, ast.NotIn), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or))
OPERATORS: dict[type, type] = {a: b for pair in SWAPPED for a, b in (pair, pair[::-1])}
PAIRS = (("min", "max"), ("any", "all"), ("minimum", "maximum"), ("argmin", "argmax"))
PAIRS += (("zeros", "ones"), ("floor", "ceil"), ("sum", "mean"))
NAMES = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}


def changes(tree: ast.Module) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield every change of a module: what it is, and what makes it in the tree."""
    words = _left_out(tree)
    for node in ast.walk(tree):
        if id(node) in words:
            continue
        place = f"line {getattr(node, 'lineno', 0)}"
        for field, value in ast.iter_fields(node):
            values = value if isinstance(value, list) else [value]
            for j, old in enumerate(values):
                new = None if id(old) in words else _instead(old)
                if new is not None:
                    what = f"{place}, {ast.unparse(node)[:60]!r}: {_shown(old)} to {_shown(new)}"
                    yield what, lambda n=node, f=field, j=j, new=new: _put(n, f, j, new)


def _put(node: ast.AST, field: str, j: int, new: object) -> None:
    held = getattr(node, field)
    if isinstance(held, list):
        held[j] = new
    else:
        setattr(node, field, new)


def _instead(old: object) -> object | None:
    """Return what a part of a program becomes, None for nothing else."""
    if type(old) in OPERATORS:
        return OPERATORS[type(old)]()
    if isinstance(old, ast.Name | ast.Attribute):
        name = old.id if isinstance(old, ast.Name) else old.attr
        if name in NAMES:
            return ast.parse(ast.unparse(old)[: -len(name)] + NAMES[name], mode="eval").body
    if isinstance(old, ast.Constant) and isinstance(old.value, bool | int | float):
        value = old.value
        return ast.Constant(not value if isinstance(value, bool) else 2 * value or value + 1)
    if isinstance(old, ast.If | ast.While):
        return type(old)(ast.UnaryOp(ast.Not(), old.test), old.body, old.orelse)
    if isinstance(old, ast.Raise) or (
        isinstance(old, ast.Expr) and isinstance(old.value, ast.Call)
    ):
        return ast.Pass()
    if isinstance(old, ast.Return) and getattr(old.value, "value", ...) is not None:
        return ast.Return(ast.Constant(None))
    return None


def _left_out(tree: ast.Module) -> set[int]:
    """Return what is not changed: imports, annotations, messages and what is raised."""
    parts: list[ast.AST | None] = []
    for node in ast.walk(tree):
        parts += [getattr(node, name, None) for name in ("annotation", "returns", "exc")]
        if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
            parts.append(node)
    return {id(inner) for part in parts if part is not None for inner in ast.walk(part)}


def _shown(part: object) -> str:
    if isinstance(part, ast.expr | ast.stmt):
        return ast.unparse(part).splitlines()[0][:40]
    return type(part).__name__


def passes(source: Path, tests: str) -> bool:
    """Whether all tests pass against a copy of the package."""
    paths = [str(source / each[4:] if each.startswith("src/") else each) for each in tests.split()]
    command = [sys.executable, "-m", "pytest", *PYTEST.split(), "-m", "not soak", *paths]
    environment = os.environ | {"PYTHONPATH": str(source)}
    try:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=HANGS, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", nargs="+", default=list(TESTS), choices=list(TESTS))
    parser.add_argument("--sample", type=int, default=60, help="of each folder; 0 takes all")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source)
        for name in asked.folders:
            if not passes(source, TESTS[name]):
                print(f"{name}: tests fail although nothing was changed")
                return 1
            files = sorted((source / "feaslearn" / name).glob("*.py"))
            drawn = [
                (file, number)
                for file in files
                if not file.name.endswith("kernels.py")
                for number, _ in enumerate(changes(ast.parse(file.read_text("utf-8"))))
            ]
            random.Random(f"{asked.seed} {name}").shuffle(drawn)
            drawn = drawn[: asked.sample or len(drawn)]
            killed = sum(_noticed(source, name, file, number) for file, number in drawn)
            print(f"{name}: {killed} of {len(drawn)} changes were noticed", flush=True)
    return 0


def _noticed(source: Path, name: str, file: Path, number: int) -> bool:
    """Make one change, run the tests and take it back; say whether one failed."""
    text = file.read_text("utf-8")
    tree = ast.parse(text)
    what, make = list(changes(tree))[number]
    make()
    file.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
    try:
        survived = passes(source, TESTS[name])
    finally:
        file.write_text(text, "utf-8")
    if survived:
        print(f"survived: {name}/{file.name}, {what}", flush=True)
    return not survived


if __name__ == "__main__":
    raise SystemExit(main())
