"""Change the library in small ways, one at a time, and count the changes that no test notices.

    python tests/soak/mutants trace tests/losses tests/sets tests/hypotheses
    python tests/soak/mutants run --sample 60
    python tests/soak/mutants table

`trace` runs tests once and records the lines that they run. `run` draws changes at random, with a
seed, the same number from each folder, and runs against each the tests that run its line, the
fastest first, until one fails. What is done is not done again: both can be interrupted.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).parent))

from changes import Change, changed, changes  # noqa: E402
from lines_of_tests import TestsOfLines, Wanted, run_pytest, trace  # noqa: E402

SOURCE = ROOT / "src" / "feaslearn"
TESTS = ROOT / "tests"
FOLDERS = ("losses", "sets", "hypotheses")
#: Loaded once, before the mutants: each is run in a fork of this process.
HEAVY = ("numpy", "scipy.optimize", "scipy.sparse.linalg", "scipy.stats", "sklearn.linear_model")
HEAVY += ("sklearn.utils.estimator_checks", "numba", "cvxpy", "highspy", "hypothesis", "pandas")
#: Memory that a mutant may take.
BYTES = 8 * 2**30
#: What is kept of the library from mutant to mutant: it is not changed, and takes long to load.
KEPT = ("changes", "lines_of_tests", "feaslearn.exceptions")
KEPT += ("feaslearn.solvers", "feaslearn.results", "feaslearn.runs", "feaslearn.tolerances")
#: What became of a mutant whose tests passed, or are no longer there.
ENDS = {0: "survived", int(pytest.ExitCode.NO_TESTS_COLLECTED): "not run"}
#: The number of tests, the fastest ones, that load the kernels.
WARMING = 500


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    path: Path
    change: Change

    @property
    def key(self) -> str:
        """What it is called in the results; it changes with the text of the module."""
        source = self.path.read_bytes()
        name = self.path.relative_to(SOURCE).as_posix()
        digest = hashlib.sha256(source).hexdigest()[:8]
        return f"{name}:{self.change.line}:{self.change.node}:{self.change.what}:{digest}"

    @property
    def module(self) -> str:
        parts = self.path.relative_to(SOURCE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module in its changed form."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self._mutant.module:
            return None
        return importlib.util.spec_from_file_location(name, self._mutant.path, loader=self)

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        tree = changed(self._mutant.path.read_text("utf-8"), self._mutant.change)
        exec(compile(tree, str(self._mutant.path), "exec"), vars(module))  # noqa: S102


def mutants(folder: str) -> list[Mutant]:
    """List the mutants of a folder, without those of compiled code."""
    found = []
    for path in sorted(set((SOURCE / folder).rglob("*.py")) - set(SOURCE.rglob("*kernels.py"))):
        found += [Mutant(path, each) for each in changes(ast.parse(path.read_text("utf-8")))]
    return found


def attempt(mutant: Mutant, tests: TestsOfLines, seconds: float) -> tuple[str, int]:
    """Return what becomes of a mutant, and how many tests it met at most."""
    tree = ast.parse(mutant.path.read_text("utf-8"))
    node = list(ast.walk(tree))[mutant.change.node]
    names, total = [], 0.0
    for name in tests.running(mutant.path, tree, node):
        total += tests.tests[name][0]
        if names and total > seconds:
            break
        names.append(name)
    if not names:
        return "not run", 0
    return outcome(mutant, names, 60.0 + 3.0 * min(total, seconds)), len(names)


def outcome(mutant: Mutant, names: list[str], seconds: float) -> str:
    """Run tests against a mutant, in a fork of this process."""
    child = os.fork()
    if child == 0:
        _run_and_exit(mutant, names)
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return ENDS.get(os.waitstatus_to_exitcode(status), "killed")
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timed out"


def _run_and_exit(mutant: Mutant, names: list[str]) -> None:
    code = 3
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        sys.meta_path.insert(0, Finder(mutant))
        code = run_tests(names)
    finally:
        os._exit(code)


def run(options: argparse.Namespace) -> None:
    """Try the mutants that were drawn and have no result yet."""
    tests = TestsOfLines(options.folder / "tests.json")
    warm_up(tests)
    results = options.folder / "results.jsonl"
    done = {} if not results.exists() else read_results(results)
    drawn = [each for folder in options.folders for each in draw(folder, options)]
    random.Random(options.seed).shuffle(drawn)
    redo = ("survived", "not run") if options.again else ()
    left = [each for each in drawn if done.get(each.key, {"status": "not run"})["status"] in redo]
    left += [each for each in drawn if each.key not in done and each not in left]
    for count, each in enumerate(left):
        start = time.monotonic()
        status, met = attempt(each, tests, options.seconds)
        seconds = round(time.monotonic() - start, 1)
        line = {"key": each.key, "status": status, "tests": met, "seconds": seconds}
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{count + 1}/{len(left)} {status:9} {met:4} {seconds:6} {each.key}", flush=True)


def run_tests(names: list[str]) -> int:
    """Run some tests in this process until one fails; return what pytest returned."""
    files = list(dict.fromkeys(name.partition("::")[0] for name in names))
    return run_pytest(["-x", *files], Wanted(names))


def warm_up(tests: TestsOfLines) -> None:
    """Load packages and kernels, and see that tests pass without any change.

    Where they do not, every mutant would look killed.
    """
    for name in HEAVY:
        importlib.import_module(name)
    if run_tests(sorted(tests.tests, key=lambda name: tests.tests[name][0])[:WARMING]) != 0:
        raise RuntimeError("tests fail although nothing was changed; trace them again")
    for name, module in list(sys.modules.items()):
        own = str(getattr(module, "__file__", None) or "").startswith((str(SOURCE), str(TESTS)))
        if (
            own
            and name != "__main__"
            and not name.startswith(KEPT)
            and not name.endswith("kernels")
        ):
            del sys.modules[name]


def draw(folder: str, options: argparse.Namespace) -> list[Mutant]:
    """Draw mutants of a folder; a larger sample holds the smaller ones."""
    found = mutants(folder)
    random.Random(f"{options.seed} {folder}").shuffle(found)
    return found[: options.sample or len(found)]


def read_results(path: Path) -> dict[str, dict[str, Any]]:
    """Return the last result of each mutant."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {line["key"]: line for line in lines}


def table(options: argparse.Namespace) -> None:
    """Print what became of the mutants that were drawn, by folder, and the survivors."""
    done = read_results(options.folder / "results.jsonl")
    survivors = []
    print("| folder | changes | drawn | killed | survived | kill rate |")
    print("|---|---|---|---|---|---|")
    for folder in options.folders:
        keys = [each.key for each in draw(folder, options)]
        found = [done[key] for key in keys if key in done]
        alive = [each["key"] for each in found if each["status"] in ("survived", "not run")]
        killed = len(found) - len(alive)
        rate = f"{100.0 * killed / max(1, len(found)):.1f} %"
        total = len(mutants(folder))
        print(f"| {folder} | {total} | {len(found)} | {killed} | {len(alive)} | {rate} |")
        survivors += alive
    print("\n".join(sorted(survivors)))


def main() -> int:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("what", choices=["trace", "run", "table"])
    parser.add_argument("tests", nargs="*", help="what to trace")
    parser.add_argument("--folders", nargs="+", default=FOLDERS, choices=FOLDERS)
    parser.add_argument("--sample", type=int, default=0, help="of each folder; 0 takes all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests for each mutant")
    parser.add_argument("--again", action="store_true", help="try the survivors again")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src")]
    if options.what == "trace":
        folders = {f"feaslearn.{folder}": SOURCE / folder for folder in FOLDERS}
        return trace(options.tests, folders, options.folder / "tests.json")
    (run if options.what == "run" else table)(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
