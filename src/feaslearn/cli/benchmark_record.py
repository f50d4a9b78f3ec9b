"""What a benchmark printed, kept with when, where and with which versions it did."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from feaslearn import __version__
from feaslearn.atomic import write_bytes

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "cvxpy", "clarabel", "highspy")


def write_record(script: Path, lines: Sequence[str], held: bool, seconds: float) -> Path:
    """Write ``results/NAME.json`` beside a benchmark.

    Parameters
    ----------
    script : Path
        The benchmark.
    lines : sequence of str
        What it printed.
    held : bool
        Whether its exit code says that its claims hold.
    seconds : float
        How long it took on the clock.

    Returns
    -------
    Path
        The file.
    """
    folder = script.parent / "results"
    folder.mkdir(exist_ok=True)
    record = {
        "benchmark": script.stem,
        "held": held,
        "output": [line.rstrip() for line in lines],
        "seconds": round(seconds, 1),
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(script.parent),
        "machine": _machine(),
        "versions": _versions(),
    }
    path = folder / f"{script.stem}.json"
    write_bytes(path, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def _commit(folder: Path) -> str | None:
    """Return the commit that the folder is at; None where git does not say."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() or None


def _machine() -> dict[str, object]:
    """Say what it ran on, and how busy that was at the end: times depend on it."""
    found: dict[str, object] = {"system": platform.system(), "architecture": platform.machine()}
    found["processors"] = os.cpu_count()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        found["processor"] = names[0].split(":", 1)[1].strip() if names else None
    if hasattr(os, "getloadavg"):
        found["load"] = round(os.getloadavg()[0], 1)
    return found


def _versions() -> dict[str, str]:
    found = {"feaslearn": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
