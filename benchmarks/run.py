"""Run benchmarks: ``python benchmarks/run.py [NAMES] [--save]``; without a name, all of them.

With ``--save``, what each prints is also written to ``benchmarks/results/NAME.json``, with the
date, the machine and the versions; the documentation shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import feaslearn

FOLDER = Path(__file__).parent
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "cvxpy", "clarabel", "highspy")


def scripts(folder: Path = FOLDER) -> dict[str, Path]:
    """Return the benchmarks of a folder by name, in alphabetical order; `make golden` is apart."""
    apart = {"run", "golden", "golden_api"}
    return {path.stem: path for path in sorted(folder.glob("*.py")) if path.stem not in apart}


def start(script: Path) -> int:
    """Run a benchmark and return its exit code."""
    return subprocess.run([sys.executable, str(script)], check=False).returncode


def start_and_save(script: Path) -> int:
    """Run a benchmark and save its record, unless it broke: a missed claim is a result too."""
    began, lines = time.monotonic(), []
    with tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-u", str(script)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                sys.stdout.write(line)
                sys.stdout.flush()
                lines.append(line)
            code = process.wait()
        errors.seek(0)
        said = errors.read()
    sys.stderr.write(said)
    if lines and code in (0, 1) and "Traceback" not in said:
        write_record(script, lines, code == 0, time.monotonic() - began)
    return code


def write_record(script: Path, lines: Sequence[str], held: bool, seconds: float) -> None:
    """Write what a benchmark printed to ``results/NAME.json`` beside it."""
    folder = script.parent / "results"
    folder.mkdir(exist_ok=True)
    record = {
        "benchmark": script.stem,
        "held": held,
        "output": [line.rstrip() for line in lines],
        "seconds": round(seconds, 1),
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(script.parent),
        "machine": machine(),
        "versions": versions(),
    }
    path = folder / f"{script.stem}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def commit(folder: Path) -> str | None:
    """Return the commit that the folder is at; None where git does not say."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def machine() -> dict[str, object]:
    """Return the hardware, and its load at the end: times depend on it."""
    found: dict[str, object] = {"system": platform.system(), "architecture": platform.machine()}
    found["processors"] = os.cpu_count()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        found["processor"] = names[0].split(":", 1)[1].strip() if names else None
    if hasattr(os, "getloadavg"):
        found["load"] = round(os.getloadavg()[0], 1)
    return found


def versions() -> dict[str, str]:
    """Return the versions of the packages that results depend on."""
    found = {"feaslearn": feaslearn.__version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Run the named benchmarks; return 0, 1 where one failed, or 2 for an unknown name."""
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description="Run benchmarks.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="without .py; default: all")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/NAME.json")
    chosen, found = parser.parse_args(arguments), scripts(folder)
    unknown = [name for name in chosen.names if name not in found]
    if unknown:
        there = ", ".join(found)
        print(f"no {', '.join(unknown)} in benchmarks/; there are: {there}", file=sys.stderr)
        return 2
    failed = []
    for name in chosen.names or found:
        print(f"--- benchmarks/{name}.py", flush=True)
        if (start_and_save if chosen.save else start)(found[name]) != 0:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
