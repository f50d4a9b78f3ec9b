"""The help of every command comes at once, teaches by example, and the examples run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import feaslearn as fl
from feaslearn.cli.fit import usages

WITH_EXAMPLES = ["", "demo", "fit", "predict", "evaluate", "report", "export"]
OTHERS = ["reproduce"]


def examples(text: str) -> list[list[str]]:
    """Return the commands under "Examples:", lines that end with a backslash joined."""
    _, _, block = text.partition("Examples:\n")
    block = block.split("\n\n")[0].replace("\\\n", " ")
    lines = [line.strip() for line in block.splitlines()]
    assert all(line.startswith("$ feaslearn ") for line in lines), lines
    return [shlex.split(line)[1:] for line in lines]


def write_parquet(folder: Path) -> None:
    """Write a few samples with the names that ``feaslearn demo --data`` gives its columns."""
    data = fl.datasets.make_power5(30, random_state=0)
    columns = {f"cost_{i}": data.signals[:, i] for i in range(3)}
    columns |= {f"demand_{i}": data.signals[:, 3 + i] for i in range(5)}
    columns |= {f"plant_{i}": data.decisions[:, i] for i in range(3)}
    folder.mkdir()
    pd.DataFrame(columns).to_parquet(folder / "power.parquet")


@pytest.mark.parametrize("verb", WITH_EXAMPLES)
def test_examples_run_as_printed(verb: str, command: Any, tmp_path: Path) -> None:
    run = command(*verb.split(), "--help")
    assert run.code == 0
    found = examples(run.out)
    assert len(found) >= 2
    assert all(any(verb == example[1] for example in found) for verb in verb.split())
    write_parquet(Path("data"))
    for _, *arguments in found:
        done = command(*arguments)
        assert done.code == 0, (arguments, done)
        assert "Traceback" not in done.err


@pytest.mark.parametrize("verb", OTHERS)
def test_the_others_have_help(verb: str, command: Any) -> None:
    run = command(verb, "--help")
    assert run.code == 0
    assert "checkout" in run.out


def test_the_help_lists_every_command(command: Any) -> None:
    run = command("--help")
    for verb in [*WITH_EXAMPLES[1:], *OTHERS]:
        assert re.search(rf"^  {verb} ", run.out, re.MULTILINE)


def test_the_help_of_fit_names_the_hypotheses(command: Any) -> None:
    text = command("fit", "--help").out
    for usage in usages():
        assert usage.split(":")[0] in text, f"say in the help of fit what {usage} is"


def test_lines_fit_a_terminal(command: Any) -> None:
    for verb in [*WITH_EXAMPLES, *OTHERS]:
        assert max(map(len, command(*verb.split(), "--help").out.splitlines())) <= 100


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['feaslearn', 'fit', '--help']\n"
        "from feaslearn.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    loaded = {name.partition(".")[0] for name in run.stdout.splitlines()[-1].split()}
    assert not loaded & {"numpy", "numba", "scipy", "sklearn"}


def test_shell_completion() -> None:
    """What the script that --install-completion installs asks the program."""
    run = subprocess.run(
        [sys.executable, "-m", "feaslearn"],
        env=os.environ
        | {
            "_FEASLEARN_COMPLETE": "complete_bash",
            "COMP_WORDS": "feaslearn pre",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.stdout.split() == ["predict"]
