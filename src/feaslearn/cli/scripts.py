"""Run the repository's own scripts: experiments and benchmarks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console


class ScriptsNotFoundError(Exception):
    """The scripts are not there to run: not a checkout, or no such name."""


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
    here = Path.cwd()
    for root in (here, *here.parents):
        if (root / "src" / "feaslearn").is_dir() and (root / folder).is_dir():
            found = {path.stem: path for path in sorted((root / folder).glob("*.py"))}
            break
    else:
        raise ScriptsNotFoundError(
            f"{folder}/ is part of the repository, not of the installed package; "
            "run this inside a checkout"
        )
    unknown = [name for name in names if name not in found]
    if unknown:
        raise ScriptsNotFoundError(
            f"no {', '.join(unknown)} in {folder}/; there are: {', '.join(found)}"
        )
    return [found[name] for name in names or found]
