"""What the README and the documentation pages tell people to run, works."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from feaslearn.cli import main

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Commands that a test cannot run: they fetch things.
INSTALL_LINES = {"python3 -m venv .venv", ". .venv/bin/activate", "pip install ."}


def blocks(page: str, *languages: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8")
    return [body for language, body in BLOCK.findall(text) if language in languages]


def shell_blocks() -> list[list[str]]:
    """Return the lines of each shell block; those of one block follow one another in one folder."""
    return [
        [line.strip() for line in block.splitlines() if line.strip() and not line.startswith("#")]
        for block in blocks("README.md", "sh", "bash", "shell", "console")
    ]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["feaslearn"])
    monkeypatch.setenv("MPLBACKEND", "agg")


def check_shell_line(line: str) -> None:
    program, *arguments = shlex.split(line, comments=True)
    if program == "make":
        # Printed, not run: `make test` is what runs this test.
        assert shutil.which("make"), "this test needs make"
        command = ["make", "-n", "-f", "Makefile", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    elif program == "feaslearn":
        sys.argv[1:] = arguments
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0, line
    else:
        assert line in INSTALL_LINES, f"the README runs {line!r}, which nothing checks"


@pytest.mark.parametrize("lines", shell_blocks(), ids=lambda lines: lines[0])
def test_shell_lines(lines: list[str]) -> None:
    for line in lines:
        check_shell_line(line)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/index.md",
        "docs/quickstart.md",
        "docs/model_files.md",
        "docs/export.md",
        "docs/pictures.md",
        "docs/scale.md",
        "docs/trust.md",
    ],
)
def test_python_blocks_of_a_page_run_one_after_another(page: str, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text("\n\n".join(blocks(page, "python")), encoding="utf-8")
    assert script.stat().st_size
    runpy.run_path(str(script), run_name="__main__")


def test_the_quickstart_runs_no_command_that_the_readme_does_not() -> None:
    lines = {line for block in shell_blocks() for line in block}
    commands = "".join(blocks("docs/quickstart.md", "sh")).splitlines()
    assert sum(line.startswith("feaslearn ") for line in commands) > 4
    assert {line for line in commands if line.startswith("feaslearn ")} <= lines


def test_the_readme_has_what_these_tests_look_for() -> None:
    lines = [line for block in shell_blocks() for line in block]
    assert {"make demo", "make test"} <= set(lines)
    assert sum(line.startswith("feaslearn ") for line in lines) > 4
    assert len(blocks("README.md", "python")) == 3
    assert not blocks("README.md", ""), "a block without a language is not checked"
