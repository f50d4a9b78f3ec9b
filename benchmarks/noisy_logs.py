"""Facets of logs as meters write them: R² against exact rows, and the rows named as exceptional.

``python benchmarks/noisy_logs.py --seeds 101,102,103`` fits each of sixteen logs with each kind of
error (`common/logs.py`), 500 rows, and prints R², seconds, facets and rows: exceptional ones, those
of them that are named, and others that are; ``--only 'factory/noise*'`` some of them. Seeds below
100 were looked at while rules were found.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common.logs import MAKERS, draw
from golden_api import described, fitted, outliers, predicted

LEVELS = {
    "exact": (0.0,),
    "noise": (0.01, 0.02, 0.05, 0.2),
    "value": (0.01, 0.02, 0.05, 0.2),
    "round": (0.001, 0.01),
    "step": (0.01,),
    "shed": (0.001, 0.01, 0.03),
    "stuck": (0.001, 0.01, 0.03),
}


class Task(NamedTuple):
    """One fit: a log, what happens to its rows and how much, a seed; facets or what is selected."""

    log: str
    how: str
    level: float
    seed: int
    facets: bool


class Score(NamedTuple):
    """What a fit reached."""

    case: str
    r2: float
    seconds: float
    facets: int
    odd: int
    named: int
    falsely: int

    def line(self) -> str:
        """Return a line of the table."""
        counts = "".join(f"{count:>5}" for count in self[3:])
        return f"{self.case:<34}{self.r2:>9.4f}{self.seconds:>8.2f}{counts}"


def measure(task: Task) -> Score:
    """Fit one log."""
    log = draw(task.log, task.how, task.level, task.seed)
    began = time.perf_counter()
    model = fitted(log.signals, log.decisions, log.cost, facets=task.facets)
    seconds = time.perf_counter() - began
    decisions = predicted(model, log.test_signals)[0]
    total = ((log.test_decisions - log.test_decisions.mean(axis=0)) ** 2).sum()
    named = outliers(model, len(log.odd))
    return Score(
        f"{task.log}/{task.how}/{task.level:g}/{task.seed}",
        float(1.0 - ((log.test_decisions - decisions) ** 2).sum() / total),
        seconds,
        len(described(model)[1]),
        int(log.odd.sum()),
        int((named & log.odd).sum()),
        int((named & ~log.odd).sum()),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each case, and means."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--seeds", default="101,102,103")
    add("--only", default="*", help="cases such as 'factory/noise*'")
    add("--default", action="store_true", help="what is selected, not Facets()")
    add("--output", type=Path, help="a file of JSON lines")
    add("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    tasks = [
        Task(name, how, level, seed, not options.default)
        for name, (how, levels), seed in product(
            MAKERS, LEVELS.items(), map(int, options.seeds.split(","))
        )
        for level in levels
        if fnmatch(f"{name}/{how}/{level:g}", options.only)
    ]
    found = []
    groups: dict[tuple[str, float], list[float]] = defaultdict(list)
    with ProcessPoolExecutor(options.jobs) as pool:
        for task, score in zip(tasks, pool.map(measure, tasks), strict=True):
            found.append(score)
            print(score.line(), flush=True)
            groups[task.how, task.level].append(score.r2)
    for (how, level), scores in groups.items():
        mean, worst = np.mean(scores), np.min(scores)
        print(f"{how:<8}{level:<7}mean {mean:.4f}  worst {worst:.4f}  of {len(scores)}")
    if options.output:
        lines = [json.dumps(each._asdict()) + "\n" for each in found]
        options.output.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
