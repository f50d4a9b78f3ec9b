"""Where and how often a run is written down."""

from __future__ import annotations

import os
from numbers import Integral, Real
from pathlib import Path

from sklearn.base import BaseEstimator

from feaslearn.exceptions import Problems

#: Files beyond this are refused unless the user says otherwise.
MAX_BYTES = 2**31


class Checkpoint(BaseEstimator):
    """Where and how often a training run is written down, so that it can go on after a crash.

    A trainer with ``checkpoint="run.ckpt"`` writes down how far it is. When the same fit is run
    again, it goes on from there, and ends with the same parameters, bit for bit on one machine, as
    if it had never stopped. The file belongs to one problem: other data, another hypothesis, loss,
    trainer or ``random_state`` are refused. Writing takes at most about a twentieth of the time.
    A run that comes to its end removes its file. One that is ended by a time limit, a callback or
    Ctrl-C keeps it: the same fit goes on from there, with ``max_seconds`` counted anew.

    Parameters
    ----------
    path : path-like
        The file, which is written under another name first and then renamed.
    seconds : float, default=10.0
        Write when so many seconds have gone by since the last time; None to count steps alone.
    steps : int, default=None
        Write after so many steps: iterations, fits of one fold, chunks of data.
    remove : bool, default=True
        Whether a run that comes to its end removes its file. Otherwise it stays, and the same fit,
        run again, answers at once.
    max_bytes : int, default=2**31
        Larger files are not read.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(50, random_state=0)
    >>> path = getfixture("tmp_path") / "run.ckpt"
    >>> trainer = fl.trainers.Annealing(checkpoint=fl.trainers.Checkpoint(path, seconds=0.0))
    >>> model = fl.RegionRegressor(
    ...     fl.Affine(fl.Simplex(2)), cost=data.cost, trainer=trainer, random_state=0)
    >>> model.fit(data.signals, data.decisions).result_.status, path.exists()
    ('optimal', False)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        seconds: float | None = 10.0,
        steps: int | None = None,
        remove: bool = True,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.path = path
        self.seconds = seconds
        self.steps = steps
        self.remove = remove
        self.max_bytes = max_bytes

    def check(self, problems: Problems) -> None:
        """Add to ``problems`` what is wrong with the parameters."""
        if not isinstance(self.path, str | os.PathLike) or not os.fspath(self.path):
            problems.add(f"checkpoint: path={self.path!r} is not the name of a file")
        seconds = self.seconds
        if seconds is not None and not (isinstance(seconds, Real) and float(seconds) >= 0.0):
            problems.add(f"checkpoint: seconds={seconds!r} is neither None nor at least 0")
        for name in ("steps", "max_bytes"):
            value = getattr(self, name)
            if value is None and name == "steps":
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                problems.add(f"checkpoint: {name}={value!r} is not a whole number of at least 1")
        if self.seconds is None and self.steps is None:
            problems.add("checkpoint: seconds and steps are both None, so nothing is ever written")

    def file(self) -> Path:
        """Return the file."""
        return Path(self.path)


def as_checkpoint(given: Checkpoint | str | os.PathLike[str] | None) -> Checkpoint | None:
    """Return a checkpoint for what a trainer was given: a path, a checkpoint, or None."""
    return given if given is None or isinstance(given, Checkpoint) else Checkpoint(given)
