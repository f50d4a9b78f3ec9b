"""Speed beside the commit before-lean, the last before the library was made lean.

Claims: none of the works takes more than 1.1 times the processor time it took then, and their sum
is less. Two processes, one for each version, have compiled everything and take turns, so that a
busy machine slows both alike. Imports are those of new interpreters, in turns too. Threads: one.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from import_time import ENVIRONMENT

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
from check_size import BEFORE, before  # noqa: E402

#: Least and most rounds; short works are done again until they took so many seconds.
REPEATS, MOST, ENOUGH = 5, 25, 8.0
MAX_RATIO = 1.1
IMPORT = "import feaslearn; feaslearn.RegionRegressor"

Work = Callable[[], object]


def default_fit() -> Work:
    """Return the fit of a script of three lines, on power5."""
    import feaslearn as fl

    data = fl.datasets.make_power5(100, random_state=100)
    model = fl.RegionRegressor(cost=data.cost, random_state=0)
    return lambda: model.fit(data.signals, data.decisions)


def facets() -> Work:
    """Return a fit of facets to 1000 dispatches of ten plants in a congested grid."""
    import numpy as np

    import feaslearn as fl

    path = ROOT / "benchmarks" / "data" / "case39_api.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1, max_rows=1000)
    model = fl.RegionRegressor(fl.Facets(), cost=list(range(10)), random_state=0)
    return lambda: model.fit(table[:, :18], table[:, 18:])


def _million() -> tuple[Any, Any]:
    """Return signals and decisions of a million samples."""
    import feaslearn as fl

    data = fl.datasets.make_power5(1_000_000, random_state=0)
    return data.signals, data.decisions


def minkowski() -> Work:
    """Return a fit of hypersimplices to a million samples."""
    import feaslearn as fl

    signals, decisions = _million()
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2], random_state=0)
    return lambda: model.fit(signals, decisions)


def predict() -> Work:
    """Return predictions of a million decisions by facets."""
    import feaslearn as fl

    signals, decisions = _million()
    model = fl.RegionRegressor(fl.Facets(), cost=[0, 1, 2], random_state=0)
    model.fit(signals[:500], decisions[:500])
    return lambda: model.predict(signals)


WORKS: dict[str, Callable[[], Work]] = {
    "default fit of power5": default_fit,
    "Facets(), N=1000, n=10": facets,
    "Minkowski, N=10⁶": minkowski,
    "predict 10⁶": predict,
}


def serve(name: str) -> None:
    """Do a work once, then again for each line that comes in, and print the seconds it took."""
    import warnings

    warnings.simplefilter("ignore")
    work = WORKS[name]()
    work()
    print("ready", flush=True)
    for _ in sys.stdin:
        wall, processor = time.perf_counter(), time.process_time()
        work()
        seconds = time.perf_counter() - wall, time.process_time() - processor
        print(json.dumps(seconds), flush=True)


def _started(source: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start this interpreter with the library of one version."""
    environment = {**ENVIRONMENT, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _both(sources: tuple[Path, ...], name: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Start a process of each version that has done a work once, and end them."""
    processes = []
    for source in sources:
        processes.append(_started(source, __file__, "--serve", name))
        assert processes[-1].stdout is not None
        assert processes[-1].stdout.readline() == "ready\n", f"{name}, {source}: no answer"
    try:
        yield processes
    finally:
        for process in processes:
            process.communicate()


def of_a_work(sources: tuple[Path, ...], name: str) -> list[list[tuple[float, float]]]:
    """Return wall and processor seconds of a work, by version and then by round."""
    times: list[list[tuple[float, float]]] = [[] for _ in sources]
    with _both(sources, name) as processes:
        for number in range(MOST):
            if number >= REPEATS and sum(processor for _, processor in times[0]) > ENOUGH:
                break
            for process, seen in zip(processes, times, strict=True):
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write("\n")
                process.stdin.flush()
                wall, processor = json.loads(process.stdout.readline())
                seen.append((wall, processor))
    return times


def of_an_import(sources: tuple[Path, ...]) -> list[list[tuple[float, float]]]:
    """Return wall and processor seconds of an import, by version and then by round."""
    code = (
        "import time; wall, processor = time.perf_counter(), time.process_time()\n"
        f"{IMPORT}\n"
        "print([time.perf_counter() - wall, time.process_time() - processor])"
    )
    times: list[list[tuple[float, float]]] = [[] for _ in sources]
    # The first round writes the byte code and warms the disk: it does not count.
    for number in range(2 * REPEATS + 1):
        for source, seen in zip(sources, times, strict=True):
            answer, _ = _started(source, "-c", code).communicate()
            if number:
                seen.append(tuple(json.loads(answer)))
    return times


def main() -> int:
    """Print the table; the exit code says whether the claims hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--before", type=Path, help="a checkout of before-lean (else made anew)")
    parser.add_argument("--only", help="works whose name holds this")
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    old = options.before or before()
    if old is None:
        print(f"there is no commit {BEFORE} in this checkout: fetch its history")
        return 1
    sources = old / "src", ROOT / "src"
    names = [name for name in [*WORKS, "import"] if (options.only or "") in name]
    print(f"{'seconds of the processor (wall)':32}{'before':>16}{'now':>16}{'ratio':>8}{'wall':>8}")
    sums, worst = [0.0, 0.0], 0.0
    for name in names:
        times = of_an_import(sources) if name == "import" else of_a_work(sources, name)
        (wall, then), (wall_now, now) = (
            tuple(median(column) for column in zip(*seen, strict=True)) for seen in times
        )
        sums = [sums[0] + then, sums[1] + now]
        worst = max(worst, now / then)
        shown = f"{f'{then:.3f} ({wall:.3f})':>16}{f'{now:.3f} ({wall_now:.3f})':>16}"
        print(f"{name:32}{shown}{now / then:8.2f}{wall_now / wall:8.2f}", flush=True)
    print(f"{'sum':32}{sums[0]:16.3f}{sums[1]:16.3f}{sums[1] / sums[0]:8.2f}")
    print(f"largest ratio {worst:.2f} (claim: at most {MAX_RATIO}); sum (claim: below 1)")
    return int(worst > MAX_RATIO or sums[1] >= sums[0])


if __name__ == "__main__":
    sys.exit(main())
