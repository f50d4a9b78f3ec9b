"""What a fit on a cluster sends, and what it would take for 10^10 rows on 100 workers.

Nothing is distributed here: the functions and answers that would travel are pickled and counted,
and processor time is measured for each row of a pass (n = 3 decisions, 6 features and a constant).
From these constants, bytes and seconds follow by the arithmetic that is printed. The claim: for a
Minkowski sum and for annealing, what travels in a pass is less than 1/500 of the data.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import cloudpickle
import numpy as np

import feaslearn as fl
from feaslearn.data import Source

ROWS, WORKERS, NETWORK = 10**10, 100, 1e8  # bytes a second into the client, 1 Gbit/s


class Pass(NamedTuple):
    """Bytes of the function and of all answers, number of answers, seconds of the processor."""

    sent: int
    received: int
    answers: int
    seconds: float


class Counted(Source):
    """Chunks in memory whose traffic is counted."""

    adds = True

    def __init__(self, X: Any, y: Any) -> None:
        self._chunks = fl.Chunks((X, y))
        self.names, self.named = self._chunks.names, self._chunks.named
        self.n_rows = self._chunks.n_rows
        self.passes: list[Pass] = []

    def map(self, function: Any, n_jobs: int = 1, signals: Any = None) -> Iterator[Any]:
        """Yield the answers, and write down what they weigh."""
        sent, received, answers, seconds = len(cloudpickle.dumps(function)), 0, 0, 0.0
        for chunk in self._chunks.map(lambda chunk: chunk):
            began = time.process_time()
            answer = function(chunk)
            seconds += time.process_time() - began
            # Beside the answers there are some rows of the data, once and at most 4000 of them.
            received, answers = received + len(pickle.dumps(answer[0], 5)), answers + 1
            yield answer
        self.passes.append(Pass(sent, received, answers, seconds))


def plant(count: int) -> tuple[Any, Any]:
    """Return three prices and six further signals, and a dispatch up to capacities."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.0, (count, 9))
    left, y, rows = X[:, 3:].sum(axis=1) / 2.0, np.zeros((count, 3)), np.arange(count)
    for unit in np.argsort(X[:, :3], axis=1).T:
        y[rows, unit] = np.minimum(left, 1.0 + X[rows, 3 + unit])
        left = left - y[rows, unit]
    return X, y + 0.05 * rng.normal(size=y.shape)


def told(name: str, source: Counted, kind: Pass, passes: int) -> float:
    """Print the constants of one kind of pass and what follows; return the share that travels."""
    count = int(source.n_rows or 0)
    chunks = ROWS * kind.answers / count
    each = kind.received / kind.answers
    work = ROWS * kind.seconds / count / WORKERS
    travel = (chunks * each + WORKERS * kind.sent) / NETWORK
    share = kind.received / (8.0 * 12 * count)
    print(
        f"{name}: function {kind.sent} bytes, answer {each:.0f} bytes for each of "
        f"{count / kind.answers:.0f} rows ({share:.1e} of the data), "
        f"{1e9 * kind.seconds / count:.0f} ns a row"
    )
    print(
        f"  10^10 rows, 100 workers: {work:.0f} s of work + {travel:.1f} s for "
        f"{chunks * each / 1e6:.0f} MB = {work + travel:.0f} s a pass, {passes} passes: "
        f"{passes * (work + travel) / 60.0:.1f} minutes"
    )
    return share


def main() -> int:
    """Print the constants and the arithmetic; the exit code says whether the claim holds."""
    count = 300_000 if "--quick" in sys.argv[1:] else 1_000_000
    X, y = plant(count)
    convex = fl.trainers.Convex(ridge=0.0, sparsity=0.0)
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=[0, 1, 2], trainer=convex)
    model.fit(Counted(X[:20_000], y[:20_000]))  # compiles
    source = Counted(X, y)
    model.fit(source)
    first, later = source.passes[0], source.passes[1:]
    shares = [told("moments of a Minkowski sum, one pass", source, first, 1)]
    if later:
        shares.append(told("looks for negative scales", source, later[0], len(later)))
    annealing = fl.trainers.Annealing(n_starts=1, ridge=0.1, ridge_floor=1.0, max_iter=20)
    source = Counted(X, y)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(9)), cost=[0, 1, 2], trainer=annealing)
    model.set_params(random_state=0).fit(source)
    middle = source.passes[len(source.passes) // 2]
    shares.append(told("Annealing, value and gradient", source, middle, len(source.passes)))
    return int(max(shares) > 2e-3)


if __name__ == "__main__":
    sys.exit(main())
