"""The demo: models on the built-in power5 data, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import feaslearn as fl
from feaslearn.atomic import check_writable
from feaslearn.cli.talk import Talk
from feaslearn.io.table import Frame
from feaslearn.io.table_file import write_table
from feaslearn.metrics import LABELS, Evaluation
from feaslearn.report import write_report
from feaslearn.report.page_file import check_extra

N_TRAIN, N_TEST = 100, 200
UNITS = {f"plant_{node}": "MW" for node in (1, 3, 5)} | {f"demand_{j}": "MW" for j in range(1, 6)}
TITLE = f"power5, dispatch of three plants: {N_TRAIN} training rows, {N_TEST} test rows"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    model : str
        What was fitted.
    losses : mapping of str to float
        Mean loss on the test rows by its name; NaN where the loss is not defined for this model.
    seconds : float
        Time to fit; the first model of its kind may include compiling the kernels.
    """

    model: str
    losses: Mapping[str, float]
    seconds: float

    def cells(self) -> list[str]:
        """Return the texts of the line, in the order of the columns."""
        return [self.model, *map(_number, self.losses.values()), f"{self.seconds:.2f}"]


def run(output: Path, talk: Talk) -> None:
    """Fit the models, print the table and write the report.

    Parameters
    ----------
    output : pathlib.Path
        Where the HTML report is written.
    talk : Talk
        What is said.
    """
    # First: what cannot be written should not cost the time of the fits.
    check_extra()
    check_writable(output)
    rows, model = compare()
    train, test = samples()
    source = f"The region of the last model of the demo, {rows[-1].model}."
    write_report(model, test, output, train=train, title=TITLE, units=UNITS, source=source)
    facts = [{"model": row.model, **row.losses, "seconds": row.seconds} for row in rows]

    def show(console: Console) -> None:
        console.print(as_table(rows))
        console.print(f"Report: {output}", markup=False, highlight=False, soft_wrap=True)

    talk.tell({"report": str(output), "models": facts}, show)


def write_data(output: Path, samples: int, seed: int, talk: Talk) -> None:
    """Write the data of the demo as a table, to try the other commands on.

    Parameters
    ----------
    output : pathlib.Path
        A ``.csv`` or ``.parquet`` file.
    samples, seed : int
        Number of rows, and the seed they are drawn with.
    talk : Talk
        What is said.
    """
    data = fl.datasets.make_power5(n_samples=samples, random_state=seed)
    columns = np.hstack([data.signals, data.decisions]).T.tolist()
    names = [*data.names.signals, *data.names.decisions]
    write_table(output, names, columns)
    facts = {"output": str(output), "n_samples": samples, "columns": names}
    talk.tell(
        facts, lambda console: console.print(f"{samples} rows of {', '.join(names)}: {output}")
    )


def heads(rows: Sequence[Row]) -> list[str]:
    """Return the heads of the columns."""
    return ["model", *rows[0].losses, "seconds"]


def as_table(rows: Sequence[Row]) -> Table:
    """Lay the rows out for a terminal, one column for each model: that fits 80 characters."""
    table = Table(title=TITLE, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    head, *lines = zip(heads(rows), *(row.cells() for row in rows), strict=True)
    for i, text in enumerate(head):
        table.add_column(text, justify="right" if i else "left", overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table


def samples() -> tuple[fl.Decisions, fl.Decisions]:
    """Return the rows to fit to, and those to measure on."""
    data = fl.datasets.make_power5(n_samples=N_TRAIN + N_TEST, random_state=0)
    return data[:N_TRAIN], data[N_TRAIN:]


def compare() -> tuple[list[Row], fl.RegionRegressor]:
    """Fit and evaluate each model of the demo; return the last one, too."""
    train, test = samples()
    n_decisions, cost = train.decisions.shape[1], train.cost
    signals, decisions = (
        Frame(np.array(values), names)
        for values, names in zip((train.signals, train.decisions), train.names, strict=True)
    )
    facets = fl.RegionRegressor(fl.Facets(), cost=cost, random_state=0)
    models: dict[str, fl.RegionRegressor | fl.baselines.LinearPolicy] = {
        "Linear": fl.baselines.LinearPolicy(),
        "Scaled": fl.RegionRegressor(fl.Scaled(fl.Simplex(n_decisions)), cost=cost, random_state=0),
        "Affine, p=9": fl.RegionRegressor(fl.Affine(fl.Simplex(9)), cost=cost, random_state=0),
        "Facets": facets,
    }
    rows = []
    for name, model in models.items():
        start = perf_counter()
        model.fit(signals, decisions)
        seconds = perf_counter() - start
        rows.append(Row(name, _means(fl.evaluate(model, test, losses="all")), seconds))
    return rows, facets


def _means(evaluation: Evaluation) -> dict[str, float]:
    found = {label: getattr(evaluation, name) for name, label in LABELS.items()}
    return {label: math.nan if loss is None else loss.mean for label, loss in found.items()}


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
