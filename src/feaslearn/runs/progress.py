"""A progress bar for what takes more than two seconds, silent where nobody looks."""

from __future__ import annotations

import sys
import threading
from typing import Any, Self

from feaslearn.printable import printable

#: Seconds before a bar appears.
PATIENCE = 2.0
#: Held by the bar that is shown: a terminal has room for one.
_terminal = threading.Lock()


class ProgressBar:
    """Shows ``done / total`` on a terminal's standard error, and nothing elsewhere."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total = label, total
        self._bar: Any = None
        self._lock = threading.Lock()
        self._done, self._note, self._left = 0, "", False
        # Work that gives no word in the meantime is shown all the same.
        self._timer = threading.Timer(PATIENCE, self._open)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        # A program without windows has no standard error at all.
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._left = True
            if self._bar is not None:
                self._bar.stop()
                _terminal.release()

    def update(self, done: int, note: str = "") -> None:
        """Say how far it is."""
        self._done, self._note = done, note
        with self._lock:
            if self._bar is not None and not self._left:
                self._show()

    def _open(self) -> None:
        """Show the bar, unless another is shown or the work is done."""
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if not self._left and _terminal.acquire(blocking=False):
                self._bar = Progress(console=Console(stderr=True), transient=True)
                self._bar.add_task("", total=self._total)
                self._show()
                self._bar.start()

    def _show(self) -> None:
        from rich.markup import escape

        # As it is: names of files may look like markup.
        text = escape(printable(f"{self._label} {self._note}"))
        self._bar.update(0, completed=self._done, description=text)
