"""What a command says, and to whom: people, scripts, or nobody."""

from __future__ import annotations

import io
import json
import logging
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.text import Text

from feaslearn.cli.streams import hand_over, printing
from feaslearn.printable import printable

logger = logging.getLogger("feaslearn")

#: Tables are not made narrower: numbers would be cut.
LEAST_WIDTH = 60


@dataclass(frozen=True)
class Talk:
    """How much a command says.

    Parameters
    ----------
    as_json : bool
        One JSON object on standard output, for scripts.
    quiet : bool
        Errors only.
    verbose : int
        With 1 the log of what was reached, with 2 of every iteration.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: int = 0

    def tell(self, facts: Mapping[str, Any], show: Callable[[Console], None]) -> None:
        """Print facts for a script, or show them to people."""
        if self.as_json:
            hand_over(f"{json.dumps(_plain(facts))}\n")
        elif not self.quiet:
            console = PlainConsole(soft_wrap=False, markup=False, emoji=False)
            console.width = max(console.width, LEAST_WIDTH)
            with printing():
                show(console)

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """For the time of a command: warnings in one line each, the log as far as asked.

        Rows are counted from 1, as in ``--row`` and in tables.
        """
        # Imported here: it loads NumPy and scikit-learn, which `feaslearn --version` does not need.
        from feaslearn.messages import rows_from

        handler = logging.StreamHandler()
        handler.setFormatter(PlainFormatter("%(name)s: %(message)s"))
        level = {0: logging.WARNING, 1: logging.INFO}.get(self.verbose, logging.DEBUG)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.ERROR if self.quiet else level)
        try:
            with warnings.catch_warnings(), redirect_stderr(self._stderr()), rows_from(1):
                self._choose_warnings()
                yield
        finally:
            logger.setLevel(before)
            logger.removeHandler(handler)

    def _choose_warnings(self) -> None:
        # Imported here: it loads scikit-learn, which `feaslearn --version` does not need.
        from feaslearn.exceptions import FeaslearnWarning

        warnings.simplefilter("ignore")
        if not self.quiet:
            warnings.simplefilter("always", FeaslearnWarning)
            warnings.showwarning = _show_warning

    def _stderr(self) -> TextIO | Unwatched:
        """Return standard error; with --quiet, one on which progress bars see no terminal."""
        return Unwatched(sys.stderr) if self.quiet else sys.stderr


class PlainConsole(Console):
    """A console that shows texts as they are: whatever does not print in them, by its code."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text to be shown; those in tables come here too."""
        return super().render_str(printable(text, lines=True), **options)


class PlainFormatter(logging.Formatter):
    """A log in which names cannot write on the terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return printable(super().formatMessage(record))


class Unwatched(io.TextIOBase):
    """A stream that says it is no terminal.

    Parameters
    ----------
    stream : text stream
        Where everything goes.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        """Pass the text on."""
        return self._stream.write(text)

    def isatty(self) -> bool:
        """Say that nobody looks."""
        return False


def complain(message: object) -> None:
    """Say on standard error, in one line, what is wrong."""
    typer.echo(f"feaslearn: {printable(one_line(message))}", err=True)


def one_line(message: object) -> str:
    """Return a message in one line; the items of a list are joined.

    Examples
    --------
    >>> from feaslearn.cli.talk import one_line
    >>> one_line("fit:\\n  - no rows\\n  - no columns")
    'fit: no rows; no columns'
    """
    head, *items = str(message).split("\n  - ")
    return " ".join(f"{head} {'; '.join(items)}".split())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def _plain(value: Any) -> Any:
    """Return a value that every reader of JSON takes: NaN becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
