"""Run the commands: one line for whatever is wrong, and an exit code."""

from __future__ import annotations

import sys
from typing import Any

import typer

from feaslearn.cli.streams import drop_output, open_streams, printing
from feaslearn.cli.talk import complain

#: Everything is fine; the answer is no, or the run was cut short; the input is wrong.
FINE, NO, BAD_INPUT = 0, 1, 2
#: What some versions of typer return after an interrupt.
INTERRUPTED = 130

#: The base of the errors of the parser. typer hands it out under no name of its own.
_ParserError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def run(app: typer.Typer) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    app : typer.Typer
        The commands.

    Returns
    -------
    int
        0 if all went well, 1 if the answer is no or the run was interrupted, 2 if what was given
        cannot be used.
    """
    open_streams()
    try:
        code = app(prog_name="feaslearn", standalone_mode=False)
        with printing():
            sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        complain("interrupted")
        return NO
    except BrokenPipeError:
        # The reader has enough, as in `feaslearn predict ... | head`: nothing more can be said.
        drop_output()
        return NO
    except _ParserError as error:
        return _refuse(error)
    except Exception as error:
        # Imported here: it loads scikit-learn, which `feaslearn --version` does not need.
        from feaslearn.exceptions import FeaslearnError

        if not isinstance(error, FeaslearnError | OSError | MemoryError):
            raise
        complain(str(error) or "not enough memory")
        return BAD_INPUT
    if code == INTERRUPTED:
        complain("interrupted")
        return NO
    return code if isinstance(code, int) else FINE


def _refuse(error: Any) -> int:
    """Say what is wrong with the arguments; without any, show the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return BAD_INPUT
    context = getattr(error, "ctx", None)
    where = "" if context is None else f" (see {context.command_path} --help)"
    complain(f"{error.format_message()}{where}")
    return BAD_INPUT
