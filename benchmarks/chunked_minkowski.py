"""A Minkowski fit from Parquet files that are larger than memory may be.

Claims: the whole fit is at least half as fast as pyarrow alone is at reading the same columns and
adding each of them up, both on the same number of threads, and the process that fits never takes
more than 2 GB. Each is done by a process of its own, in turns.

    python benchmarks/chunked_minkowski.py [--quick] [--rows 100000000] [--folder /tmp] [--plain]

The files are made first (100 bytes a row: 10 GB for 10^8) and deleted at the end. They are as
pyarrow writes doubles by itself. With ``--plain`` they are without dictionaries, which are useless
for numbers that hardly come twice: pyarrow then reads as fast as memory is copied.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
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
FILE_ROWS, GROUP_ROWS, THREADS, ROW_BYTES = 2_000_000, 2**18, 2, 100
MIN_RATIO, MAX_BYTES = 0.5, 2 * 10**9


class Plant:
    """Makes decisions of a Minkowski sum with affine scales, noise of 0.1.

    Prices, loads and noise are drawn once. For each file they are turned against each other by
    numbers of rows of their own, so that no sample comes twice, and decisions are computed anew.
    """

    def __init__(self, n_rows: int) -> None:
        rng = np.random.default_rng(1)
        self._prices = rng.uniform(0.2, 2.0, (3, n_rows))
        self._loads = rng.uniform(0.3, 2.0, (5, n_rows))
        self._noise = 0.1 * rng.normal(size=(3, n_rows))
        truth = np.random.default_rng(0)
        self._scales, self._slopes = truth.uniform(0.0, 1.0, (2, 5)), truth.normal(size=(3, 5))

    def write(self, path: Path, n_rows: int, number: int, plain: bool) -> None:
        """Write one file, as pyarrow does by itself or plainly."""
        prices = np.roll(self._prices, 7919 * number, axis=1)[:, :n_rows]
        noise = np.roll(self._noise, 104_729 * number, axis=1)[:, :n_rows]
        loads = self._loads[:, :n_rows]
        scales = 0.2 + self._scales @ loads
        decisions = 1.0 + self._slopes @ loads + noise
        for j in range(3):
            rank = sum((prices[i] < prices[j]).astype(np.int8) for i in range(3))
            decisions[j] += scales[0] * (rank < 1) + scales[1] * (rank < 2)
        columns = [pa.array(column) for column in (*prices, *loads, *decisions)]
        table = pa.table(columns, names=[*SIGNALS, *DECISIONS])
        pq.write_table(table, path, row_group_size=GROUP_ROWS, use_dictionary=not plain)


def write_files(folder: str, n_rows: int, plain: bool) -> None:
    """Write all files, some at a time."""
    free = shutil.disk_usage(folder).free
    if free < 1.2 * ROW_BYTES * n_rows:
        sys.exit(
            f"{n_rows} rows take {ROW_BYTES * n_rows / 1e9:.0f} GB; {folder} has {free / 1e9:.0f} "
            "GB free: use --rows or --folder"
        )
    began = perf_counter()
    plant = Plant(min(FILE_ROWS, n_rows))

    def write(number: int) -> None:
        rows = min(FILE_ROWS, n_rows - number * FILE_ROWS)
        plant.write(Path(folder) / f"part{number:04}.parquet", rows, number, plain)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write, range(-(-n_rows // FILE_ROWS))))
    size = sum(path.stat().st_size for path in Path(folder).iterdir())
    print(
        f"{n_rows} rows, {size / 1e9:.1f} GB, written in {perf_counter() - began:.0f} s", flush=True
    )


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
    for again in range(2):
        for what, own in runs.items():
            own.append(measured(what, folder))
            print(f"run {again + 1}, {what}: {own[-1]['seconds']:.1f} s", flush=True)
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
    parser.add_argument("--plain", action="store_true", help="numbers without dictionaries")
    parser.add_argument("--child", default=None)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.folder)
        return 0
    n_rows = 1_000_000 if options.quick else options.rows
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        write_files(folder, n_rows, options.plain)
        return compare(folder, n_rows)


if __name__ == "__main__":
    sys.exit(main())
