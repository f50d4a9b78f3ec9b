"""``feaslearn report``: one page about a model."""

from __future__ import annotations

from collections.abc import Container, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.console import Console, print_lines
from feaslearn.cli.options import split

if TYPE_CHECKING:
    from feaslearn.io.tables import Table
    from feaslearn.plots.canvas import Units


def report(
    model: options.ModelFile,
    data: options.DataFile,
    output: Annotated[Path, options.output("Where the page is written.")] = Path("report.html"),
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="FILE",
            help="The rows of the fit, if DATA holds others: a fair comparison at once.",
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")
    ] = None,
    units: Annotated[
        options.Columns,
        options.columns(
            "--units",
            "One for all decisions, or by column or pattern: 'plant_*=MW,cost_1=EUR/MWh'.",
            "UNITS",
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="COLUMN",
            help="Column of times, for limits by hour and day.",
            show_default="one that holds times",
        ),
    ] = None,
    refit: Annotated[
        bool | None,
        typer.Option(
            "--refit/--no-refit",
            help="Fit the model anew to parts of DATA, for a fair comparison.",
            show_default="up to a minute",
        ),
    ] = None,
    signals: options.Signals = None,
    decisions: options.Decisions = None,
    costs: options.Costs = None,
    *,
    console: Console,
) -> None:
    """Write one page about a model: what it learned, how good it is, how sure.

    The page needs no network. The learned limits come first, then what rows rest on, when each
    limit binds, the model beside simpler predictors on rows that were held out, the rows that fit
    worst and problems of the data. Needs the extra "report".

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.npz
      $ feaslearn demo --data unseen.csv --samples 50 --seed 1
      $ feaslearn report power.npz power.csv -o power.html
      $ feaslearn report power.npz unseen.csv --train power.csv --units 'plant_*=MW' -o unseen.html
    """
    from feaslearn.cli.columns import decisions_for
    from feaslearn.cli.files import check_output
    from feaslearn.io.whole_files import check_writable
    from feaslearn.report import write_report
    from feaslearn.report.report import check_extra

    check_output(output, model, data, train)
    table, rows = console.table(data), None if train is None else console.table(train)
    fitted = console.model(model)
    check_extra()
    check_writable(output)
    samples = decisions_for(fitted, table, signals, decisions, costs, "report")
    names = [*samples.names.signals, *samples.names.decisions]
    times = find_times(table, time, names)

    def place(row: int) -> str:
        """Say which row it is, by its time where there is one."""
        return table.place(row) if times is None else f"{times[row]:%Y-%m-%d %H:%M}"

    learned_from = None
    if rows is not None:
        learned_from = decisions_for(fitted, rows, signals, decisions, costs, "report --train")
    write_report(
        fitted,
        samples,
        output,
        train=learned_from,
        title=title or f"{model.name} on {data.name}",
        units=parse_units(split(units), names),
        refit=refit,
        place=place,
        times=times,
        source=f"Rows are those of {table.source}.",
    )
    size = output.stat().st_size
    facts = {"report": str(output), "n_samples": len(samples), "bytes": size}
    text = f"Report on {len(samples)} rows: {output} ({size / 1000:.0f} kB)"
    console.print(facts, lambda rich: print_lines(rich, text))


def find_times(table: Table, wanted: str | None, used: Container[str]) -> list[datetime] | None:
    """Return when each row was: of the column that is asked for, or the first that holds times."""
    from feaslearn.exceptions import DataError, Problems

    problems = Problems()
    if wanted is not None:
        chosen = table.find([wanted], "--time", problems)
        problems.raise_if_any(DataError, "report")
    else:
        chosen = tuple(j for j, name in enumerate(table.names) if name not in used)
    for j in chosen:
        times = [_time(cell) for cell in table.column(j)]
        if times and all(time is not None for time in times):
            return [time for time in times if time is not None]
    if wanted is not None:
        raise DataError(f"--time: {wanted!r} does not hold times such as 2025-03-03 07:00")
    return None


def _time(cell: object) -> datetime | None:
    """Return the clock time in a cell of a date, with or without a time of day."""
    text = str(cell).strip()
    with suppress(ValueError):
        if "-" in text[1:]:
            return datetime.fromisoformat(text).replace(tzinfo=None)
    return None


def parse_units(items: Sequence[str], names: Sequence[str]) -> Units:
    """Return units by the names of columns, or one for all decisions."""
    from feaslearn.exceptions import DataError, Problems
    from feaslearn.messages import find_columns

    if not items:
        return None
    if len(items) == 1 and "=" not in items[0]:
        return items[0]
    problems, units = Problems(), {}
    for item in items:
        name, mark, unit = (part.strip() for part in item.rpartition("="))
        if not mark or not unit:
            problems.add(f"{item!r} is not of the form column=unit")
            continue
        for j in find_columns([name], names, len(names), "column", "in the model", problems):
            units[names[j]] = unit
    problems.raise_if_any(DataError, "--units")
    return units
