"""A Minkowski fit from Parquet files that are larger than memory may be.

Claims: the whole fit is at least half as fast as pyarrow alone is at reading the same columns and
adding each of them up, both on the same number of threads, and the process that fits never takes
more than 2 GB. Each is done by a process of its own, in turns.

    python benchmarks/chunked_minkowski.py [--quick] [--rows 100000000] [--folder /tmp]

The files are made first (112 bytes a row) and deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import feaslearn as fl

SIGNALS = [*(f"price{j}" for j in range(3)), *(f"load{j}" for j in range(5))]
DECISIONS = [f"plant{j}" for j in range(3)]
FILE_ROWS, GROUP_ROWS, THREADS = 2_000_000, 2**18, 2
MIN_RATIO, MAX_BYTES = 0.5, 2 * 10**9


def write_file(path: Path, n_rows: int, seed: int) -> None:
    """Write decisions of a Minkowski sum with affine scales, noise of 0.1."""
    rng = np.random.default_rng(seed)
    costs, loads = rng.uniform(0.2, 2.0, (n_rows, 3)), rng.uniform(0.3, 2.0, (n_rows, 5))
    truth = np.random.default_rng(0)
    scales = 0.2 + loads @ truth.uniform(0.0, 1.0, (2, 5)).T
    decisions = 1.0 + loads @ truth.normal(size=(5, 3)) + 0.1 * rng.normal(size=(n_rows, 3))
    for j in range(3):
        rank = sum((costs[:, i] < costs[:, j]).astype(int) for i in range(3))
        decisions[:, j] += scales[:, 0] * (rank < 1) + scales[:, 1] * (rank < 2)
    columns = [*costs.T, *loads.T, *decisions.T]
    table = pa.table([pa.array(c) for c in columns], names=[*SIGNALS, *DECISIONS])
    pq.write_table(table, path, row_group_size=GROUP_ROWS)


def added_up(folder: str) -> dict[str, float]:
    """Read all columns with pyarrow alone and add each up."""
    pa.set_cpu_count(THREADS)
    sums = dict.fromkeys([*SIGNALS, *DECISIONS], 0.0)
    for batch in ds.dataset(folder).to_batches(columns=list(sums)):
        for name in sums:
            sums[name] += pc.sum(batch.column(name)).as_py() or 0.0
    return {"passes": 1.0, "loss": float("nan")}


def fitted(folder: str) -> dict[str, float]:
    """Fit a Minkowski sum to the files."""
    chunks = fl.Chunks(folder, signals=SIGNALS, decisions=DECISIONS, memory="200MB")
    model = fl.RegionRegressor(
        fl.Minkowski.hypersimplices(3), cost=SIGNALS[:3], random_state=0, n_jobs=THREADS
    ).fit(chunks)
    passes = model.result_.details["passes over the data"]
    return {"passes": passes, "loss": model.result_.objective}


def child(what: str, folder: str) -> None:
    """Do one of the two, and print the times and the most memory the process took."""
    if what == "fitted":  # compiled code is read from the disk once for all fits of a process
        rng = np.random.default_rng(0)
        small = (rng.uniform(size=(300, 8)), rng.uniform(size=(300, 3)))
        fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2]).fit(fl.Chunks(small))
    wall, cpu = perf_counter(), process_time()
    found = {"fitted": fitted, "added up": added_up}[what](folder)
    found |= {"seconds": perf_counter() - wall, "cpu": process_time() - cpu}
    found["bytes"] = 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(found))


def measured(what: str, folder: str) -> dict[str, float]:
    """Run one of the two in a process of its own."""
    command = [sys.executable, __file__, "--child", what, "--folder", folder]
    found: dict[str, float] = json.loads(subprocess.check_output(command).splitlines()[-1])
    return found


def compare(folder: str, n_rows: int) -> int:
    """Take turns, and print the ratio of the best times."""
    runs: dict[str, list[dict[str, float]]] = {"added up": [], "fitted": []}
    for _ in range(2):
        for what, own in runs.items():
            own.append(measured(what, folder))
    for what, own in runs.items():
        seconds, cpu = (min(run[key] for run in own) for key in ("seconds", "cpu"))
        most = max(run["bytes"] for run in own)
        print(
            f"{what}: {seconds:.1f} s ({1e9 * seconds / n_rows:.0f} ns a row), processor time "
            f"{cpu:.1f} s, {own[0]['passes']:.0f} passes, at most {most / 1e9:.2f} GB"
        )
    best = {
        key: [min(run[key] for run in own) for own in runs.values()] for key in ("seconds", "cpu")
    }
    ratio, cpu_ratio = (alone / fit for alone, fit in best.values())
    most = max(run["bytes"] for run in runs["fitted"])
    print(f"loss {runs['fitted'][0]['loss']:.6f} (noise 0.03)")
    print(f"ratio of speeds {ratio:.2f}, of processor times {cpu_ratio:.2f}, claim {MIN_RATIO}")
    return int(ratio < MIN_RATIO or most > MAX_BYTES)


def main() -> int:
    """Make the files, compare, delete the files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--child", default=None)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.folder)
        return 0
    n_rows = 1_000_000 if options.quick else options.rows
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        began = perf_counter()
        for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
            rows = min(FILE_ROWS, n_rows - start)
            write_file(Path(folder) / f"part{number:04}.parquet", rows, seed=number)
        print(f"{n_rows} rows written in {perf_counter() - began:.0f} s")
        return compare(folder, n_rows)


if __name__ == "__main__":
    sys.exit(main())
