"""The same random_state gives the same bits in new processes, for any number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Large enough that a threaded product of matrices cuts its sums elsewhere, and for several blocks.
SCRIPT = """
import hashlib, sys, warnings
import numpy as np
import feaslearn as fl
warnings.simplefilter("ignore")
jobs, names = int(sys.argv[1]), sys.argv[2].split(",")
small = fl.datasets.make_power5(60, noise=0.1, random_state=0)
large = fl.datasets.make_l1_ball(9000, n=3, noise=0.1, random_state=0)
few = fl.datasets.make_l1_ball(8, n=2, noise=0.1, random_state=0)
t, S = fl.trainers, fl.Simplex
CASES = {
    "annealing": (small, fl.Affine(S(3)), t.Annealing(max_iter=15, n_starts=2, ridge=0.1)),
    "blocks": (large, fl.Affine(S(3)), t.Annealing(max_iter=5, n_starts=2, ridge=0.1,
               ridge_floor=1.0)),
    "scaled": (large, fl.Minkowski([fl.Term(S(3))], scale="constant"), "auto"),
    "minkowski": (large, fl.Minkowski("auto"), "auto"),
    "facets": (small, fl.Facets(max_facets=2), t.FacetLearning()),
}
for name in names:
    data, hypothesis, trainer = CASES[name]
    model = fl.RegionRegressor(hypothesis, cost=data.cost, trainer=trainer,
                               random_state=3, n_jobs=jobs).fit(data.signals, data.decisions)
    bits = model.theta_.tobytes() + model.predict(data.signals[:50]).tobytes()
    print(name, hashlib.sha256(bits).hexdigest())
"""


#: In `make soak`; threads within one process are compared in tests/properties.
pytestmark = pytest.mark.soak
CASES = ["minkowski,facets", "annealing,blocks,scaled"]


def hashes(threads: str, jobs: str, names: str) -> list[str]:
    """Return what a new process prints."""
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    environment = os.environ | dict.fromkeys(limits, threads)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, jobs, names],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


@pytest.mark.parametrize("names", CASES)
def test_threads_and_processes_do_not_matter(names: str) -> None:
    assert hashes("1", "1", names) == hashes("2", "2", names)
