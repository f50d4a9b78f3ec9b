"""The help of every command comes at once, teaches by example, and the examples run."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from feaslearn.cli.parsing import usages

WITH_EXAMPLES = ["", "demo", "check", "fit", "predict", "explain", "report", "export"]


def examples(text: str) -> list[tuple[str, ...]]:
    """Return the commands under "Examples:", lines that end with a backslash joined."""
    _, _, block = text.partition("Examples:\n")
    block = block.split("\n\n")[0].replace("\\\n", " ")
    lines = [line.strip() for line in block.splitlines()]
    assert all(line.startswith("$ feaslearn ") for line in lines), lines
    return [tuple(shlex.split(line)[2:]) for line in lines]


def test_examples_run_as_printed_and_lines_fit_a_terminal(command: Any) -> None:
    """Each once, in their order: a command writes the same file in the help of every other."""
    Path("data").mkdir()
    assert command("demo", "--data", "data/power.parquet", "--samples", "30").code == 0
    done: set[tuple[str, ...]] = set()
    for verb in WITH_EXAMPLES:
        text = command(*verb.split(), "--help").out
        assert max(map(len, text.splitlines())) <= 100
        found = examples(text)
        assert not verb or any(verb == example[0] for example in found)
        for example in found:
            if example not in done:
                run = command(*example)
                assert run.code == 0, (example, run)
                assert "Traceback" not in run.err
            done.add(example)
    assert len(done) > 15
    listed = command("--help").out
    assert all(f"\n  {verb} " in listed for verb in WITH_EXAMPLES[1:])


def test_the_help_of_fit_names_the_hypotheses(command: Any) -> None:
    text = command("fit", "--help").out
    for usage in usages():
        assert usage.split(":")[0] in text, f"say in the help of fit what {usage} is"


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
