"""HiGHS on a program with whole numbers: shown as it goes on, and ended by Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from feaslearn.trainers.progress import ProgressBar


def run_mip(solver: Any, label: str) -> bool:
    """Run HiGHS; return whether the user ended it.

    The solver keeps the best point it has found, and its bound.

    Parameters
    ----------
    solver : highspy.Highs
        With a model.
    label : str
        What is being solved.

    Returns
    -------
    bool
        Whether Ctrl-C was pressed.
    """
    pressed = threading.Event()
    with ProgressBar(f"{label}, gap closed (%)", 100) as bar:

        def look(event: Any) -> None:
            known = event.data_out
            best, bound = float(known.mip_primal_bound), float(known.mip_dual_bound)
            if abs(best) < 1e100 and abs(bound) < 1e100:
                gap = abs(best - bound) / max(abs(best), abs(bound), 1e-9)
                bar.update(int(100.0 * (1.0 - min(gap, 1.0))), f"best {best:.4g}")
            else:
                bar.update(0)
            if pressed.is_set():
                event.interrupt()

        solver.cbMipInterrupt += look
        with _noticed(pressed):
            solver.run()
    return pressed.is_set()


@contextmanager
def _noticed(pressed: threading.Event) -> Iterator[None]:
    """Note Ctrl-C rather than raise it inside of the solver; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
