"""The first fit on a machine, while kernels compile, and every later one.

Claims: with no compiled kernel on disk, the first fit of the default model to 100 rows of power5
takes at most 8 seconds; in a new process that finds the kernels on disk, a fit takes at most one
second, and so does the first one of the process. Seconds are those of the processor, which a
free machine needs too; those on the clock are printed beside them. Every process runs a copy of
the package without compiled kernels; nothing of an installed package is touched. Three copies are
tried, and the median counts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import feaslearn

REPEATS = 3
COLD_SECONDS, WARM_SECONDS = 8.0, 1.0
PROCESS = """
from time import perf_counter, process_time
import feaslearn as fl
data = fl.datasets.make_power5(100, random_state=0)
for _ in range(2):
    model = fl.RegionRegressor(cost=data.cost, random_state=0)
    began, clock = process_time(), perf_counter()
    model.fit(data.signals, data.decisions)
    print(process_time() - began, perf_counter() - clock)
"""


def fits(folder: Path) -> list[list[float]]:
    """Return the seconds, of the processor and on the clock, of two fits of a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PROCESS],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return [[float(number) for number in line.split()] for line in done.stdout.splitlines()]


def run(repeats: int) -> list[list[float]]:
    """Return the medians of a cold first fit, a warm first fit and a warm second fit."""
    found = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(feaslearn.__file__).parent
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(package, Path(folder) / "feaslearn", ignore=ignored)
            found.append([fits(Path(folder))[0], *fits(Path(folder))])
    return [[median(pair) for pair in zip(*each, strict=True)] for each in zip(*found, strict=True)]


def main() -> int:
    """Print the times; the exit code says whether the claims hold."""
    rows = run(1 if "--quick" in sys.argv[1:] else REPEATS)
    names = ("nothing compiled, first fit", "kernels on disk, first fit", "second fit")
    limits = (COLD_SECONDS, WARM_SECONDS, WARM_SECONDS)
    for name, (seconds, clock), most in zip(names, rows, limits, strict=True):
        print(f"{name:28}{seconds:7.2f} s, {clock:.2f} on the clock (claim: at most {most:.0f})")
    print(f"compiling takes {rows[0][0] / rows[1][0]:.0f} times as long as the fit it is for")
    return int(any(row[0] > most for row, most in zip(rows, limits, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
