"""Kill fits with SIGKILL at random moments, run them again, and compare every bit.

    python tests/soak/kill.py             50 kills over all kinds of fits
    python tests/soak/kill.py --kills 4 --cases "gradient descent,facets"

A fit that was killed is run again until it ends; with some chance it is killed once more on its
way. Exit code 1 if a resumed fit ended elsewhere than one that was never killed, or if a checkpoint
could not be read.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from feaslearn.exceptions import FeaslearnError
from feaslearn.runs.checkpoint import read_checkpoint
from soak.cases import CASES

#: Chance that a fit which goes on is killed as well.
AGAIN = 0.3


@dataclass
class Tally:
    """What happened to one kind of fit."""

    seconds: float = 0.0
    kills: int = 0
    resumed: int = 0
    identical: int = 0
    with_file: int = 0
    damaged: int = 0
    moments: list[float] = field(default_factory=list)


def work(case: str, path: str | None, folder: str) -> None:
    """Fit once, in a process of its own; leave the parameters behind."""
    place = Path(folder)
    (place / "begun").touch()
    theta = CASES[case](path)
    np.save(place / "theta.npy", theta)


class Lab:
    """Runs fits in processes, some of which are killed."""

    def __init__(self, folder: Path, method: str, seed: int) -> None:
        self._folder, self._random = folder, random.Random(seed)
        self._processes: Any = multiprocessing.get_context(method)

    def whole(self, case: str, checkpoint: bool) -> tuple[bytes, float]:
        """Return the parameters of a fit that is left alone, and how long it takes."""
        (self._folder / "begun").unlink(missing_ok=True)
        path = str(self._folder / "whole.ckpt") if checkpoint else None
        process = self._start(case, path)
        began = self._begun(process)
        process.join()
        seconds = time.monotonic() - began
        if process.exitcode != 0:
            raise SystemExit(f"{case}: the fit itself failed")
        return np.load(self._folder / "theta.npy").tobytes(), seconds

    def killed(self, case: str, whole: bytes, tally: Tally) -> None:
        """Kill a fit at a random moment, perhaps again, and let it end."""
        path = self._folder / "run.ckpt"
        path.unlink(missing_ok=True)
        once_more = True
        while once_more:
            if self._kill(case, path, tally):
                self._look(path, tally)
                once_more = self._random.random() < AGAIN
        process = self._start(case, str(path))
        process.join()
        if process.exitcode != 0:
            tally.damaged += 1
            return
        tally.resumed += 1
        same = np.load(self._folder / "theta.npy").tobytes() == whole
        left = list(self._folder.glob("*run.ckpt*"))
        tally.identical += same and not left

    def _kill(self, case: str, path: Path, tally: Tally) -> bool:
        process = self._start(case, str(path))
        began = self._begun(process)
        moment = self._random.random() * tally.seconds
        time.sleep(max(0.0, began + moment - time.monotonic()))
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        if process.exitcode != -signal.SIGKILL:
            return False  # it was done already
        tally.kills += 1
        tally.moments.append(moment / tally.seconds)
        return True

    @staticmethod
    def _look(path: Path, tally: Tally) -> None:
        """See whether the killed fit left a whole file, if it left one."""
        if not path.exists():
            return
        tally.with_file += 1
        try:
            read_checkpoint(path)
        except FeaslearnError:
            tally.damaged += 1

    def _start(self, case: str, path: str | None) -> Any:
        (self._folder / "begun").unlink(missing_ok=True)
        (self._folder / "theta.npy").unlink(missing_ok=True)
        process = self._processes.Process(target=work, args=(case, path, str(self._folder)))
        process.start()
        return process

    def _begun(self, process: Any) -> float:
        while not (self._folder / "begun").exists() and process.is_alive():
            time.sleep(0.001)
        return time.monotonic()


def run(kills: int, cases: list[str], seed: int, method: str) -> tuple[dict[str, Tally], bool]:
    """Kill so many fits; return what happened, and whether all of it was right."""
    tallies = {case: Tally() for case in cases}
    wholes: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(Path(folder), method, seed)
        while sum(tally.kills for tally in tallies.values()) < kills:
            case = min(cases, key=lambda each: tallies[each].kills)
            tally = tallies[case]
            if case not in wholes:
                if method == "fork":
                    CASES[case](None)  # kernels compile here, and are there in every process
                else:
                    lab.whole(case, checkpoint=False)
                wholes[case] = lab.whole(case, checkpoint=False)[0]
                kept, tally.seconds = lab.whole(case, checkpoint=True)
                if kept != wholes[case]:
                    raise SystemExit(f"{case}: a checkpoint changes the parameters")
            lab.killed(case, wholes[case], tally)
            print(f"{case}: {tally.kills} kills, {tally.identical} of {tally.resumed} identical")
    right = all(t.identical == t.resumed and not t.damaged for t in tallies.values())
    return tallies, right


def table(tallies: dict[str, Tally]) -> str:
    """Return the table, in Markdown."""
    lines = [
        "| fit | seconds | kills | checkpoints found | damaged | runs resumed | identical |",
        "|---|---|---|---|---|---|---|",
    ]
    total = Tally()
    for case, t in tallies.items():
        lines.append(
            f"| {case} | {t.seconds:.1f} | {t.kills} | {t.with_file} | {t.damaged} | {t.resumed} "
            f"| {t.identical} |"
        )
        for name in ("kills", "with_file", "damaged", "resumed", "identical"):
            setattr(total, name, getattr(total, name) + getattr(t, name))
    lines.append(
        f"| all | | {total.kills} | {total.with_file} | {total.damaged} | {total.resumed} "
        f"| {total.identical} |"
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fresh", action="store_true", help="a new interpreter for every fit")
    asked = parser.parse_args()
    method = "spawn" if asked.fresh or not hasattr(os, "fork") else "fork"
    tallies, right = run(asked.kills, asked.cases.split(","), asked.seed, method)
    print()
    print(table(tallies))
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
