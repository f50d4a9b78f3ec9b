"""A progress bar for what takes more than two seconds, silent where nobody looks."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Any, Self

from feaslearn.printable import printable

#: Seconds before a bar appears.
PATIENCE = 2.0
#: Held by the bar that is shown: a terminal has room for one.
_terminal = threading.Lock()


class ProgressBar:
    """Shows ``done / total`` on a terminal's standard error, and nothing elsewhere."""

    def __init__(self, label: str, total: int) -> None:
        self._label = label
        self._total = total
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._done, self._note, self._left = 0, "", False

    def __enter__(self) -> Self:
        if _watched():
            # Work that gives no word in the meantime is shown all the same.
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._left = True
            if self._bar is not None:
                self._bar.stop()
                _terminal.release()

    def update(self, done: int, note: str = "") -> None:
        """Say how far it is; the bar appears once the work has taken two seconds."""
        self._done, self._note = done, note
        if self._bar is None and (time.monotonic() - self._began < PATIENCE or not _watched()):
            return
        self._show()

    def _show(self) -> None:
        """Show how far it is, unless another bar is shown."""
        with self._lock:
            if self._left:
                return
            if self._bar is None:
                if not _terminal.acquire(blocking=False):
                    return
                self._open()
            text = _shown(f"{self._label} {self._note}")
            self._bar.update(self._task, completed=self._done, description=text)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._bar = Progress(console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(_shown(self._label), total=self._total)
        self._bar.start()


def _shown(text: str) -> str:
    """Return a text that is shown as it is: names of files may look like markup."""
    from rich.markup import escape

    return escape(printable(text))


def _watched() -> bool:
    """Say whether standard error is a terminal; a program without windows has none at all."""
    return sys.stderr is not None and sys.stderr.isatty()
