"""``feaslearn report``: one page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.talk import Talk


def report(
    model: options.ModelFile,
    data: options.DataFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where the page is written."),
    ] = Path("report.html"),
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
        list[str] | None,
        typer.Option(
            "--units",
            metavar="UNITS",
            help="One for all decisions, or by column or pattern: 'plant_*=MW,cost_1=EUR/MWh'.",
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
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Write one page about a model: what it learned, how good it is, how sure.

    The page needs no network. The learned limits come first, then what rows rest on, when each
    limit binds, the region with a slider for each signal, the model beside simpler predictors on
    rows that were held out, the rows that fit worst and problems of the data. Needs the extra
    "report".

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn demo --data unseen.csv --samples 50 --seed 1
      $ feaslearn report power.json power.csv -o power.html
      $ feaslearn report power.json unseen.csv --train power.csv --units 'plant_*=MW' -o unseen.html
    """
    from feaslearn.cli.columns import split
    from feaslearn.cli.outputs import check_output
    from feaslearn.cli.report import report as command
    from feaslearn.io import load, read_table

    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        check_output(output, model, data, train)
        tables = [
            read_table(path, encoding=encoding, delimiter=delimiter, max_bytes=max_bytes)
            for path in (data, train)
            if path is not None
        ]
        command(
            load(model, max_bytes=max_bytes),
            tables[0],
            tables[1] if train is not None else None,
            signals=split(signals),
            decisions=split(decisions),
            costs=split(costs),
            units=split(units),
            time=time,
            title=title or f"{model.name} on {data.name}",
            refit=refit,
            output=output,
            talk=talk,
        )
