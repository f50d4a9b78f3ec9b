"""``feaslearn report``: one page about a model."""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime
from pathlib import Path

from feaslearn.atomic import check_writable
from feaslearn.cli.columns import decisions_for
from feaslearn.cli.talk import Talk
from feaslearn.exceptions import DataError, Problems
from feaslearn.io.table import Table
from feaslearn.messages import find_columns
from feaslearn.plots.canvas import Units
from feaslearn.regressor import RegionRegressor
from feaslearn.report import write_report
from feaslearn.report.page_file import check_extra


def report(
    model: RegionRegressor,
    table: Table,
    train: Table | None,
    *,
    signals: Sequence[str],
    decisions: Sequence[str],
    costs: Sequence[str],
    units: Sequence[str],
    time: str | None,
    title: str,
    refit: bool | None,
    output: Path,
    talk: Talk,
) -> None:
    """Write the page.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.
    table, train : Table
        Rows to show it on, and those of the fit where they are others.
    signals, decisions, costs : sequence of str
        Columns, where they are not called as in the fit.
    units : sequence of str
        One unit, or items such as ``plant_*=MW``.
    time : str or None
        The column of times; None takes one that no role has and in which every cell is one.
    title : str
        Heading of the page.
    refit : bool or None
        Whether the model is fitted anew to parts of the rows.
    output : Path
        Where the page is written.
    talk : Talk
        What is said.
    """
    check_extra()
    check_writable(output)
    data = decisions_for(model, table, signals, decisions, costs, "report")
    fitted = None
    if train is not None:
        fitted = decisions_for(model, train, signals, decisions, costs, "report --train")
    times = find_times(table, time, {*data.names.signals, *data.names.decisions})

    def place(row: int) -> str:
        """Say which row it is, by its time where there is one."""
        return table.place(row) if times is None else f"{times[row]:%Y-%m-%d %H:%M}"

    write_report(
        model,
        data,
        output,
        train=fitted,
        title=title,
        units=parse_units(units, [*data.names.signals, *data.names.decisions]),
        refit=refit,
        place=place,
        times=times,
        source=f"Rows are those of {table.source}.",
    )
    size = output.stat().st_size
    facts = {"report": str(output), "n_samples": len(data), "bytes": size}
    text = f"Report on {len(data)} rows: {output} ({size / 1000:.0f} kB)"
    talk.tell(
        facts,
        lambda console: console.print(text, markup=False, highlight=False, soft_wrap=True),
    )


def find_times(table: Table, wanted: str | None, used: Container[str]) -> list[datetime] | None:
    """Return when each row was: of the column that is asked for, or the first that holds times."""
    problems = Problems()
    if wanted is not None:
        chosen = table.find([wanted], "--time", problems)
        problems.raise_if_any(DataError, "report")
    else:
        chosen = tuple(j for j, name in enumerate(table.names) if name not in used)
    for j in chosen:
        times = [_time(cell) for cell in table.columns[j]]
        if times and all(time is not None for time in times):
            return [time for time in times if time is not None]
    if wanted is not None:
        raise DataError(f"--time: {wanted!r} does not hold times such as 2025-03-03 07:00")
    return None


def _time(cell: object) -> datetime | None:
    """Return the clock time in a cell of a date, with or without a time of day."""
    text = str(cell).strip()
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None) if "-" in text[1:] else None
    except ValueError:
        return None


def parse_units(items: Sequence[str], names: Sequence[str]) -> Units:
    """Return units by the names of columns, or one for all decisions.

    Examples
    --------
    >>> from feaslearn.cli.report import parse_units
    >>> parse_units(["plant_*=MW", "price=EUR/MWh"], ["price", "plant_1", "plant_2"])
    {'plant_1': 'MW', 'plant_2': 'MW', 'price': 'EUR/MWh'}
    """
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
