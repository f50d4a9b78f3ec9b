"""Where a command writes: never over what it reads, and never into what is open already."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from feaslearn.exceptions import FileError

#: The name that stands for standard output.
PRINTED = Path("-")


def file_or_print(output: Path | None, *inputs: Path | None) -> Path | None:
    """Return the file to write, checked as by `check_output`; None where it is to be printed."""
    if output is None or output == PRINTED:
        return None
    check_output(output, *inputs)
    return output


def check_output(output: Path | None, *inputs: Path | None, option: str = "--output") -> None:
    """Refuse, before any work, an output that would replace one of the inputs.

    Parameters
    ----------
    output : Path or None
        The file to write; None is none.
    *inputs : Path or None
        The files that are read.
    option : str, default="--output"
        Where the name was given, for the message.
    """
    if output is None:
        return
    if output == PRINTED:
        raise FileError(f"{option}: this command writes a file and prints none; give its name")
    for each in inputs:
        if each is not None and _is_one_file(output, each):
            raise FileError(
                f"{option}: {output} is a file that this command reads; give another name"
            )


def check_apart(output: Path, checkpoint: Path | None) -> None:
    """Refuse a checkpoint that is the model file, too."""
    if checkpoint is not None and _is_one_file(output, checkpoint):
        raise FileError(
            f"--output and --checkpoint are one file, {output}; give each a name of its own"
        )


def _is_one_file(first: Path, second: Path) -> bool:
    # Of files that are not there yet, only the names can be compared.
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    with suppress(OSError):
        return first.samefile(second)
    return False
