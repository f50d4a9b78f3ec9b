"""Which tests run which lines: a mutant meets those tests only that can notice it."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

#: Lines of one file that a test ran, by the path of the file.
Lines = dict[str, list[int]]


class Tracer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """A plugin of pytest that records, for every test that passes, its seconds and its lines.

    The modules that are looked at are loaded with a note before each statement: `sys.settrace`
    would slow down everything else too.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders
        self._seen: set[tuple[str, int]] = set()
        self._failed = False
        self.tests: dict[str, tuple[float, Lines]] = {}

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        package, _, module = name.rpartition(".")
        file = self._folders.get(package, Path()) / f"{module}.py"
        if package not in self._folders or not file.exists():
            return None
        return importlib.util.spec_from_file_location(name, file, loader=self)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = str(module.__file__)
        tree = _Noted().visit(ast.parse(Path(file).read_text("utf-8")))
        vars(module)["__note__"] = lambda line: self._seen.add((file, line))
        code = compile(ast.fix_missing_locations(tree), file, "exec")
        exec(code, vars(module))  # noqa: S102

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._seen.clear()
        self._failed = False
        start = time.perf_counter()
        yield
        if not self._failed:
            lines: Lines = {}
            for file, line in sorted(self._seen):
                lines.setdefault(file, []).append(line)
            self.tests[item.nodeid] = (time.perf_counter() - start, lines)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._failed |= report.failed


class _Noted(ast.NodeTransformer):
    """Puts a note before each statement of a function."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        for inner in ast.walk(node):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(inner, name, None)
                if isinstance(block, list) and not isinstance(inner, ast.ClassDef):
                    setattr(inner, name, _noted(block))
        return node


def _noted(block: list[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in block:
        is_note = isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Call)
        before = found[-1] if found else None
        if not is_note and not _is_note(statement) and not _is_note(before):
            found.append(ast.parse(f"__note__({statement.lineno})").body[0])
        found.append(statement)
    return found


def _is_note(node: ast.AST | None) -> bool:
    call = getattr(node, "value", None)
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "__note__"


class Wanted:
    """A plugin of pytest that runs some tests only, in the order given."""

    def __init__(self, names: list[str]) -> None:
        self._place = {name: i for i, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._place),
            key=lambda item: self._place[item.nodeid],
        )


def run_pytest(arguments: list[str], plugin: object) -> int:
    """Run pytest with the examples of the modules, which are tests too."""
    plain = ["-q", "-o", "addopts=", "--import-mode=importlib", "-p", "no:cacheprovider"]
    # The hook of pytest that rewrites assertions would load a module whose examples are run itself,
    # past the one that changes it.
    plain += ["--doctest-modules", "-m", "not soak", "--assert=plain"]
    return int(pytest.main([*plain, *arguments], plugins=[plugin]))


def trace(tests: list[str], folders: dict[str, Path], file: Path) -> int:
    """Run tests and merge what they ran into a file; return what pytest returned.

    Parameters
    ----------
    tests : list of str
        Files and folders.
    folders : dict
        The folders that are looked at, by the name of their package.
    file : Path
        Where to write.
    """
    tracer = Tracer(folders)
    sys.meta_path.insert(0, tracer)
    code = run_pytest(tests, tracer)
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    # What these files held before may be gone.
    again = {name.partition("::")[0] for name in tracer.tests}
    known = {name: ran for name, ran in known.items() if name.partition("::")[0] not in again}
    file.write_text(json.dumps(known | tracer.tests), "utf-8")
    return code


class TestsOfLines:
    """What `trace` has written, asked the other way round."""

    __test__ = False

    def __init__(self, file: Path) -> None:
        self.tests: dict[str, tuple[float, Lines]] = json.loads(file.read_text("utf-8"))

    def running(self, path: Path, tree: ast.Module, node: ast.AST) -> list[str]:
        """Return the tests that run a node, the fastest first.

        A line that runs when the module is loaded belongs to its function, or to the whole module:
        then a test in the file of its name may look at it without running any other line.
        """
        line = int(getattr(node, "lineno", 0))
        around = [other for other in ast.walk(tree) if _holds(other, line)]
        statement = max((each.lineno for each in around if isinstance(each, ast.stmt)), default=0)
        functions = [_span(each) for each in around if isinstance(each, ast.FunctionDef)]
        found = self._hitting(path, statement, statement)
        if not found and functions:
            found = self._hitting(path, *max(functions))
        elif not found:
            beside = f"/test_{path.stem}.py::"
            found = {name for name in self.tests if beside in name}
            found.update(self._hitting(path, 0, 10**9))
        return sorted(found, key=lambda name: self.tests[name][0])

    def _hitting(self, path: Path, first: int, last: int) -> set[str]:
        return {
            name
            for name, (_, lines) in self.tests.items()
            if any(first <= line <= last for line in lines.get(str(path), ()))
        }


def _span(node: ast.AST) -> tuple[int, int]:
    return int(getattr(node, "lineno", 0)), int(getattr(node, "end_lineno", None) or 0)


def _holds(node: ast.AST, line: int) -> bool:
    first, last = _span(node)
    return first <= line <= last
