"""Run the repository's own scripts: the benchmarks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from feaslearn.cli.checkout import ScriptsNotFoundError, checkout


def run(folder: str, names: Sequence[str], console: Console) -> list[str]:
    """Run the scripts of ``folder`` one after another.

    Parameters
    ----------
    folder : str
        A folder at the top of the repository.
    names : sequence of str
        Scripts to run, without ``.py``; empty means all of them, in alphabetical order.
    console : rich.console.Console
        Where each script is announced; what it prints goes to the standard output.

    Returns
    -------
    list of str
        The names of the scripts that failed.
    """
    failed = []
    for script in _find(folder, names):
        console.rule(f"{folder}/{script.name}", align="left")
        if subprocess.run([sys.executable, str(script)], check=False).returncode != 0:
            failed.append(script.stem)
    return failed


def _find(folder: str, names: Sequence[str]) -> list[Path]:
    root = checkout(folder)
    found = {path.stem: path for path in sorted((root / folder).glob("*.py"))}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise ScriptsNotFoundError(
            f"no {', '.join(unknown)} in {folder}/; there are: {', '.join(found)}"
        )
    return [found[name] for name in names or found]
