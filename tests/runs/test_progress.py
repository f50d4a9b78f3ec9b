"""The progress bar: for people, after a while."""

from __future__ import annotations

import io
import sys

import pytest

import feaslearn as fl
from feaslearn.runs import progress
from feaslearn.runs.progress import ProgressBar
from registry import fit_to


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def test_a_terminal_sees_a_bar(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ProgressBar("Work", 10) as bar:
        for done in range(10):
            bar.update(done, f"loss {done}")
    for part in ("Work", "loss 9", "90%"):
        assert part in sys.stderr.getvalue()


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_a_fit_shows_its_bar_on_a_terminal_only(
    impatient: None, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    data = fl.datasets.make_switch(30, random_state=0)
    trainer = fl.trainers.Annealing(max_iter=5, n_starts=2, ridge=0.1)
    fit_to(data, fl.Affine(fl.Simplex(2)), trainer=trainer)
    assert ("Annealing loss" in stream.getvalue()) == bool(stream.getvalue()) == stream.isatty()
