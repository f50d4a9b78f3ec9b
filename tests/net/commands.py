"""Commands of the program in the order of a session: exit codes, and keys of their JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from feaslearn.cli import main
from net.measure import keys

COLUMNS = ["--signals", "cost_*,demand_*", "--decisions", "plant_*", "--cost", "cost_*"]
COMMANDS: dict[str, list[str]] = {
    "data": ["demo", "--data", "power.csv", "--samples", "60", "--json"],
    "fit": ["fit", "power.csv", *COLUMNS, "--hypothesis", "minkowski", "-o", "m.json", "--json"],
    "fit facets": ["fit", "power.csv", *COLUMNS, "--hypothesis", "facets", "-o", "f.json"],
    "predict": ["predict", "m.json", "power.csv", "-o", "x.csv", "--json"],
    "evaluate": ["evaluate", "m.json", "power.csv", "--losses", "all", "--json"],
    "export": ["export", "f.json", "--data", "power.csv", "-o", "v.csv", "--json"],
    "report": ["report", "f.json", "power.csv", "-o", "r.html", "--json"],
    "no such file": ["predict", "m.json", "missing.csv"],
    "no such column": ["fit", "power.csv", "--decisions", "plnt_*", "--cost", "cost_*"],
    "no such option": ["fit", "--nonsense"],
    "not a model": ["predict", "power.csv", "power.csv"],
    "version": ["--version"],
    "help": ["fit", "--help"],
}


def run(arguments: list[str]) -> dict[str, Any]:
    """Run one command in this process and in this folder."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["feaslearn", *arguments]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.argv = before
    told: dict[str, Any] = {"code": code}
    if "--json" in arguments and code == 0:
        told["keys"] = keys(json.loads(out.getvalue()))
    return told


def run_all(commands: dict[str, list[str]]) -> dict[str, Any]:
    """Run commands in order, in a folder of their own."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return {name: run(arguments) for name, arguments in commands.items()}
        finally:
            os.chdir(here)
