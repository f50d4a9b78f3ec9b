"""What ``verbose`` does: for the time of a fit, the log of feaslearn can be read."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("feaslearn")


@contextmanager
def spoken(verbose: int) -> Iterator[None]:
    """Let the logger "feaslearn" through: with 1 what was reached, with 2 every iteration.

    Handlers that the program has set up are used as they are. Where there is none, messages go to
    standard error, and everything is put back afterwards.
    """
    if verbose < 1:
        yield
        return
    level, handler = logger.level, None
    wanted = logging.INFO if verbose == 1 else logging.DEBUG
    logger.setLevel(min(wanted, logger.getEffectiveLevel()))
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
    try:
        yield
    finally:
        logger.setLevel(level)
        if handler is not None:
            logger.removeHandler(handler)
