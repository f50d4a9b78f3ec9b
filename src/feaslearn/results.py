"""Results of training runs, and notes of solvers on the way."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from feaslearn.printable import printable
from feaslearn.tolerances import SQUARE_ROUNDING

logger = logging.getLogger("feaslearn")
_SAID: ContextVar[list[str] | None] = ContextVar("remarks", default=None)

Status = Literal[
    "optimal",
    "converged",
    "iteration limit",
    "time limit",
    "interrupted",
]

#: Statuses of runs that had no time left.
OUT_OF_TIME: tuple[Status, ...] = ("time limit", "interrupted")
#: Statuses of runs that another setting, or more time, may take further.
UNFINISHED: tuple[Status, ...] = ("iteration limit", *OUT_OF_TIME)

#: Details that are penalties: with one, the optimum is that of the loss and the penalty.
PENALTIES = ("ridge", "sparsity")


@dataclass(repr=False)
class TrainingResult:
    """How a region was learned, and how far the answer can be trusted.

    Parameters
    ----------
    status : str
        "optimal" (a global optimum was proved), "converged" (a local one was reached), or which
        limit ended the run. With several starts, how the one
        that won ended.
    trainer : str
        The trainer, with its parameters.
    objective : float
        The training loss: the mean squared distance between the observed decisions and those that
        the model returns.
    n_iter : int
        Iterations over all starts.
    seconds : float
        Wall time.
    lower_bound : float or None
        No region of the class has a smaller training loss, where that is known.
    tied_share : float
        Share of training samples whose prediction is a tie: several decisions of least cost in
        the learned region.
    details : dict of str to float
        Further quantities that only some trainers know, by name.
    warnings : list of str
        What the user should know.
    ties_met : int or None
        Training samples at whose cost minimisers of the primitive set, of a term or of the program
        tie, whether or not that makes several decisions; None where nobody counted.
    data : str
        "exact", "rounded" or "noisy", where a trainer decided what the decisions are.
    exceptional : list of int
        Rows that were left out because they break a balance that all others keep.

    Examples
    --------
    >>> from feaslearn.results import TrainingResult
    >>> result = TrainingResult("converged", "Mine()", 0.5, n_iter=7, seconds=0.25)
    >>> print(result)
    status                 converged
    optimum                local: there may be a better one
    trainer                Mine()
    training loss          0.5
    lower bound            not known
    ties met               not counted
    predictions that tie   0.0 %
    iterations             7
    seconds                0.25
    """

    status: Status
    trainer: str
    objective: float
    n_iter: int
    seconds: float
    lower_bound: float | None = None
    tied_share: float = 0.0
    details: dict[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    ties_met: int | None = None
    data: str = ""
    exceptional: list[int] = field(default_factory=list)

    @property
    def gap(self) -> float | None:
        """Objective minus lower bound, where there is one."""
        return None if self.lower_bound is None else self.objective - self.lower_bound

    @property
    def is_global(self) -> bool:
        """Whether a global optimum was proved, of the loss with its penalties where it has some."""
        return self.status == "optimal"

    @property
    def optimum(self) -> str:
        """What kind of optimum was reached, in words."""
        if self.is_global:
            held = [name for name in PENALTIES if self.details.get(name, 0.0) > 0.0]
            return f"global, of the loss with {' and '.join(held)}" if held else "global"
        if self.objective <= SQUARE_ROUNDING:
            return "global: the loss is zero"
        if self.lower_bound is not None:
            return "not proved: the gap says how much better another one can be"
        if self.status == "converged":
            return "local: there may be a better one"
        return "none: the run was ended before it reached one"

    def rows(self) -> list[tuple[str, str]]:
        """Return what is worth showing, as pairs of a label and a string."""
        bound = "not known"
        if self.lower_bound is not None:
            bound = f"{self.lower_bound:.6g} (gap {self.gap:.3g})"
        met = self.ties_met
        shown = [
            ("status", self.status),
            ("optimum", self.optimum),
            ("trainer", " ".join(self.trainer.split())),
            ("training loss", f"{self.objective:.6g}"),
            ("lower bound", bound),
            ("ties met", "not counted" if met is None else f"{met} sample{'s' * (met != 1)}"),
            ("predictions that tie", f"{100 * self.tied_share:.1f} %"),
            ("iterations", str(self.n_iter)),
            ("seconds", f"{self.seconds:.3g}"),
        ]
        shown += [("decisions", self.data)] if self.data else []
        shown += [(label, f"{value:.6g}") for label, value in self.details.items()]
        return shown + [("warning", text) for text in self.warnings]

    def __repr__(self) -> str:
        shown = [(printable(label), printable(text)) for label, text in self.rows()]
        width = max(len(label) for label, _ in shown)
        return "\n".join(f"{label:<{width}}  {text}" for label, text in shown)


@contextmanager
def remarks_heard() -> Iterator[list[str]]:
    """Collect what is remarked while something is solved, each remark once."""
    said: list[str] = []
    token = _SAID.set(said)
    try:
        yield said
    finally:
        _SAID.reset(token)


def remark(text: str) -> None:
    """Say that something did not go as planned: in the log, and to whoever listens."""
    logger.warning(text)
    said = _SAID.get()
    if said is not None and text not in said:
        said.append(text)
