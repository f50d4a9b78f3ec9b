"""How much memory a fit in memory takes beside its data.

Claims, for a million samples of 3 decisions, 3 prices and 5 other signals: what a plain
``fit(X, y)`` takes at its peak, beside signals and decisions, is at most twice their size (that of
double precision), for arrays of double and of single precision; so nothing is copied beyond that.

    python benchmarks/memory_of_a_fit.py [--quick]

Each fit runs in a process of its own, which has fitted a small sample before, so that libraries and
compiled kernels do not count. The data are there before the first measurement: the greatest memory
of the process up to then is set back, which Linux allows (/proc/self/clear_refs). A tenth of the
samples (--quick) shows buffers of a fixed size instead, so no claim is made for them.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

import feaslearn as fl
from minkowski_speed import make_samples

N, MOST = 1_000_000, 2.0
MODELS = {
    "Minkowski": lambda: fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2]),
    "linear policy (Affine)": lambda: fl.RegionRegressor(fl.Affine(fl.Simplex(1)), cost=[0, 1, 2]),
    "Affine, Annealing": lambda: fl.RegionRegressor(
        fl.Affine(fl.Simplex(9)),
        cost=[0, 1, 2],
        trainer=fl.trainers.Annealing(max_iter=10, n_starts=1, ridge=0.01, ridge_floor=1.0),
        random_state=0,
    ),
}


def now(field: str) -> float:
    """Return a number of bytes that the kernel says this process takes: VmRSS, VmHWM."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith(field))


def child(name: str, n_samples: int, precision: str) -> None:
    """Fit, and print the size of the data in double precision, the peak beside it, and the time."""
    signals, decisions, _ = make_samples(3000)
    model = MODELS[name]()
    model.fit(signals, decisions)
    parts = [make_samples(min(100_000, n_samples))[:2] for _ in range(-(-n_samples // 100_000))]
    X, y = (np.concatenate(tables).astype(precision) for tables in zip(*parts, strict=True))
    del parts
    X += np.random.default_rng(1).uniform(0.0, 0.01, (len(X), 1)).astype(precision)
    size = 8.0 * (X.size + y.size)
    ctypes.CDLL(None).malloc_trim(0)  # what was freed must not count as there already
    before = now("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    began = perf_counter()
    model.fit(X, y)
    print(size, now("VmHWM") - before, perf_counter() - began)


def main() -> int:
    """Print all ratios; the exit code says whether the claims hold."""
    if "--child" in sys.argv:
        child(sys.argv[-3], int(sys.argv[-2]), sys.argv[-1])
        return 0
    quick = "--quick" in sys.argv
    n_samples, worst = N // 10 if quick else N, 0.0
    for name in MODELS:
        for precision in ("float64", "float32"):
            command = [sys.executable, __file__, "--child", name, str(n_samples), precision]
            said = subprocess.check_output(command, text=True).split()
            size, peak, seconds = (float(number) for number in said[-3:])
            ratio = peak / size
            worst = max(worst, ratio)
            print(
                f"{name:26} {precision}: {peak / 2**20:6.0f} MB beside the data, {ratio:5.2f} "
                f"times {size / 2**20:.0f} MB; {seconds:.1f} s",
                flush=True,
            )
    print(f"worst ratio {worst:.2f}, claim {MOST} (for a million samples)")
    return int(worst > MOST and not quick)


if __name__ == "__main__":
    sys.exit(main())
