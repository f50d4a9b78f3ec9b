"""The size of the code, and how far it is from a call to its algorithm.

``python docs/check_size.py`` prints modules, lines and statement lines by folder, beside those of
the commit `BEFORE`, and for four calls the files and functions they cross and the stack frames
before their algorithm. ``--check`` prints nothing and fails where a rule of CONTRIBUTING is broken.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
#: The commit before the library was made lean, tagged before-lean.
BEFORE = "04022c5"
#: A module with a single importer lives beside it, unless it has at least so many lines.
SHORTEST_ALONE = 100
#: What stands alone although it is shorter: commands load what they need when they are called, so
#: that --help is quick.
ALLOWED = ("feaslearn.cli.",)

#: Packages that only solvers/, paper/ and export/ import.
SOLVERS = {"clarabel", "highspy"}
#: Kernels that call those of another file; Numba does not see when these change.
CALLING_OTHERS = {"paper/kernels.py"}
#: Smaller numbers are tolerances.
LEAST_LITERAL = 1e-5


#: Classes whose differences belong into methods: nobody else asks which of them a hypothesis is.
HYPOTHESES = {
    *("Affine", "Constrained", "Facets", "Minkowski"),
}
#: How often they are still asked for outside of hypotheses/ and `Trainer.mismatches`; lower it.
MOST_ASKED = 0


class Size(NamedTuple):
    """How large a folder is."""

    modules: int = 0
    lines: int = 0
    statements: int = 0

    def __add__(self, other: tuple[Any, ...]) -> Size:
        return Size(*(a + b for a, b in zip(self, other, strict=True)))


def statement_lines(tree: ast.Module) -> int:
    """Count the lines of statements: no docstrings, imports, signatures or constants."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if node in tree.body and isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        lines.update(range(node.lineno, max(last, node.lineno) + 1))
    return len(lines)


def sizes(root: Path, folder: str) -> dict[str, Size]:
    """Return the sizes of the folders below a folder of a checkout."""
    found: dict[str, Size] = defaultdict(Size)
    base = root / folder / ("feaslearn" if folder == "src" else "")
    for path in sorted(base.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(base).parts
        name = parts[0] if len(parts) > 1 else "."
        size = Size(1, text.count("\n"), statement_lines(ast.parse(text)))
        found[name] = found[name] + size
    return dict(found)


def before() -> Path | None:
    """Return a folder with `BEFORE`, None where the history is not there."""
    asked = ["git", "-C", str(ROOT), "archive", BEFORE, "src", "tests"]
    run = subprocess.run(asked, capture_output=True, check=False)
    if run.returncode:
        return None
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(fileobj=io.BytesIO(run.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def importers(root: Path) -> dict[str, set[str]]:
    """Return the modules of the package that import each module, by dotted names."""
    base = root / "src"
    names = {
        ".".join(path.relative_to(base).with_suffix("").parts): path
        for path in (base / "feaslearn").rglob("*.py")
    }
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for target in _imported(ast.parse(path.read_text(encoding="utf-8")), names):
            if target != name:
                found[target].add(name)
    return found


def _imported(tree: ast.Module, names: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            candidates = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            candidates = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
        else:
            continue
        yield from (each for each in candidates if each in names)


def single_importers(root: Path) -> dict[str, str]:
    """Return modules that one other module alone imports, and no package offers."""
    found = {}
    for name, users in importers(root).items():
        if name.endswith(("__init__", "__main__")) or len(users) != 1:
            continue
        user = next(iter(users))
        if not user.endswith("__init__"):
            found[name] = user
    return found


def too_short(root: Path) -> list[str]:
    """Return what breaks the rule that a helper with one caller lives beside its caller."""
    wrong = []
    for name, user in sorted(single_importers(root).items()):
        path = root / "src" / Path(*name.split(".")).with_suffix(".py")
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines < SHORTEST_ALONE and not name.startswith(ALLOWED):
            wrong.append(f"{name} ({lines} lines) is imported by {user} alone: move it there")
    return wrong


def misplaced_solvers(root: Path) -> Iterator[str]:
    """Yield imports of solvers outside of the folders that wrap them."""
    for name, tree in _modules(root):
        if name.startswith(("solvers/", "paper/", "export/")):
            continue
        for node in ast.walk(tree):
            found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for each in SOLVERS.intersection(module.split(".")[0] for module in found):
                yield f"{name}:{node.lineno} imports {each}: go through feaslearn.solvers"


def misplaced_tolerances(root: Path) -> Iterator[str]:
    """Yield small numbers that are not in tolerances.py; defaults and grids are none."""
    for name, tree in _modules(root):
        if name == "tolerances.py" or name.endswith("kernels.py"):
            continue
        exempt: set[ast.AST | None] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.arguments):
                exempt.update((*node.defaults, *filter(None, node.kw_defaults)))
            elif isinstance(node, ast.Tuple) and len(node.elts) > 2:
                exempt.update(node.elts)
            elif isinstance(node, ast.ClassDef):
                exempt.update(each.value for each in node.body if isinstance(each, ast.AnnAssign))
        for node in ast.walk(tree):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, float) and 0.0 < value < LEAST_LITERAL and node not in exempt:
                yield f"{name}:{node.lineno} has {value}: name it in tolerances.py"


def kernels_of_others(root: Path) -> Iterator[str]:
    """Yield what kernel files import that is compiled into them: types and codes of sets are not.

    Numba's cache sees changes of the file alone that a kernel stands in.
    """
    for name, tree in _modules(root):
        if not name.endswith("kernels.py") or name in CALLING_OTHERS:
            continue
        for node in ast.walk(tree):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            names = [alias.name for alias in node.names] if module else []
            numbers = module == "feaslearn.tolerances"
            if numbers or (module.endswith("kernels") and any(map(str.islower, names))):
                yield f"{name}:{node.lineno} imports of {module}: bring them into one file"


def asked_for_hypotheses(root: Path) -> list[str]:
    """Return where ``isinstance`` asks for a class of hypotheses."""
    found = []
    for name, tree in _modules(root):
        if name.startswith(("hypotheses/", "paper/")):
            continue
        exempt = {
            each
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == "mismatches"
            for each in ast.walk(node)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or node in exempt or len(node.args) != 2:
                continue
            if isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                names = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
                if names & HYPOTHESES:
                    found.append(f"{name}:{node.lineno}")
    return found


def _modules(root: Path) -> Iterator[tuple[str, ast.Module]]:
    base = root / "src" / "feaslearn"
    for path in sorted(base.rglob("*.py")):
        yield path.relative_to(base).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


class Walk(NamedTuple):
    """What a call crosses."""

    files: int
    functions: int
    frames: int


def walk(act: Callable[[], object], algorithm: str) -> Walk:
    """Count what a call crosses; the algorithm begins in a function whose name matches."""
    crossed: Counter[tuple[str, str]] = Counter()
    frames: list[int] = []
    begins = re.compile(algorithm)

    def look(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event != "call" or "/src/feaslearn/" not in file:
            return
        crossed[file, frame.f_code.co_qualname] += 1
        if not frames and begins.search(f"{file} {frame.f_code.co_qualname}"):
            frames.append(_depth(frame))

    sys.setprofile(look)
    try:
        act()
    except SystemExit:
        pass  # the command line has ended
    finally:
        sys.setprofile(None)
    return Walk(len({file for file, _ in crossed}), len(crossed), frames[0] if frames else 0)


def _depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += "/src/feaslearn/" in frame.f_code.co_filename
        frame = frame.f_back
    return depth


def walks() -> dict[str, Walk]:
    """Return the walks of the calls that users make; each is made once before it is counted."""
    import feaslearn as fl
    from feaslearn.cli import main

    data = fl.datasets.make_power5(60, random_state=0)
    folder = Path(tempfile.mkdtemp())
    table = folder / "power.csv"
    command = f"fit {table} --signals cost_*,demand_* --decisions plant_* --cost cost_*"
    command += f" --hypothesis facets --quiet -o {folder / 'model.npz'}"

    def fit(hypothesis: Any) -> Any:
        model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
        return model.fit(data.signals, data.decisions)

    def run(line: str) -> None:
        sys.argv = ["feaslearn", *line.split()]
        main()

    walk(lambda: run(f"demo --data {table} --samples 60 --quiet"), "$")
    fitted = fit(fl.Facets())
    calls: dict[str, tuple[Callable[[], object], str]] = {
        "fit(Facets())": (lambda: fit(fl.Facets()), r"/trainers/.* FacetLearning\.search$"),
        "fit(default)": (lambda: fit(None), r"/trainers/.* \w+\.search$"),
        "predict": (lambda: fitted.predict(data.signals), r"/hypotheses/.* \w+\.solve$"),
        "feaslearn fit": (lambda: run(command), r"/trainers/.* FacetLearning\.search$"),
    }
    found = {}
    for name, (act, algorithm) in calls.items():
        walk(act, algorithm)
        found[name] = walk(act, algorithm)
    return found


def show() -> None:
    """Print everything."""
    past = before()
    for folder in ("src", "tests"):
        now, then = sizes(ROOT, folder), sizes(past, folder) if past else {}
        print(f"{folder + '/':<16}{'modules':>8}{'lines':>8}{'stmts':>8}    at {BEFORE}")
        for name in sorted(now.keys() | then.keys()):
            _print_row(name, now.get(name, Size()), then.get(name, Size()))
        _print_row("all", sum(now.values(), Size()), sum(then.values(), Size()))
        print()
    alone = single_importers(ROOT)
    print(f"{len(alone)} modules with a single importer, {len(too_short(ROOT))} of them too short")
    print(f"{len(asked_for_hypotheses(ROOT))} times isinstance asks for a class of hypotheses")
    print(f"\n{'call':<16}{'files':>8}{'functions':>11}{'frames':>8}")
    for name, found in walks().items():
        print(f"{name:<16}{found.files:>8}{found.functions:>11}{found.frames:>8}")


def _print_row(name: str, now: Size, then: Size) -> None:
    numbers = "".join(f"{value:>8}" for value in now)
    print(f"{name:<16}{numbers}    {''.join(f'{value:>8}' for value in then)}")


def main() -> None:
    """Print sizes, or check the rules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a rule is broken")
    if not parser.parse_args().check:
        show()
        return
    wrong = [*too_short(ROOT), *misplaced_solvers(ROOT), *misplaced_tolerances(ROOT)]
    wrong += kernels_of_others(ROOT)
    asked = asked_for_hypotheses(ROOT)
    if len(asked) > MOST_ASKED:
        wrong.append(
            f"isinstance asks {len(asked)} times for a hypothesis class, more than {MOST_ASKED}: "
            f"give Hypothesis a method instead ({', '.join(asked)})"
        )
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
