"""A fit comes to its end, or leaves the model as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from feaslearn.runs.deadline import stopped_by_user
from feaslearn.runs.run import OutOfTime


@contextmanager
def whole_or_not(model: object) -> Iterator[None]:
    """Let a fit that fails or is given up leave what was fitted before, not half of each."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        model.__dict__ = before
        raise


@contextmanager
def ended_by_user() -> Iterator[None]:
    """Let Ctrl-C end a fit with the best model so far; where there is none, it is what it was."""
    with stopped_by_user() as stop:
        try:
            yield
        except OutOfTime:
            if stop.wanted:
                raise KeyboardInterrupt from None
            raise
