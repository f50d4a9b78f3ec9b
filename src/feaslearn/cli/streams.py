"""Standard output and error: in any encoding, closed, or on a disk that is full."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from feaslearn.printable import printable


class Closed(io.TextIOBase):
    """What stands for a stream that was closed before Python began: nobody reads it."""

    def write(self, text: str, /) -> int:
        """Drop the text."""
        return len(text)


def open_streams() -> None:
    """See to it that whatever is said can be written, whatever the streams are."""
    # A file that is opened later must not get the number of a closed stream: what a solver
    # prints would end up in it.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Closed())
        elif isinstance(stream, io.TextIOWrapper):
            # Letters that the encoding lacks are shown by their codes.
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Send what is left for standard output nowhere: at the end, Python tries to write it again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def printing() -> Iterator[None]:
    """Turn what the system says of standard output into an error of ours that names it."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has enough
    except OSError as error:
        from feaslearn.exceptions import FileError

        drop_output()
        reason = error.strerror or str(error)
        raise FileError(f"standard output: cannot be written: {reason}") from error


def hand_over(text: str) -> None:
    """Write data to standard output: as they are and as UTF-8, unless that is a terminal."""
    if isinstance(sys.stdout, Closed):
        from feaslearn.exceptions import FileError

        raise FileError("standard output is closed: what was asked for cannot be printed")
    with printing():
        if sys.stdout.isatty():
            # What prints for people leaves sequences of the terminal out, also in a pipe.
            sys.stdout.write(printable(text, lines=True))
        elif isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8"))
        else:
            sys.stdout.write(text)
