"""What pages tell to run works, messages are those of the code, faults of a site are told."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from docs.benchmark_page import write_page
from docs.check_site import findings
from feaslearn.cli import main
from feaslearn.exceptions import FeaslearnError

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


PAGES = ["README.md"]
PAGES += [
    f"docs/{name}.md"
    for name in ("index", "quickstart", "model_files", "export", "pictures", "scale", "trust")
]


@pytest.mark.parametrize("page", PAGES)
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


# Questions and messages.

PAGE = (ROOT / "docs" / "faq.md").read_text("utf-8")
PAIR = re.compile(
    r"^### (?P<title>[^\n]*)$"
    r"|^```python\n(?P<code>(?:(?!```)[^\n]*\n)*)```\n```text\n(?P<told>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
SETUP = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def entries() -> list[tuple[str, str, str]]:
    """Return title, code and message of every entry that has them."""
    found, title = [], ""
    for match in PAIR.finditer(PAGE):
        title = match["title"] or title
        if match["code"]:
            found.append((f"{title} {len(found)}", match["code"], match["told"]))
    return found


@pytest.mark.parametrize(
    ("code", "told"), [pytest.param(*rest, id=title) for title, *rest in entries()]
)
def test_the_message_is_what_the_code_says(
    code: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SETUP is not None
    script = tmp_path / "entry.py"
    script.write_text(SETUP[1] + code, encoding="utf-8")
    said = ""
    with warnings.catch_warnings(record=True, action="always") as met:
        try:
            runpy.run_path(str(script))
        except FeaslearnError as error:
            said = str(error)
    messages = [said, capsys.readouterr().out, *(str(each.message) for each in met)]
    assert " ".join(told.split()) in [" ".join(message.split()) for message in messages]


# The site.


def test_the_page_of_benchmarks(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks"
    (folder / "results").mkdir(parents=True)
    for name in ("right", "wrong", "new"):
        (folder / f"{name}.py").write_text(f'"""Is {name} fast?\n\nClaim: twice.\n"""\n')
    for name, held in (("right", True), ("wrong", False)):
        record = {
            "held": held,
            "output": ["10 s", f"ratio {3 - held} | claim 2"],
            "seconds": 10.0,
            "date": "2026-01-02",
            "commit": None,
            "machine": {"processors": 2, "processor": "fast"},
            "versions": {"numpy": "2.0"},
        }
        (folder / "results" / f"{name}.json").write_text(json.dumps(record))
    page = tmp_path / "generated" / "benchmarks.md"
    write_page(folder, page)
    text = page.read_text()
    assert "| Is right fast? | holds: `ratio 2 / claim 2` | 2026-01-02 |" in text
    assert "| Is wrong fast? | **a claim is missed**: `ratio 3 / claim 2` | 2026-01-02 |" in text
    assert "| Is new fast? | – | not run in this version |" in text
    assert "`python benchmarks/run.py new --save` runs it" in text
    assert (tmp_path / "generated" / "right.inc").read_text() == "10 s\nratio 2 | claim 2\n"
    written = page.stat().st_mtime_ns
    write_page(folder, page)
    assert page.stat().st_mtime_ns == written, "an equal page must not be built again"


def test_kept_results_belong_to_benchmarks() -> None:
    kept = {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.json")}
    assert kept <= {path.stem for path in (ROOT / "benchmarks").glob("*.py")}


def test_faults_of_a_site_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<script src="https://cdn.example/x.js"></script><link rel="next" href="b.html">'
        '<a href="b.html#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>'
        '<a href="https://example.org">4</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    (tmp_path / "s.css").write_text("body { background: url('//cdn.example/x.png') }")
    assert sorted(findings(tmp_path.resolve())) == [
        "a.html fetches https://cdn.example/x.js",
        "a.html links to b.html#there, but that page has no such anchor",
        "a.html links to c.html, which is not there",
        "s.css fetches //cdn.example/x.png",
    ]
