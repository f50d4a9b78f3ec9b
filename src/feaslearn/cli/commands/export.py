"""``feaslearn export``: the learned region at one signal, or at all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.talk import Talk


def export(
    model: options.ModelFile,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="SIGNAL", help="The signal: name=number,name=number,..."),
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
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write; - prints.",
            show_default="printed",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--verify", help="Compare optima over what is written with our own.")
    ] = False,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
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
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn export power.json --format map -o constraints.csv
      $ feaslearn export power.json --data power.csv --row 3
      $ feaslearn export power.json --data power.csv --format halfspaces -o region.csv
      $ feaslearn export power.json --data power.csv --format mps -o region.mps --verify
    """
    from feaslearn.cli.columns import split
    from feaslearn.cli.export import export as command
    from feaslearn.cli.export import signal_of_row, signal_of_text
    from feaslearn.cli.outputs import file_or_print
    from feaslearn.io import load, read_table
    from feaslearn.messages import rows_from

    if form == "map":
        if at is not None or data is not None or check:
            raise typer.BadParameter("map is the region at all signals: no --at, --data, --verify")
    elif (at is None) == (data is None):
        raise typer.BadParameter("give the signal once: with --at, or with --data and --row")
    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        written = file_or_print(output, model, data)
        fitted = load(model, max_bytes=max_bytes)
        signal = None
        if data is not None:
            signal = signal_of_row(
                fitted, read_table(data, max_bytes=max_bytes), row, split(signals)
            )
        elif at is not None:
            signal = signal_of_text(fitted, split(at))
        # The one signal is that row of the table.
        with rows_from(row):
            command(fitted, signal, form, written, talk, check=check)
