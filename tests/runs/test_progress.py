"""The progress bar: for people, after a while."""

from __future__ import annotations

import io
import sys

import pytest

import feaslearn as fl
from feaslearn.runs import progress
from feaslearn.runs.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar("Work", 10) as bar:
        for done in range(10):
            bar.update(done, f"loss {done}")
    return stream.getvalue()


def test_a_terminal_sees_a_bar(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, Terminal())
    assert "Work" in text
    assert "loss 9" in text
    assert "90%" in text


def test_a_file_sees_nothing(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO()) == ""


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_a_fit_shows_its_bar_on_a_terminal_only(
    impatient: None, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    data = fl.datasets.make_switch(30, random_state=0)
    trainer = fl.trainers.Annealing(max_iter=5, n_starts=2, ridge=0.1)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=trainer)
    model.fit(data.signals, data.decisions)
    assert ("Annealing loss" in stream.getvalue()) == stream.isatty()
