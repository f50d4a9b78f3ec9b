"""Input and output of commands: tables and models, JSON for scripts, text for people."""

from __future__ import annotations

import inspect
import io
import json
import logging
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console as RichConsole
from rich.table import Table as Grid
from rich.text import Text

from feaslearn.cli import options
from feaslearn.printable import printable

if TYPE_CHECKING:
    from feaslearn.io.tables import Table
    from feaslearn.regressor import RegionRegressor

#: Exit codes: success; the answer is no, or the run was interrupted; invalid input.
FINE, NO, BAD_INPUT = 0, 1, 2
#: Tables are not made narrower: numbers would be cut.
LEAST_WIDTH = 60

logger = logging.getLogger("feaslearn")


@dataclass(frozen=True)
class Console:
    """The options that commands share: how files are read, and how much is printed."""

    encoding: str = "utf-8"
    delimiter: str | None = None
    max_bytes: int = options.MAX_BYTES
    as_json: bool = False
    quiet: bool = False
    verbose: int = 0

    def table(self, path: Path) -> Table:
        """Read a table."""
        from feaslearn.io.tables import read_table

        return read_table(
            path, encoding=self.encoding, delimiter=self.delimiter, max_bytes=self.max_bytes
        )

    def model(self, path: Path) -> RegionRegressor:
        """Read a model file."""
        from feaslearn.io import load

        return load(path, max_bytes=self.max_bytes)

    def print(self, facts: Mapping[str, Any], show: Callable[[RichConsole], None]) -> None:
        """Print facts for a script, or show them to people."""
        if self.as_json:
            write(f"{json.dumps(_plain(facts))}\n")
        elif not self.quiet:
            console = PlainConsole(soft_wrap=False, markup=False, emoji=False)
            console.width = max(console.width, LEAST_WIDTH)
            with _writing():
                show(console)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Print warnings in one line each and the log as far as asked; rows count from 1."""
        # Imported here: they load scikit-learn, which `feaslearn --version` does not need.
        from feaslearn.exceptions import FeaslearnWarning
        from feaslearn.messages import rows_from

        handler = logging.StreamHandler()
        handler.setFormatter(PlainFormatter("%(name)s: %(message)s"))
        level = {0: logging.WARNING, 1: logging.INFO}.get(self.verbose, logging.DEBUG)
        before = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.ERROR if self.quiet else level)
        try:
            with warnings.catch_warnings(), rows_from(1):
                warnings.simplefilter("ignore")
                if not self.quiet:
                    warnings.simplefilter("always", FeaslearnWarning)
                    warnings.showwarning = lambda text, *_, **__: error(f"warning: {text}")
                yield
        finally:
            logger.setLevel(before)
            logger.removeHandler(handler)


def with_console(function: Callable[..., bool | None], *left_out: str) -> Callable[..., None]:
    """Return a command that takes the shared options, too; an answer of False is exit code 1."""
    signature = inspect.signature(function, eval_str=True)
    parameters = [each for name, each in signature.parameters.items() if name != "console"]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in options.SHARED.items()
        if name not in left_out
    ]

    def run(**given: Any) -> None:
        console = Console(**{each.name: given.pop(each.name) for each in shared})
        with console.running():
            fine = function(console=console, **given)
        if fine is False:
            raise typer.Exit(NO)

    parameters = [*(each.replace(kind=each.KEYWORD_ONLY) for each in parameters), *shared]
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run


class PlainConsole(RichConsole):
    """A console that shows unprintable characters by their codes."""

    def render_str(self, text: str, **style: Any) -> Text:
        """Return a string to be shown; those in tables come here too."""
        return super().render_str(printable(text, lines=True), **style)


def grid(rows: Iterable[Sequence[str]]) -> Grid:
    """Return rows of cells in columns, without lines; no cell can write on the terminal."""
    made = Grid.grid(padding=(0, 2))
    for row in rows:
        made.add_row(*map(printable, row))
    return made


def print_lines(console: RichConsole, text: str) -> None:
    """Print lines as they are, however long."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


class PlainFormatter(logging.Formatter):
    """A log in which names cannot write on the terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return printable(super().formatMessage(record))


def error(message: object) -> None:
    """Print on standard error, in one line, what is wrong; the items of a list are joined."""
    head, *items = str(message).split("\n  - ")
    text = " ".join(f"{head} {'; '.join(items)}".split())
    typer.echo(f"feaslearn: {printable(text)}", err=True)


def _plain(value: Any) -> Any:
    """Return a value that every reader of JSON takes: NaN becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def write(text: str) -> None:
    """Write data to standard output: as they are and as UTF-8, unless that is a terminal."""
    with _writing():
        if sys.stdout.isatty():
            sys.stdout.write(printable(text, lines=True))
        elif isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8"))
        else:
            sys.stdout.write(text)


@contextmanager
def _writing() -> Iterator[None]:
    """Turn an error of the system about standard output into one of ours."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has enough
    except OSError as error:
        from feaslearn.exceptions import FileError

        _drop_output()
        reason = error.strerror or str(error)
        raise FileError(f"standard output: cannot be written: {reason}") from error


def _drop_output() -> None:
    """Discard what is left for standard output: at the end, Python tries to write it again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Make standard output and error writable, whatever they are."""
    # A file that is opened later must not get the number of a closed stream.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            # Letters that the encoding lacks are shown by their codes.
            stream.reconfigure(errors="backslashreplace")


#: The base of the errors of the parser, to which typer gives no public name.
_ParserError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def run(app: typer.Typer) -> int:
    """Run the command line and return its exit code; whatever is wrong is one line."""
    _open_streams()
    try:
        code = app(prog_name="feaslearn", standalone_mode=False)
        with _writing():
            sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        # The reader has enough, as in `feaslearn predict ... | head`.
        _drop_output()
        return NO
    except _ParserError as wrong:
        return _refuse(wrong)
    except Exception as wrong:
        # Imported here: it loads scikit-learn, which `feaslearn --version` does not need.
        from feaslearn.exceptions import FeaslearnError

        if not isinstance(wrong, FeaslearnError | OSError | MemoryError):
            raise
        error(str(wrong) or "not enough memory")
        return BAD_INPUT
    if code == 130:  # also what some versions of typer return after an interrupt
        error("interrupted")
        return NO
    return code if isinstance(code, int) else FINE


def _refuse(wrong: Any) -> int:
    """Print what is wrong with the arguments; without any, show the help."""
    if type(wrong).__name__ == "NoArgsIsHelpError":
        wrong.show()
        return BAD_INPUT
    context = getattr(wrong, "ctx", None)
    where = "" if context is None else f" (see {context.command_path} --help)"
    error(f"{wrong.format_message()}{where}")
    return BAD_INPUT
