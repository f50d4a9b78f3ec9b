"""Fits that are killed with SIGKILL at random moments and run again end with the same bits.

Two of them in `make test`; `make soak-kill` kills fits of every kind.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from feaslearn.runs.checkpoint import read_checkpoint
from soak.cases import RESUMED

QUICK = ("gradient descent", "facets")
#: How often each kind is begun, killed one to three times and ended.
ROUNDS = 3


def fit(case: str, checkpoint: Path | None) -> bytes:
    """Fit once; return the parameters."""
    warnings.simplefilter("ignore")
    model, data = RESUMED[case](False, checkpoint=checkpoint)
    return bytes(model.fit(*data).theta_.tobytes())


def work(case: str, checkpoint: Path | None, result: Path) -> None:
    """Fit in a process of its own; leave the parameters behind."""
    result.write_bytes(fit(case, checkpoint))


def start(case: str, checkpoint: Path | None, result: Path) -> Any:
    process = multiprocessing.get_context("fork").Process(
        target=work, args=(case, checkpoint, result)
    )
    process.start()
    return process


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("case", "rounds"),
    [
        *((case, 1) for case in QUICK),
        *(pytest.param(case, ROUNDS, marks=pytest.mark.soak) for case in RESUMED),
    ],
)
def test_a_killed_fit_ends_with_the_same_bits(
    case: str, rounds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    drawn, checkpoint, result = random.Random(case), tmp_path / "run.ckpt", tmp_path / "theta"
    fit(case, None)  # kernels compile here, and are there in every process
    began = time.monotonic()
    whole = fit(case, checkpoint)
    seconds = time.monotonic() - began
    for _ in range(rounds):
        for _ in range(drawn.choice((1, 1, 2, 3))):
            process = start(case, checkpoint, result)
            time.sleep(drawn.random() * seconds)
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            if checkpoint.exists():
                read_checkpoint(checkpoint)
        result.unlink(missing_ok=True)
        process = start(case, checkpoint, result)
        process.join()
        assert process.exitcode == 0
        assert result.read_bytes() == whole
        assert not list(tmp_path.glob("*.ckpt*"))
