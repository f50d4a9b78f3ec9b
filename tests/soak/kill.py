"""Kill fits with SIGKILL at random moments, run them again, and compare every bit.

    python tests/soak/kill.py             50 kills over all kinds of fits
    python tests/soak/kill.py --kills 4 --cases "gradient descent,facets"

Exit code 1 if a resumed fit ended elsewhere than one that was never killed, if a checkpoint could
not be read, or if it was left behind.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from feaslearn.runs.checkpoint import read_checkpoint
from soak.cases import RESUMED


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


def killed_and_resumed(case: str, whole: bytes, seconds: float, random_: random.Random) -> str:
    """Kill a fit once or more often, let it end, and say what is wrong; "" if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint, result = Path(folder) / "run.ckpt", Path(folder) / "theta"
        for _ in range(random_.choice((1, 1, 2, 3))):
            process = start(case, checkpoint, result)
            time.sleep(random_.random() * seconds)
            os.kill(process.pid, signal.SIGKILL)
            process.join()
            if checkpoint.exists():
                read_checkpoint(checkpoint)
        result.unlink(missing_ok=True)
        process = start(case, checkpoint, result)
        process.join()
        if process.exitcode != 0:
            return f"the resumed run ended with {process.exitcode}"
        if result.read_bytes() != whole:
            return "the resumed run has other parameters"
        return "a checkpoint is left" if list(Path(folder).glob("*.ckpt*")) else ""


def run(kills: int, cases: list[str], seed: int) -> list[str]:
    """Kill so many fits; return what was wrong."""
    random_, wrong = random.Random(seed), []
    for number in range(kills):
        case = cases[number % len(cases)]
        if number < len(cases):
            fit(case, None)  # kernels compile here, and are there in every process
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                whole = fit(case, Path(folder) / "whole.ckpt")
            reference[case] = whole, time.monotonic() - began
        found = killed_and_resumed(case, *reference[case], random_)
        print(f"{case}: {found or 'identical'}", flush=True)
        wrong += [f"{case}: {found}"] if found else []
    return wrong


#: Parameters of fits that were never killed, and their seconds.
reference: dict[str, tuple[bytes, float]] = {}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--cases", default=",".join(RESUMED))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    return bool(run(asked.kills, asked.cases.split(","), asked.seed))


if __name__ == "__main__":
    raise SystemExit(main())
