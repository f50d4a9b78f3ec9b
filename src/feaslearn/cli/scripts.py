"""Run the repository's own scripts: the benchmarks."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from feaslearn.cli.benchmark_record import write_record
from feaslearn.cli.checkout import ScriptsNotFoundError, checkout


def run(folder: str, names: Sequence[str], console: Console, save: bool = False) -> list[str]:
    """Run the scripts of ``folder`` one after another.

    Parameters
    ----------
    folder : str
        A folder at the top of the repository.
    names : sequence of str
        Scripts to run, without ``.py``; empty means all of them, in alphabetical order.
    console : rich.console.Console
        Where each script is announced; what it prints goes to the standard output.
    save : bool, default=False
        Whether what a script prints is also kept, in ``results/`` of its folder.

    Returns
    -------
    list of str
        The names of the scripts that failed.
    """
    failed = []
    for script in _find(folder, names):
        console.rule(f"{folder}/{script.name}", align="left")
        start = _save if save else _start
        if start(script) != 0:
            failed.append(script.stem)
    return failed


def _start(script: Path) -> int:
    return subprocess.run([sys.executable, str(script)], check=False).returncode


def _save(script: Path) -> int:
    """Run a script and keep what it printed, unless it broke: a missed claim is a result too."""
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


def _find(folder: str, names: Sequence[str]) -> list[Path]:
    root = checkout(folder)
    found = {path.stem: path for path in sorted((root / folder).glob("*.py"))}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise ScriptsNotFoundError(
            f"no {', '.join(unknown)} in {folder}/; there are: {', '.join(found)}"
        )
    return [found[name] for name in names or found]
