"""``feaslearn predict``: decisions for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.talk import Talk


def predict(
    model: options.ModelFile,
    data: options.DataFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="A .csv or .parquet file; - prints.",
            show_default="printed",
        ),
    ] = None,
    costs: options.Costs = None,
    signals: options.Signals = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMNS",
            help="Columns to copy to the output; patterns leave out those of the decisions.",
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust/--no-trust",
            help="Columns trust and rests_on: what the data say of the limits of each decision.",
        ),
    ] = True,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="LEVEL",
            help="Columns lower and upper of each decision: bands, such as 0.9, for all of a row.",
        ),
    ] = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Predict the decision for each row of a table.

    Signals are found by the names they had in the fit, in any order. With --costs the question is
    what would be decided if costs were others than the signals say.

    Column trust says what a decision rests on: limits that the data determine (identified) or show
    (seen), one that no price ever pushed to (not seen), a signal out of range, an empty region
    (relaxed) or a tie; column rests_on names the limits.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn demo --data unseen.csv --samples 5 --seed 1
      $ feaslearn predict power.json unseen.csv
      $ feaslearn predict power.json unseen.csv --interval 0.9 -o bands.csv
      $ feaslearn predict power.json unseen.csv --costs 0.9,0.4,1.2 --keep 'demand_*' -o whatif.csv
    """
    from feaslearn.cli.columns import split
    from feaslearn.cli.outputs import file_or_print
    from feaslearn.cli.predict import predict as command
    from feaslearn.io import load, read_table

    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        written = file_or_print(output, model, data)
        command(
            load(model, max_bytes=max_bytes),
            read_table(data, encoding=encoding, delimiter=delimiter, max_bytes=max_bytes),
            signals=split(signals),
            costs=split(costs),
            keep=split(keep),
            output=written,
            trust=trust,
            interval=interval,
            talk=talk,
        )
