"""``feaslearn explain``: what a model knows, and why it decides as it does in one row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.talk import Talk


def explain(
    model: options.ModelFile,
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="A CSV or Parquet file with the row.")
    ] = None,
    row: Annotated[
        int, typer.Option("--row", metavar="NUMBER", min=1, help="Row of data, from 1.")
    ] = 1,
    costs: options.Costs = None,
    signals: options.Signals = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Say what the data of a fit showed; with data, why the decision of one row is what it is.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn explain power.json
      $ feaslearn explain power.json power.csv --row 3
    """
    from feaslearn.cli.check import explain as command
    from feaslearn.cli.columns import split
    from feaslearn.io import load, read_table

    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        table = None
        if data is not None:
            table = read_table(data, encoding=encoding, delimiter=delimiter, max_bytes=max_bytes)
        found = load(model, max_bytes=max_bytes)
        command(found, table, row=row, signals=split(signals), costs=split(costs), talk=talk)
