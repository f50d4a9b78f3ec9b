"""Run the cells that are not finished, and say how long the rest will take."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from experiments.frame.experiment import Experiment, Row, Settings
from experiments.frame.store import Store

#: Seconds from which a cell is put off to the end.
LONG = 20.0

logger = logging.getLogger("feaslearn")


@dataclass(frozen=True)
class Cell:
    """One cell to run."""

    experiment: Experiment
    row: Row
    seed: int


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
            for cell in finished[row.name].values():
                pace.note(experiment, row, cell["seconds"])
        cells += [
            Cell(experiment, row, seed)
            for row in rows
            for seed in row.seeds(settings)
            if again or seed not in finished[row.name]
        ]
    # One seed of everything before the next, what takes long last: a run that is cut short still
    # has something for every table.
    chosen = [cell for cell in cells if pace.of(cell) <= at_most]
    return sorted(chosen, key=lambda cell: (pace.of(cell) > LONG, cell.seed)), pace


def run(cells: list[Cell], pace: Pace, store: Store, console: Console) -> list[str]:
    """Run cells one after the other; each is stored at once.

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
        for number, cell in enumerate(cells):
            label = f"{cell.experiment.name}: {cell.row.name}, seed {cell.seed}"
            left = duration(pace.left(cells[number:]))
            bar.update(task, description=label, completed=number, left=left)
            began = time.perf_counter()
            try:
                values = cell.experiment.measure(cell.seed, **cell.row.parameters)
            except Exception as error:  # one broken cell must not stop the others
                logger.debug("%s", label, exc_info=True)
                failed.append(f"{label}: {type(error).__name__}: {error}")
                continue
            seconds = time.perf_counter() - began
            pace.note(cell.experiment, cell.row, seconds)
            store.add(cell.experiment, cell.row, cell.seed, values, seconds)
            if not console.is_terminal:
                console.print(
                    f"{number + 1}/{len(cells)} {label}: {seconds:.1f} s, {left} left",
                    highlight=False,
                    markup=False,
                    soft_wrap=True,
                )
    return failed


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
