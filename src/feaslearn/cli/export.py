"""``feaslearn export``: the learned region at one signal, or at all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from feaslearn.cli import options
from feaslearn.cli.console import Console, write
from feaslearn.cli.options import split

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

    from feaslearn.arrays import Array
    from feaslearn.io.tables import Table
    from feaslearn.regressor import RegionRegressor

#: Files of a region at one signal: tables and linear programs.
TABLES, PROGRAMS = ("vertices", "halfspaces"), ("mps", "lp")


def export(
    model: options.ModelFile,
    at: Annotated[
        options.Columns,
        options.columns("--at", "The signal: name=number,name=number,...", "SIGNAL"),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Or a table that holds the signal."),
    ] = None,
    row: Annotated[
        int,
        typer.Option(
            "--row",
            metavar="NUMBER",
            help="Its row; the first below the names is 1, as in messages.",
        ),
    ] = 1,
    signals: options.Signals = None,
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="vertices, halfspaces, mps, lp or map.")
    ] = "vertices",
    output: Annotated[
        Path | None, options.output("Where to write; - prints.", printed=True)
    ] = None,
    *,
    console: Console,
) -> None:
    """Write the region that was learned, at one signal, or with map at all of them.

    map: CSV, one constraint in each row with its name, its coefficients and those of the signals on
    its right-hand side; it needs no signal. vertices: CSV, one in each row. halfspaces: CSV, one
    inequality or equality in each row, with its coefficients, <= or =, and its limit. mps, lp: a
    linear program that every solver reads, with rows and columns named after facets and decisions;
    it also holds regions with too many vertices to list.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.npz
      $ feaslearn export power.npz --format map -o constraints.csv
      $ feaslearn export power.npz --data power.csv --row 3
      $ feaslearn export power.npz --data power.csv --format halfspaces -o region.csv
      $ feaslearn export power.npz --data power.csv --format mps -o region.mps
    """
    from feaslearn.cli.files import file_or_print
    from feaslearn.export.files import program_text
    from feaslearn.export.tables import map_text, table_text
    from feaslearn.io.whole_files import check_writable, write_bytes
    from feaslearn.messages import rows_from
    from feaslearn.regressor.reader import decision_names

    _check_format(form, at is not None, data is not None)
    written = file_or_print(output, model, data)
    fitted = console.model(model)
    if data is not None:
        signal = signal_of_row(fitted, console.table(data), row, signals)
    elif at is not None:
        signal = signal_of_text(fitted, split(at))
    if written is not None:
        check_writable(written)
    decisions = decision_names(fitted)
    facts: dict[str, Any] = {"format": form, "decisions": decisions}
    names = {name: name for name in decisions}
    # The one signal is that row of the table.
    with rows_from(row):
        if form == "map":
            text = map_text(fitted)
        else:
            region = fitted.region(signal)
            facts["decisions"] = region.names
            if form in TABLES:
                text = table_text(region, form)
            else:
                text, names = program_text(region, form)
        facts["names"] = names
    if written is not None:
        write_bytes(written, text.encode("utf-8"))
        facts["output"] = str(written)
        console.print(facts, lambda rich: _say(rich, written, facts))
    elif console.as_json:
        console.print(facts | {"text": text}, lambda _: None)
    else:
        write(text)


def _check_format(form: str, at: bool, data: bool) -> None:
    """Refuse an unknown format, or a signal that is missing or given twice."""
    from feaslearn.exceptions import DataError
    from feaslearn.messages import did_you_mean

    if form == "map":
        if at or data:
            raise typer.BadParameter("map is the region at all signals: no --at, --data")
    elif at == data:
        raise typer.BadParameter("give the signal once: with --at, or with --data and --row")
    elif form not in (*TABLES, *PROGRAMS):
        known = [*TABLES, *PROGRAMS, "map"]
        raise DataError(f"--format: {form!r} is not known; {did_you_mean(form, known)}")


def _say(console: RichConsole, output: Path, facts: dict[str, Any]) -> None:
    """Say what was written, and which decisions have another name there."""
    console.print(f"{facts['format']}: {output}")
    for old, new in facts["names"].items():
        if old != new:
            console.print(f"{old!r} is {new} there", markup=False)


def signal_of_text(model: RegionRegressor, items: Sequence[str]) -> Array:
    """Return the signal of ``name=number`` items, one for each signal of the model."""
    import numpy as np

    from feaslearn.cli.columns import number
    from feaslearn.exceptions import DataError, Problems
    from feaslearn.messages import did_you_mean

    names = getattr(model, "feature_names_in_", None)
    labels = [str(label) for label in (range(model.n_features_in_) if names is None else names)]
    problems, values = Problems(), dict.fromkeys(labels, np.nan)
    for item in items:
        label, _, text = (part.strip() for part in item.rpartition("="))
        if label not in values:
            problems.add(f"{item!r} does not set a signal; {did_you_mean(label, labels)}")
            continue
        value = number(text)
        if value is None:
            problems.add(f"{item!r} gives no number to a signal")
        else:
            values[label] = value
    missing = [label for label, value in values.items() if not np.isfinite(value)]
    if missing and not len(problems):
        problems.add(f"no number is given to {', '.join(map(repr, missing))}")
    problems.raise_if_any(DataError, "--at")
    return np.array([values[label] for label in labels])


def signal_of_row(
    model: RegionRegressor, table: Table, row: int, signals: options.Columns
) -> Array:
    """Return the signal in a row of a table, counted from 1 below the header."""
    from feaslearn.cli.columns import signals_for
    from feaslearn.exceptions import DataError, Problems
    from feaslearn.io.tables import Table

    if not 1 <= row <= len(table):
        raise DataError(f"--row: {row} is not a row of {table.source}, which has {len(table)}")
    problems = Problems()
    one = Table(table.source, table.data.iloc[row - 1 : row], lambda _: table.place(row - 1))
    frame = signals_for(model, one, signals, problems)
    problems.raise_if_any(DataError, "export")
    signal: Array = frame.to_numpy()[0]
    return signal
