"""Run the cells that are not finished, and say how long the rest will take."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from experiments.frame.experiment import Experiment, Row, Settings
from experiments.frame.store import Store

#: Seconds from which a cell is put off to the end of its experiment.
LONG = 20.0

logger = logging.getLogger("feaslearn")


@dataclass(frozen=True)
class Cell:
    """One cell to run."""

    experiment: Experiment
    row: Row
    seed: int

    @property
    def label(self) -> str:
        """What messages call the cell."""
        return f"{self.experiment.name}: {self.row.name}, seed {self.seed}"


@dataclass
class Pace:
    """What cells take: measured where a cell of the row is finished, guessed elsewhere."""

    measured: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def note(self, experiment: Experiment, row: Row, seconds: float) -> None:
        """Write down what a cell took."""
        self.measured.setdefault((experiment.name, row.name), []).append(seconds)

    def of(self, cell: Cell) -> float:
        """Return what a cell will take."""
        known = self.measured.get((cell.experiment.name, cell.row.name))
        return sum(known) / len(known) if known else cell.row.seconds

    def left(self, cells: list[Cell]) -> float:
        """Return what the cells will take together."""
        return sum(self.of(cell) for cell in cells)


def unfinished(
    experiments: list[Experiment],
    settings: Settings,
    store: Store,
    again: bool = False,
    at_most: float = math.inf,
) -> tuple[list[Cell], Pace]:
    """Return the cells to run, in their order, and the pace so far.

    Cells that take longer than ``at_most`` seconds are left for another run.
    """
    cells, pace = [], Pace()
    for experiment in experiments:
        rows = experiment.rows(settings)
        finished = {row.name: store.finished(experiment, row) for row in rows}
        for row in rows:
            for cell in store.stored(experiment, row).values():
                pace.note(experiment, row, cell["seconds"])
        cells += [
            Cell(experiment, row, seed)
            for row in rows
            for seed in row.seeds(settings)
            if again or seed not in finished[row.name]
        ]
    # The cheapest experiment first, one seed of all its rows before the next, what takes long last:
    # a run that is cut short has finished many tables, and something of the next.
    chosen = [cell for cell in cells if pace.of(cell) <= at_most]
    together: dict[str, float] = {}
    for cell in chosen:
        name = cell.experiment.name
        together[name] = together.get(name, 0.0) + pace.of(cell)

    def order(cell: Cell) -> tuple[float, str, bool, int]:
        name = cell.experiment.name
        return together[name], name, pace.of(cell) > LONG, cell.seed

    return sorted(chosen, key=order), pace


class Measured(NamedTuple):
    """What a cell gave: its number, its values or what went wrong, and the seconds."""

    number: int
    values: Any
    failure: str
    seconds: float


def measure(
    number: int, function: Callable[..., Any], seed: int, parameters: dict[str, Any]
) -> Measured:
    """Run one cell, here or on a worker."""
    began, values, failure = time.perf_counter(), None, ""
    try:
        values = function(seed, **parameters)
    except Exception as error:  # one broken cell must not stop the others
        logger.debug("cell %d", number, exc_info=True)
        failure = f"{type(error).__name__}: {error}"
    return Measured(number, values, failure, time.perf_counter() - began)


def run(
    cells: list[Cell], pace: Pace, store: Store, console: Console, n_jobs: int | None = 1
) -> list[str]:
    """Run cells, one after the other or through joblib; each is stored as soon as it is there.

    Parameters
    ----------
    cells : list of Cell
        What to run.
    pace : Pace
        What cells take.
    store : Store
        Where finished cells go.
    console : Console
        Where progress and the time left are shown; without a terminal, one line for each cell.
    n_jobs : int or None, default=1
        Cells at a time; None and more than 1 go through the joblib backend that was chosen.

    Returns
    -------
    list of str
        The cells that failed, with the reason.
    """
    failed = []
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]} left"),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("cells", total=len(cells), left="")
        waiting = dict(enumerate(cells))
        for done, measured in enumerate(_each(cells, n_jobs)):
            cell = waiting.pop(measured.number)
            left = duration(pace.left(list(waiting.values())))
            bar.update(task, description=cell.label, completed=done + 1, left=left)
            if measured.failure:
                failed.append(f"{cell.label}: {measured.failure}")
                continue
            pace.note(cell.experiment, cell.row, measured.seconds)
            store.add(cell.experiment, cell.row, cell.seed, measured.values, measured.seconds)
            if not console.is_terminal:
                console.print(
                    f"{done + 1}/{len(cells)} {cell.label}: {measured.seconds:.1f} s, {left} left",
                    highlight=False,
                    markup=False,
                    soft_wrap=True,
                )
    return failed


def _each(cells: list[Cell], n_jobs: int | None) -> Iterator[Measured]:
    """Yield what cells gave, as soon as they are there."""
    jobs = (
        (number, cell.experiment.measure, cell.seed, cell.row.parameters)
        for number, cell in enumerate(cells)
    )
    if n_jobs == 1:
        yield from (measure(*job) for job in jobs)
    else:
        work = Parallel(n_jobs, return_as="generator_unordered")
        yield from work(delayed(measure)(*job) for job in jobs)


def duration(seconds: float) -> str:
    """Return seconds as people say them.

    Examples
    --------
    >>> duration(42), duration(150), duration(7260)
    ('42 s', '2.5 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
