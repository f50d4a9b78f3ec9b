"""Facets of logs as meters write them: test R² against exact rows, and the rows named as exceptional.

``python benchmarks/noisy_logs.py --seeds 101,102,103`` fits each of sixteen logs with each kind of
error (`common/logs.py`), 500 rows, and prints R², seconds and counts; ``--only 'factory/noise'``
some of them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from itertools import product
from pathlib import Path

import numpy as np

from common.logs import MAKERS, draw
from golden_api import described, fitted, outliers, predicted

LEVELS = {
    "noise": (0.01, 0.02, 0.05, 0.2),
    "value": (0.01, 0.02, 0.05, 0.2),
    "round": (0.001, 0.01),
    "step": (0.01,),
    "shed": (0.001, 0.01, 0.03),
    "stuck": (0.001, 0.01, 0.03),
    "exact": (0.0,),
}


def measure(task: tuple[str, str, float, int, bool]) -> dict[str, object]:
    """Fit one log and return R², seconds, facets, and rows named."""
    name, how, level, seed, facets = task
    log = draw(name, how if how != "exact" else "step", level or 1e-12, seed)
    began = time.perf_counter()
    model = fitted(log.signals, log.decisions, log.cost, facets=facets)
    seconds = time.perf_counter() - began
    decisions = predicted(model, log.test_signals)[0]
    total = ((log.test_decisions - log.test_decisions.mean(axis=0)) ** 2).sum()
    named = outliers(model, len(log.odd))
    return {
        "case": f"{name}/{how}/{level:g}/{seed}",
        "r2": float(1.0 - ((log.test_decisions - decisions) ** 2).sum() / total),
        "seconds": round(seconds, 2),
        "facets": len(described(model)[1]),
        "odd": int(log.odd.sum()),
        "named": int((named & log.odd).sum()),
        "falsely": int((named & ~log.odd).sum()),
    }


def main() -> None:
    """Print a line for each case, and means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="101,102,103")
    parser.add_argument("--only", default="*")
    parser.add_argument("--default", action="store_true", help="what is selected, not Facets()")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    tasks = [
        (name, how, level, seed, not options.default)
        for name, (how, levels), seed in product(MAKERS, LEVELS.items(), seeds)
        for level in levels
        if fnmatch(f"{name}/{how}/{level:g}", options.only)
    ]
    found, groups = [], defaultdict(list)
    with ProcessPoolExecutor(options.jobs) as pool:
        for each in pool.map(measure, tasks):
            found.append(each)
            print(
                "{case:<34}{r2:>9.4f}{seconds:>8.2f}{facets:>5}{odd:>5}{named:>5}{falsely:>5}".format(
                    **each
                ),
                flush=True,
            )
            _, how, level, _ = str(each["case"]).split("/")
            groups[how, level].append(each["r2"])
    for (how, level), scores in groups.items():
        print(
            f"{how:<8}{level:<7} mean {np.mean(scores):.4f}  worst {np.min(scores):.4f}  of {len(scores)}"
        )
    if options.output:
        options.output.write_text("".join(json.dumps(each) + "\n" for each in found), "utf-8")


if __name__ == "__main__":
    main()
