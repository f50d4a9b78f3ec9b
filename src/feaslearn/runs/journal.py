"""What a run has done so far, in memory and in its file."""

from __future__ import annotations

import threading
import time
import warnings
from collections import Counter
from contextlib import suppress
from copy import deepcopy
from typing import Any

from feaslearn.atomic import check_writable, leftovers
from feaslearn.exceptions import CheckpointError, FeaslearnWarning, FileError
from feaslearn.runs.checkpoint import Checkpoint
from feaslearn.runs.checkpoint_file import read_checkpoint, write_checkpoint

#: Writing may take one part in so many of the time.
DILUTED = 20.0


class Journal:
    """Entries by key, and a file that follows them.

    Parameters
    ----------
    checkpoint : Checkpoint
        The file, and how often it is written.
    fingerprint : dict of str to str
        What the entries belong to, by name.
    begun : dict
        What the run began with; a file that is there says it for the run that goes on.
    """

    def __init__(
        self, checkpoint: Checkpoint, fingerprint: dict[str, str], begun: dict[str, Any]
    ) -> None:
        self._checkpoint, self._fingerprint = checkpoint, fingerprint
        self._lock = threading.RLock()
        self._entries: dict[str, Any] = {}
        #: Steps of each loop, and finished pieces of work, since they were written; when each was.
        self._steps: Counter[str] = Counter()
        self._finished = 0
        self._kept: dict[str, float] = {}
        self._opened = self._written = time.monotonic()
        self._dirty, self._pause = False, 0.0
        self.begun, self.resumed = begun, False
        check_writable(checkpoint.file())
        self._tidy()
        if checkpoint.file().exists():
            self._read()

    def _read(self) -> None:
        """Take over the entries of a file that belongs to this run; refuse any other."""
        path = self._checkpoint.file()
        found = read_checkpoint(path, int(self._checkpoint.max_bytes))
        parts: dict[str, Any] = {
            name: found.get(name) for name in ("fingerprint", "begun", "entries")
        }
        if not all(isinstance(part, dict) for part in parts.values()):
            raise CheckpointError(f"{path} cannot be read as a checkpoint: parts are missing")
        theirs = parts["fingerprint"]
        # As text: a forged part may be an array, which compares entry by entry.
        other = [name for name, own in self._fingerprint.items() if str(theirs.get(name)) != own]
        if other:
            differ = "differs" if len(other) == 1 else "differ"
            raise CheckpointError(
                f"{path} belongs to another run: its {' and its '.join(other)} {differ}. Delete "
                "it to begin anew, or name another file"
            )
        self.begun, self._entries, self.resumed = parts["begun"], parts["entries"], True

    def get(self, key: str) -> Any:
        """Return a copy of an entry, None if there is none."""
        with self._lock:
            return deepcopy(self._entries.get(key))

    def put(self, key: str, value: Any, covers: str | None = None) -> None:
        """Keep an entry, and write the file if it is time.

        Parameters
        ----------
        key : str
            Its name.
        value : object
            A tree of plain values and arrays.
        covers : str, optional
            The part of the run whose entries it makes superfluous.
        """
        with self._lock:
            if covers is not None:
                for name in [name for name in self._entries if name.startswith(f"{covers}/")]:
                    del self._entries[name]
                self._finished += 1
            # A copy: loops go on to change what they have kept.
            self._entries[key] = deepcopy(value)
            self._dirty = True
            steps = self._checkpoint.steps
            counted = steps is not None and max(self._steps[key], self._finished) >= steps
            self._steps[key], self._kept[key] = 0, time.monotonic()
            if counted or self._past(self._written):
                self.write()

    def wanted(self, key: str) -> bool:
        """Count one step of a loop; say whether it is time to keep where it stands.

        Every loop has a count and a clock of its own: where several run on threads, none is
        forgotten.
        """
        with self._lock:
            self._steps[key] += 1
            steps = self._checkpoint.steps
            counted = steps is not None and self._steps[key] >= steps
            return counted or self._past(self._kept.setdefault(key, self._opened))

    def _past(self, moment: float) -> bool:
        seconds = self._checkpoint.seconds
        if seconds is None:
            return False
        return time.monotonic() - moment >= max(float(seconds), self._pause)

    def write(self) -> None:
        """Write what has changed; a file that cannot be written does not end the run."""
        with self._lock:
            if not self._dirty:
                return
            began = time.monotonic()
            contents = {
                "fingerprint": self._fingerprint,
                "begun": self.begun,
                "entries": self._entries,
            }
            try:
                write_checkpoint(self._checkpoint.file(), contents)
                self._dirty = False
            except FileError as error:
                warnings.warn(
                    f"the checkpoint was not written, the run goes on without: {error}",
                    FeaslearnWarning,
                    stacklevel=2,
                )
            self._written, self._finished = time.monotonic(), 0
            seconds = self._checkpoint.seconds
            # A user who asks for every moment gets it.
            self._pause = DILUTED * (self._written - began) if seconds else 0.0

    def remove(self) -> None:
        """Remove the file of a run that is done, if that was asked for."""
        with self._lock:
            if not self._checkpoint.remove:
                self.write()
                return
            with suppress(OSError):
                self._checkpoint.file().unlink()
            self._tidy()

    def _tidy(self) -> None:
        """Remove what a run that was killed while it wrote has left beside the file."""
        file = self._checkpoint.file()
        with suppress(OSError):
            for left in leftovers(file):
                left.unlink()
