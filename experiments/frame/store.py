"""Finished cells on disk, one small JSON file for each row."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import math
import re
import subprocess
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from experiments.frame.experiment import Experiment, Row, Values
from experiments.frame.files import write_bytes
from experiments.frame.found import Found

#: Counts changes of the library after which fits give other numbers: raise it with one, and all
#: cells are run again. Tests run some cells and compare them with the stored ones.
EDITION = 2
#: The version of the library that a cell is made by.
VERSION = f"{fl.__version__}, edition {EDITION}"
#: Digits that are kept of a number.
DIGITS = 10


class Store:
    """The cells in a folder; each is written, whole, as soon as it is finished.

    Parameters
    ----------
    folder : Path
        Where the results go; cells are in ``cells/EXPERIMENT/ROW.json`` below it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def finished(self, experiment: Experiment, row: Row) -> dict[int, dict[str, Any]]:
        """Return the cells of a row by seed, of these parameters, this code and this version."""
        wanted = fingerprint(experiment, row)
        return {
            seed: cell
            for seed, cell in self.stored(experiment, row).items()
            if cell["fingerprint"] == wanted and cell["feaslearn"] == VERSION
        }

    def stored(self, experiment: Experiment, row: Row) -> dict[int, dict[str, Any]]:
        """Return the cells of a row by seed, also those that are to be run again."""
        path = self.path(experiment, row)
        cells = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {int(seed): cell for seed, cell in cells.items()}

    def add(
        self, experiment: Experiment, row: Row, seed: int, values: Values, seconds: float
    ) -> None:
        """Write one finished cell beside the others of its row."""
        cells = {str(key): cell for key, cell in self.finished(experiment, row).items()}
        cells[str(seed)] = {
            "fingerprint": fingerprint(experiment, row),
            "feaslearn": VERSION,
            "commit": _commit(),
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "seconds": round(seconds, 3),
            "values": _plain(values),
        }
        path = self.path(experiment, row)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = ",\n".join(f'"{key}": {json.dumps(cells[key])}' for key in sorted(cells, key=int))
        write_bytes(path, f"{{\n{text}\n}}\n".encode())

    def found(self, experiment: Experiment, rows: list[Row]) -> Found:
        """Return the values of all finished cells."""
        return Found(
            {
                row.name: {
                    seed: cell["values"] for seed, cell in self.finished(experiment, row).items()
                }
                for row in rows
            }
        )

    def path(self, experiment: Experiment, row: Row) -> Path:
        """Return the file of a row."""
        name = re.sub(r"[^a-z0-9.=]+", "-", row.name.lower()).strip("-")
        return self.folder / "cells" / experiment.name / f"{name}.json"


def fingerprint(experiment: Experiment, row: Row) -> str:
    """Return a code for the parameters of a cell and the functions that measure it.

    Comments, docstrings and the layout of the code do not count; constants of the module that the
    functions name do. The library itself does not: that is what `VERSION` says.
    """
    parts = [json.dumps(row.parameters, sort_keys=True, default=repr)]
    parts += [_code(function) for function in (experiment.measure, *experiment.helpers)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def _commit() -> str:
    """Return the commit of the checkout, or nothing where git cannot say."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@cache
def _code(function: Callable[..., Any]) -> str:
    """Return the code of a function, when it was first asked for, with the constants it names."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    values = inspect.unwrap(function).__globals__
    constants = [
        f"{name} = {values[name]!r}"
        for name in sorted(named)
        if name.isupper() and _is_plain(values.get(name))
    ]
    return "\n".join([ast.unparse(tree), *constants])


def _is_plain(value: Any) -> bool:
    """Say whether a value looks the same in every run: numbers and texts, and tables of them."""
    if isinstance(value, dict):
        return all(_is_plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, bool | int | float | str | range | np.ndarray)


def _plain(value: Any) -> Any:
    """Return what JSON takes: numbers of ten digits, None for what is not finite."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
