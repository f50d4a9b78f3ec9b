"""The net under every change: what fits, exports and commands give, beside ``golden.json``.

``python benchmarks/golden.py`` (``make golden``) computes every case, prints what changed and fails
where something got worse: R² of a grid by more than 0.0005 or the mean of a kind over its seeds by
more than 0.002, a true facet that is found or called identified no more, one more trusted row that
is wrong, 1 % fewer right rows trusted or true limits identified, other words of a command, a file
that is not read back. R² that moved by more than 2e-4 is printed. ``--exact`` fails at 1e-9: before
and after a step on one machine, with ``--file`` for what was before (inputs moved by 1e-15 move one
grid by 2e-5). ``--quick`` is one minute of it. A change on purpose is accepted by
``--accept CASE REASON``.

What was computed is kept in ``build/golden`` by the code it came from: a run resumes from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from fnmatch import fnmatch
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import facet_worlds
import noisy_logs
import pglib
from common import random_worlds
from common.kinds import KINDS, draw
from common.worlds import draw_world
from golden_api import COMMANDS, described, exported, fitted, made, predicted, run_command

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("golden.json")
#: Falls of R² that fail: of a grid, of the mean of a kind over its seeds. Smaller ones are printed.
GRID_FALL, KIND_FALL, PRINTED = 5e-4, 2e-3, 2e-4
#: Share of right rows trusted, or of true limits identified, that may be lost.
LOST_SHARE = 0.01
EXACT = 1e-9
KIND_SEEDS = range(3)
RANDOM_SEEDS, WORLDS, EMPTY = range(10), range(200), range(50)
QUICK_GRIDS, QUICK_KINDS = ("5_pjm", "14_ieee"), ("grid 14", "power5, 20 rows", "l1 ball")
#: Logs as meters write them, and what happens to their rows.
NOISY_LOGS = ("5_pjm typ", "14_ieee sad", "39_epri api", "network", "factory")
NOISY_ERRORS = (("noise", 0.05), ("value", 0.02), ("round", 0.01), ("shed", 0.01), ("stuck", 0.01))
#: Tables of the paper, and rows of them that end when their time is over.
TABLES = (
    *("losses", "identities", "switch", "table1", "convergence", "region_path", "convex"),
    *("bilinear_noiseless", "bilinear_noisy", "binary_simplex", "ellipsoid", "power5"),
    *("topologies", "ieee14", "binding_lines", "network", "signal_noise"),
)
LIMITED = re.compile(r"Global|mixed-integer|\bMILP\b|SCIP", re.IGNORECASE)
#: In printed text: what changes from run to run.
MASKS = (
    (re.compile(r"\d[\d.,]* ?(s|ms|min|seconds?|kB)\b"), r"# \1"),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "DATE"),
    (re.compile(r"\S*(/tmp|/var)\S*/"), ""),
)
NUMBER = re.compile(r"-?\d[\d.,]*(e-?\d+)?")

Values = dict[str, Any]


# The cases: each gives a small dictionary.


def grid(case: str, variant: str, rows: int) -> Values:
    """Learn facets of a public grid."""
    found = pglib.score(pglib.Task(case, variant, 0, rows, 0.0, False))
    return {"r2": found.r2, **found.recovery._asdict()}


def kind(name: str, seed: int, learner: str) -> Values:
    """Learn one kind of decisions with facets, or with what is selected."""
    data = draw(name, seed)
    model = fitted(data.signals, data.decisions, data.cost, facets=learner == "facets")
    decisions = predicted(model, data.test_signals)[0]
    total = ((data.test_decisions - data.test_decisions.mean(axis=0)) ** 2).sum()
    r2 = 1.0 - ((data.test_decisions - decisions) ** 2).sum() / total
    return {"r2": float(r2), "selected": described(model)[0]}


def noisy(log: str, how: str, level: float) -> Values:
    """Learn facets of a log as meters write it; rows named as exceptional."""
    found = noisy_logs.measure(noisy_logs.Task(log, how, level, 0, True))
    return {"r2": found.r2, "named": found.named, "falsely": found.falsely}


def world(seed: int) -> Values:
    """Learn a region with known facets."""
    return facet_worlds.recovery(draw_world(seed))._asdict()


def empty(seed: int) -> Values:
    """Learn a region without facets, and count those that are invented."""
    return {"invented": facet_worlds.invented(draw_world(seed, facets=False))}


def table(name: str) -> Values:
    """Run the cells of a table of the paper at its quick size."""
    sys.path.append(str(ROOT))
    from experiments.__main__ import main

    with tempfile.TemporaryDirectory() as folder:
        main([name, "--quick", "--output", folder])
        paths = sorted(Path(folder, "cells", name).glob("*.json"))
        cells = {path.stem: json.loads(path.read_text("utf-8")) for path in paths}
    return {
        f"{row}: {key}": value
        for row, seeds in cells.items()
        if not LIMITED.search(row)
        for key, value in seeds["0"]["values"].items()
        if isinstance(value, int | float | str) and not re.search("seconds|time", key)
    }


def export(kind: str) -> Values:
    """Export the region at a signal, solve it there, and compare with the model's own decision."""
    data = made("power5", 120, 0)
    model = fitted(data.signals[:100], data.decisions[:100], [0, 1, 2], facets=True)
    signal, cost = data.signals[100], data.signals[100, :3]
    best = float(cost @ predicted(model, signal[None])[0][0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"region.{kind}")
        found = exported(kind, model, signal, cost, path)
        value = SOLVED[kind](found if kind in ("cvxpy", "pyomo") else path, cost)
    return {"same optimum": abs(value - best) <= 1e-6 * max(1.0, abs(best))}


def _by_file(path: Path, _: Any) -> float:
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(path))
    solver.run()
    return float(solver.getInfo().objective_function_value)


def _by_vertices(path: Path, cost: Any) -> float:
    lines = path.read_text("utf-8").splitlines()[1:]
    return float(min(np.array(line.split(","), dtype=float) @ cost for line in lines))


def _by_cvxpy(plant: Any, cost: Any) -> float:
    import cvxpy as cp

    problem = cp.Problem(cp.Minimize(cost @ plant.x), plant.constraints)
    return float(problem.solve(solver=cp.HIGHS))


def _by_pyomo(plant: Any, cost: Any) -> float:
    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.plant = plant.model
    terms = [c * x for c, x in zip(cost, model.plant.x.values(), strict=True)]
    model.cost = pyo.Objective(expr=sum(terms))
    pyo.SolverFactory("appsi_highs").solve(model)
    return float(pyo.value(model.cost))


SOLVED: dict[str, Callable[[Any, Any], float]] = {
    "mps": _by_file,
    "lp": _by_file,
    "csv": _by_vertices,
    "cvxpy": _by_cvxpy,
    "pyomo": _by_pyomo,
}


def transcript() -> Values:
    """Run the commands one after the other in a folder of their own."""
    found, home = {}, Path.cwd()
    kept = patch.dict(os.environ, COLUMNS="120"), patch.object(sys, "argv")
    with kept[0], kept[1], tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for line in COMMANDS.splitlines():
                text = printed_by(line)
                for pattern, shown in MASKS:
                    text = pattern.sub(shown, text)
                found[line] = [part.rstrip() for part in text.splitlines()]
        finally:
            os.chdir(home)
    return found


def printed_by(line: str) -> str:
    """Run a command; return what it printed and its exit code."""
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            run_command(line)
        except SystemExit as ended:
            print(f"exit code {ended.code}")
    return printed.getvalue()


def cases() -> dict[str, Callable[[], Values | None]]:
    """Return all cases by name, what takes long first."""
    found: dict[str, Callable[[], Values | None]] = {}
    for name in reversed(pglib.CASES):
        for variant in pglib.VARIANTS:
            for rows in pglib.ROWS:
                found[f"grid/{name}/{variant}/{rows}"] = partial(grid, name, variant, rows)
    found |= {f"table/{name}": partial(table, name) for name in TABLES}
    for name in KINDS:
        for learner in ("default", "facets"):
            for seed in KIND_SEEDS:
                found[f"kind/{name}/{learner}/{seed}"] = partial(kind, name, seed, learner)
    for log in NOISY_LOGS:
        for how, level in NOISY_ERRORS:
            found[f"noisy/{how}/{log}"] = partial(noisy, log, how, level)
    found |= {f"export/{each}": partial(export, each) for each in SOLVED}
    found["transcript"] = transcript
    for look in random_worlds.KINDS:
        for sign in random_worlds.PRICES:
            for seed in RANDOM_SEEDS:
                measure = partial(random_worlds.measure, look, sign, seed)
                found[f"random/{look}/{sign}/{seed}"] = measure
    found |= {f"world/{seed}": partial(world, seed) for seed in WORLDS}
    found |= {f"empty/{seed}": partial(empty, seed) for seed in EMPTY}
    return found


def in_quick(case: str) -> bool:
    """Return whether a case belongs to the minute that every test run has."""
    room, *rest = case.split("/")
    return {
        "grid": lambda: rest[0] in QUICK_GRIDS and rest[2] == "200",
        "table": lambda: rest[0] in ("identities", "switch"),
        "kind": lambda: rest[0] in QUICK_KINDS and rest[2] == "0",
        "random": lambda: rest[2] == "0",
        "noisy": lambda: rest[1] in ("5_pjm typ", "network"),
        "world": lambda: int(rest[0]) < 10,
        "empty": lambda: int(rest[0]) < 3,
    }.get(room, lambda: True)()


# Computing them.


def fingerprint() -> str:
    """Return a code for everything that the values of the cases are computed by."""
    here = Path(__file__)
    code = hashlib.sha256(here.read_text("utf-8").partition("# Computing them.")[0].encode())
    paths = [
        here.with_name(f"{name}.py")
        for name in ("golden_api", "pglib", "facet_worlds", "noisy_logs")
    ]
    for part in ("src", "experiments", "benchmarks/common"):
        paths += sorted((ROOT / part).rglob("*.py"))
    for path in paths:
        code.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return code.hexdigest()[:16]


def compute(case: str) -> tuple[str, Any, float]:
    """Compute one case; an error is its value too."""
    began = time.perf_counter()
    try:
        values: Any = cases()[case]()
    except Exception as error:  # noqa: BLE001 - one broken case must not hide the others
        values = {"error": f"{type(error).__name__}: {error}"[:300]}
    plain = json.loads(json.dumps(values, default=lambda each: each.item()))
    return case, plain, time.perf_counter() - began


def run(names: Sequence[str], jobs: int) -> dict[str, Any]:
    """Return the values of all named cases, computing those that this code has not computed."""
    store = ROOT / "build" / "golden" / f"{fingerprint()}.jsonl"
    store.parent.mkdir(parents=True, exist_ok=True)
    lines = store.read_text("utf-8").splitlines() if store.exists() else []
    known = dict(json.loads(line) for line in lines)
    missing = [name for name in names if name not in known]
    began, shown = time.perf_counter(), time.perf_counter()
    with store.open("a", encoding="utf-8") as file:
        for done, (case, values, seconds) in enumerate(_each(missing, jobs), 1):
            known[case] = values
            file.write(json.dumps([case, values]) + "\n")
            file.flush()
            if time.perf_counter() - shown > 10.0 or done == len(missing):
                shown = time.perf_counter()
                print(f"{done} of {len(missing)}, {shown - began:.0f} s: {case}, {seconds:.1f} s")
                sys.stdout.flush()
    return {name: known[name] for name in names}


def _each(names: Sequence[str], jobs: int) -> Iterator[tuple[str, Any, float]]:
    if jobs == 1:
        yield from map(compute, names)
    else:
        with ProcessPoolExecutor(jobs) as pool:
            yield from pool.map(compute, names)


# Comparing them.


class Found(NamedTuple):
    """What the comparison says of a case: a failure, or a change that is only printed."""

    case: str
    text: str
    fails: bool


def compare(before: dict[str, Any], after: dict[str, Any], exact: bool) -> list[Found]:
    """Return all that changed between the golden values and those of now."""
    found = [
        Found(case, text, exact or fails)
        for case in after
        for text, fails in _changes(case, before.get(case, "no case"), after[case], exact)
    ]
    return found + [Found(*each, True) for each in _of_groups(before, after)]


def _changes(case: str, old: Any, new: Any, exact: bool) -> Iterator[tuple[str, bool]]:
    """Yield what changed in one case, and whether that fails everywhere."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        if old != new:
            yield f"{old!r} -> {new!r}", True
        return
    room = case.split("/", maxsplit=1)[0]
    for key in sorted({*old, *new}):
        a, b = old.get(key), new.get(key)
        if a == b or (not exact and _text(a) == _text(b) is not None):
            continue
        if isinstance(a, float) and isinstance(b, float | int):
            moved = abs(b - a) / max(1.0, abs(a))
            if moved <= EXACT or (math.isnan(a) and math.isnan(b)):
                continue
            falls = key == "r2" and room == "grid" and b < a - GRID_FALL
            if exact or falls or moved > PRINTED:
                yield f"{key} {a:.6g} -> {b:.6g} ({b - a:+.2g})", falls
        elif room in ("grid", "world") and isinstance(a, int) and isinstance(b, int):
            yield f"{key} {a} -> {b}", key in ("recovered", "true", "called") and b < a
        elif room in ("random", "noisy") or (key == "selected" and room == "kind"):
            yield f"{key} {a} -> {b}", False
        elif room == "table" and a is not None and b is not None:
            # Searches take other paths on other machines.
            yield f"{key} {a} -> {b}", False
        elif isinstance(a, list) and isinstance(b, list):
            yield f"{key}:\n{_difference(a, b)}", True
        else:
            yield f"{key} {a!r} -> {b!r}", True


def _text(lines: Any) -> list[str] | None:
    """Return printed lines without their numbers, which differ between machines."""
    if not isinstance(lines, list):
        return None
    return [re.sub(r"\s+", " ", NUMBER.sub("#", line)) for line in lines]


def _difference(old: list[str], new: list[str]) -> str:
    from difflib import unified_diff

    return "\n".join(list(unified_diff(old, new, lineterm="", n=0))[2:])


def _of_groups(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what got worse in the mean of a kind, or in the counts of many worlds."""
    sums: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for case, new in after.items():
        old, parts = before.get(case), case.split("/")
        if not (isinstance(old, dict) and isinstance(new, dict)):
            continue
        group = {"kind": parts[:3], "random": ["random", "*", *parts[2:3]], "grid": ["grid"]}
        group["noisy"] = parts[:2]
        for key in {*old, *new} - {"selected", "error"} if parts[0] in group else ():
            pair = old.get(key, math.nan), new.get(key, math.nan)
            sums["/".join(group[parts[0]]), key].append(pair)
    for (group, key), pairs in sorted(sums.items()):
        a, b = np.array(pairs).sum(axis=0)
        if key == "r2" and group != "grid":
            worse = not b >= a - KIND_FALL * len(pairs)
            a, b = a / len(pairs), b / len(pairs)
        elif key == "named":
            worse = b < a
        elif key.endswith("trusted wrong") or key == "falsely":
            worse = b > a
        elif key.endswith("right trusted") or key == "true":
            worse = b < (1.0 - LOST_SHARE) * a
        else:
            continue
        if worse:
            yield group, f"{key}, in all {len(pairs)}: {a:.6g} -> {b:.6g}"


def totals(values: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each room: what the net holds."""
    values = {case: each for case, each in values.items() if not each or "error" not in each}
    grids = [each["r2"] for case, each in values.items() if case.startswith("grid/")]
    if grids:
        yield f"grids: R2 median {np.median(grids):.5f}, worst {min(grids):.4f} of {len(grids)}"
    for learner in ("default", "facets"):
        kinds = [v["r2"] for case, v in values.items() if f"/{learner}/" in case]
        if kinds:
            yield f"kinds, {learner}: mean R2 {np.mean(kinds):.4f} of {len(kinds)}"
    noise = [each["r2"] for case, each in values.items() if case.startswith("noisy/")]
    if noise:
        told = f"mean R2 {np.mean(noise):.4f}, worst {min(noise):.4f} of {len(noise)}"
        yield f"logs as meters write them: {told}"
    worlds = [each for case, each in values.items() if case.startswith("world/")]
    if worlds:
        n, true, all_ = (sum(e[k] for e in worlds) for k in ("determined", "true", "identified"))
        yield f"worlds: {n} determined facets, {all_} called identified, {true} of them true"
    for sign in random_worlds.PRICES:
        some = [v for c, v in values.items() if c.startswith("random/") and f"/{sign}/" in c and v]
        for what in ("", "what-if "):
            if some:
                keys = ("trusted", "trusted wrong", "right trusted", "right")
                trusted, wrong, both, right = (
                    sum(each[what + key] for each in some) for key in keys
                )
                yield (
                    f"random worlds, {sign}, {what or 'test rows '}: {trusted} trusted, {wrong} of "
                    f"them wrong; {both} of {right} right ones trusted"
                )


def accept(pattern: str, reason: str, golden: dict[str, Any], jobs: int, file: Path) -> int:
    """Take the values of now for the cases that a pattern names, and write down why."""
    names = [case for case in {**cases(), **golden["cases"]} if fnmatch(case, pattern)]
    if not names:
        print(f"no case is called {pattern}", file=sys.stderr)
        return 2
    now = run([case for case in names if case in cases()], jobs)
    for case in names:
        old, new = golden["cases"].get(case), now.get(case)
        if old == new:
            continue
        record = {"case": case, "reason": reason}
        said = [text for text, _ in _changes(case, old, new, exact=True)]
        golden["accepted"].append({**record, "change": "; ".join(said)[:300]})
        if new is None and case not in now:
            del golden["cases"][case]
        else:
            golden["cases"][case] = new
        print(f"accepted {case}: {'; '.join(said)[:200]}")
    write(golden, file)
    return 0


def write(golden: dict[str, Any], file: Path) -> None:
    """Write the golden file, a case in each line."""
    lines = [f"{json.dumps(c)}: {json.dumps(v)}" for c, v in sorted(golden["cases"].items())]
    taken = ",\n".join(json.dumps(each) for each in golden["accepted"])
    text = f'{{"cases": {{\n{(f",{chr(10)}").join(lines)}\n}},\n"accepted": [\n{taken}\n]}}\n'
    file.write_text(text, "utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute, compare and print; the exit code says whether something got worse."""
    parser = argparse.ArgumentParser(description="Compare what the library gives with golden.json.")
    add = parser.add_argument
    add("--exact", action="store_true", help="fail at any change above 1e-9")
    add("--quick", action="store_true", help="a minute of it")
    add("--only", default="*", help="cases of this pattern, such as 'grid/*'")
    add("--accept", nargs=2, metavar=("CASE", "REASON"), help="take the values of now")
    add("--jobs", type=int, default=2)
    add("--file", type=Path, default=FILE, help="compare with another file, or write it")
    options = parser.parse_args(arguments)
    file, golden = options.file, {"cases": {}, "accepted": []}
    if file.exists():
        golden = json.loads(file.read_text("utf-8"))
    if options.accept:
        return accept(*options.accept, golden, options.jobs, file)
    names = [c for c in cases() if fnmatch(c, options.only) and (not options.quick or in_quick(c))]
    now = run(names, options.jobs)
    for line in totals(now):
        print(line)
    if not file.exists():
        write({**golden, "cases": now}, file)
        print(f"{file.name} is written: {len(now)} cases")
        return 0
    found = compare(golden["cases"], now, options.exact)
    if not options.quick and options.only == "*":
        gone = golden["cases"].keys() - now.keys()
        found += [Found(case, "is computed no more", True) for case in sorted(gone)]
    for each in found:
        print(f"{'FAILS' if each.fails else 'moved'}  {each.case}: {each.text}")
    failed = len({each.case for each in found if each.fails})
    print(f"{len(now)} cases, {len({f.case for f in found})} changed, {failed} fail")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
