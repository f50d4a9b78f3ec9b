"""Standard output as it can be: in another encoding, closed, on a full disk, narrow."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from feaslearn.cli.streams import Closed, hand_over, open_streams
from feaslearn.cli.talk import Talk
from feaslearn.exceptions import FileError

ENCODINGS: dict[str, dict[str, str]] = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "plain": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
#: A process starts in seconds: `make test` has one of each kind, `make soak` all.
NAMES = ["ascii", pytest.param("plain", marks=pytest.mark.soak)]
FIT = ("--signals", "cost_*,demand_*", "--decisions", "pl*", "--cost", "cost_*")


@pytest.fixture(scope="module")
def folder(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table whose decisions have names beyond ASCII, and its model."""
    made = tmp_path_factory.mktemp("names")
    text = (example / "unseen.csv").read_text("utf-8").replace("plant", "plänt")
    (made / "data.csv").write_text(text, "utf-8")
    run = start("fit", "data.csv", *FIT, "--hypothesis", "scaled:simplex", "-o", "m.json", at=made)
    assert run.returncode == 0
    return made


def start(
    *arguments: str, at: Path, shell: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the program, with what a shell is told about its streams."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {shell}', "sh", sys.executable, "-m", "feaslearn", *arguments],
        cwd=at,
        env=os.environ | environment,
        capture_output=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("name", NAMES)
def test_data_are_printed_as_utf_8(name: str, folder: Path) -> None:
    run = start("predict", "m.json", "data.csv", at=folder, **ENCODINGS[name])
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.startswith("plänt_1,plänt_3,plänt_5,trust,rests_on\n".encode())
    run = start("export", "m.json", "--data", "data.csv", at=folder, **ENCODINGS[name])
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.startswith("plänt_1,plänt_3,plänt_5\n".encode())


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            ("fit", "data.csv", *FIT, "--hypothesis", "linear", "-o", "mä.json"),
            marks=pytest.mark.soak,
        ),
        pytest.param(
            ("report", "m.json", "data.csv", "--no-refit", "-o", "rä.html"), marks=pytest.mark.soak
        ),
        ("demo", "--data", "dä.csv"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_messages_show_letters_by_their_codes(
    name: str, arguments: tuple[str, ...], folder: Path
) -> None:
    run = start(*arguments, at=folder, **ENCODINGS[name])
    assert (run.returncode, run.stderr) == (0, b"")
    assert (rb"\xe4." if name == "ascii" else rb"\udcc3\udca4.") in run.stdout
    assert (folder / arguments[-1]).exists()


@pytest.mark.parametrize("shell", [pytest.param(">&-", marks=pytest.mark.soak), "<&- >&- 2>&-"])
def test_closed_streams_do_not_matter_where_a_file_is_written(shell: str, folder: Path) -> None:
    files = ("predict", "m.json", "data.csv", "-o")
    run = start(*files, "closed.csv", at=folder, shell=shell)
    assert (run.returncode, run.stderr) == (0, b"")
    names, *rows = (folder / "closed.csv").read_text("utf-8").splitlines()
    assert names.startswith("plänt_1,plänt_3,plänt_5")
    assert len(rows) == 7
    assert start("predict", "m.json", "nothing.csv", at=folder, shell=shell).returncode == 2


@pytest.mark.parametrize("option", [(), pytest.param(("--json",), marks=pytest.mark.soak)])
def test_data_that_nobody_can_read(option: tuple[str, ...], folder: Path) -> None:
    run = start("predict", "m.json", "data.csv", *option, at=folder, shell=">&-")
    assert run.returncode == 2
    assert run.stderr == (
        b"feaslearn: standard output is closed: what was asked for cannot be printed\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", "m.json", "data.csv"),
        pytest.param(("predict", "m.json", "data.csv"), marks=pytest.mark.soak),
        pytest.param(("evaluate", "m.json", "data.csv", "--json"), marks=pytest.mark.soak),
    ],
)
def test_a_full_disk_behind_standard_output(arguments: tuple[str, ...], folder: Path) -> None:
    run = start(*arguments, at=folder, shell=">/dev/full")
    assert run.returncode == 2
    assert run.stderr == (
        b"feaslearn: standard output: cannot be written: No space left on device\n"
    )


@pytest.mark.parametrize("columns", ["0", "20"])
def test_numbers_are_whole_on_a_narrow_terminal(
    columns: str, example: Path, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (str(example / "power.json"), str(example / "unseen.csv"))
    monkeypatch.setenv("COLUMNS", "100")
    expected = command("evaluate", *files).out
    monkeypatch.setenv("COLUMNS", columns)
    assert command("evaluate", *files).out.split() == expected.split()
    assert "…" not in expected


def test_streams_that_are_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", text := io.StringIO())
    open_streams()
    hand_over("plänt")
    assert text.getvalue() == "plänt"
    monkeypatch.setattr(sys, "stdout", None)
    open_streams()
    assert isinstance(sys.stdout, Closed)
    Talk().tell({}, lambda console: console.print("nobody hears it"))
    with pytest.raises(FileError, match="is closed"):
        hand_over("plänt")
