"""Damaged files, one after the other, under limits; what is not refused properly is kept."""

from __future__ import annotations

import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from feaslearn.exceptions import FeaslearnError
from soak.fuzz.loaders import Loader

#: What one case may take: seconds of the processor, and memory beyond what was there before.
SECONDS, KILOBYTES = 10.0, 400_000
#: What no loader does, as Python's audit events name it: run or reach something.
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen")
FORBIDDEN += ("socket.connect", "os.rmdir", "shutil.rmtree", "os.symlink")
#: Parts of the paths that damage puts into files.
ELSEWHERE = ("etc/passwd", "../../x")
#: Files that are kept to be damaged further.
KEPT = 3000


class TooSlowError(BaseException):
    """Not an `Exception`: the library must not catch it."""


@dataclass
class Campaign:
    """Fuzz one loader.

    Files that bring about a message of a kind that was not seen before are damaged further: since
    every refusal says what was wrong, messages tell how far a file came.

    Parameters
    ----------
    loader : Loader
        What is fuzzed.
    seed : int
        Of the random generator.
    folder : Path
        Where the current case stands while it is read, and where findings are kept.
    """

    loader: Loader
    seed: int
    folder: Path
    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def run(self, go_on: Callable[[int], bool]) -> None:
        """Try cases while ``go_on(cases so far)``."""
        rng = random.Random(self.seed)
        seeds = self.loader.seeds()
        kept, kinds = list(seeds), set()
        path = self.folder / f"case{self.loader.suffix}"
        self._read_all(seeds, path)
        _listen()
        while go_on(self.cases):
            damaged = self.loader.damage(rng.choice(kept), rng, seeds)
            path.write_bytes(damaged)
            outcome, kind = self._try(path)
            self.cases += 1
            self.outcomes[outcome] += 1
            if kind not in kinds:
                kinds.add(kind)
                kept.append(damaged)
                if len(kept) > KEPT:
                    kept.pop(rng.randrange(len(seeds), len(kept)))

    def _read_all(self, seeds: list[bytes], path: Path) -> None:
        """Read what is not damaged, most of which is valid: kernels compile without a limit."""
        read = 0
        for seed in seeds:
            path.write_bytes(seed)
            with suppress(FeaslearnError):
                self.loader.read(path)
                read += 1
        if 2 * read < len(seeds):
            raise AssertionError(f"of {len(seeds)} files {read} can be read")

    def _try(self, path: Path) -> tuple[str, str]:
        """Return the class of what came of a case, and its kind more narrowly."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _heard.clear()
        try:
            with _limited(SECONDS):
                result = self.loader.read(path)
            outcome, kind = "read", f"read {type(result).__name__}"
        except FeaslearnError as error:
            outcome, kind = type(error).__name__, _kind(error)
        except TooSlowError:
            outcome = kind = self._keep("slow", path)
        except Exception as error:  # noqa: BLE001 -- any other is what is looked for
            outcome = kind = self._keep(type(error).__name__, path)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if grown > KILOBYTES:
            outcome = self._keep("memory", path)
        if _heard:
            outcome = self._keep(f"event {_heard[0]}", path)
        return outcome, kind

    def _keep(self, what: str, path: Path) -> str:
        """Keep a case and how it came about, the first of its kind."""
        place = traceback.format_exc()
        lines = [line.strip() for line in place.splitlines() if line.startswith("  File")]
        kind = f"{what} in {lines[-1] if lines else 'memory'}"
        if not any(finding.startswith(f"{kind}: ") for finding in self.findings):
            name = f"{what.replace(' ', '-')}-{self.seed}-{self.cases}"
            (self.folder / f"{name}{path.suffix}").write_bytes(path.read_bytes())
            (self.folder / f"{name}.log").write_text(place, "utf-8")
            self.findings.append(f"{kind}: {name}{path.suffix}")
        return kind


def _kind(error: Exception) -> str:
    """Return what a message says without the values that it names."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|[\d.]+|/\S+", "_", str(error)[:300])
    return f"{type(error).__name__} {text[:120]}"


#: The events since the current case began, and whether anyone listens: hooks stay for good.
_heard: list[str] = []
_listening: list[bool] = []


def _listen() -> None:
    if not _listening:
        _listening.append(True)
        sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    reached = event == "open" and any(part in str(arguments[0]) for part in ELSEWHERE)
    if reached or event in FORBIDDEN:
        _heard.append(event)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes longer, in seconds of the processor: others may use it too."""

    def stop(number: int, frame: Any) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def until(seconds: float) -> Callable[[int], bool]:
    """Return whether to go on, for a number of seconds from the first time it is asked."""
    end: list[float] = []

    def go_on(_: int) -> bool:
        if not end:
            end.append(time.monotonic() + seconds)
        return time.monotonic() < end[0]

    return go_on
