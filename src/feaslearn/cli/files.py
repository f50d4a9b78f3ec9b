"""Outputs of a command, which replace no input."""

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


def check_output(output: Path | None, *inputs: Path | None) -> None:
    """Refuse, before any work, an output that would replace one of the inputs."""
    if output is None:
        return
    if output == PRINTED:
        raise FileError("--output: this command writes a file and prints none; give its name")
    for each in inputs:
        if each is not None and is_one_file(output, each):
            raise FileError(
                f"--output: {output} is a file that this command reads; give another name"
            )


def is_one_file(first: Path, second: Path) -> bool:
    """Say whether two names are those of one file, which need not be there."""
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    with suppress(OSError):
        return first.samefile(second)
    return False
