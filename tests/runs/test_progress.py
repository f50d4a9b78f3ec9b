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


def test_one_bar_at_a_time(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressBar("Outer", 2) as outer:
        outer.update(1)
        with ProgressBar("Inner", 2) as inner:
            inner.update(1)
    assert "Outer" in stream.getvalue()
    assert "Inner" not in stream.getvalue()
    assert "Work" in shown(monkeypatch, Terminal())


def test_the_bar_is_closed_after_an_error(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)

    def fail() -> None:
        with ProgressBar("Work", 2) as bar:
            bar.update(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert stream.getvalue().endswith("\x1b[2K")  # the line of the bar is erased


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "file"])
def test_a_fit_shows_its_bar_on_a_terminal_only(
    impatient: None, monkeypatch: pytest.MonkeyPatch, stream: io.StringIO
) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    data = fl.datasets.make_switch(30, random_state=0)
    trainer = fl.trainers.GradientDescent(max_iter=5, n_starts=2)
    model = fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=trainer)
    model.fit(data.signals, data.decisions)
    assert ("GradientDescent loss" in stream.getvalue()) == stream.isatty()
