"""Who hears what."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from typing import Any

import pytest

from feaslearn.cli.talk import Talk
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.runs import progress


class Terminal(io.StringIO):
    """A standard error that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_hides_bars_warnings_and_the_log(
    quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with Talk(quiet=quiet).speaking():
        with progress.ProgressBar("Work", 2) as bar:
            bar.update(1)
        warnings.warn("careful", FeaslearnWarning, stacklevel=1)
        warnings.warn("of no interest", UserWarning, stacklevel=1)
        logging.getLogger("feaslearn").warning("odd")
    heard = terminal.getvalue()
    for text in ("Work", "feaslearn: warning: careful", "feaslearn: odd"):
        assert (text in heard) is not quiet
    assert "of no interest" not in heard


def test_everything_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("feaslearn")

    def state() -> list[Any]:
        return [logger.level, list(logger.handlers), sys.stderr, warnings.showwarning]

    before = state()
    with pytest.raises(KeyboardInterrupt), Talk(verbose=2).speaking():
        raise KeyboardInterrupt
    assert state() == before


def test_facts_for_scripts_are_plain_json(capsys: pytest.CaptureFixture[str]) -> None:
    facts = {"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": None, "e": (1, True, "é")}}
    Talk(as_json=True, quiet=True).tell(facts, lambda _: None)
    assert capsys.readouterr().out == (
        '{"a": null, "b": [null, 1.5], "c": {"d": null, "e": [1, true, "\\u00e9"]}}\n'
    )
    Talk(quiet=True).tell(facts, lambda console: console.print("loud"))
    assert capsys.readouterr().out == ""
