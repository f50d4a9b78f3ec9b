"""``feaslearn check``: whether a table will do, before a fit."""

from __future__ import annotations

import typer

from feaslearn.cli import options
from feaslearn.cli.run import NO
from feaslearn.cli.talk import Talk


def check(
    data: options.DataFile,
    decisions: options.Decisions,
    signals: options.Signals = None,
    cost: options.Cost = None,
    sense: options.Optimised = options.Sense.MIN,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Look at a table before a fit: roles of columns, sense, gaps, and what it cannot show.

    The exit code is 1 where a line says "no".

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn check power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*'
    """
    from feaslearn.cli.check import check as command
    from feaslearn.cli.columns import split
    from feaslearn.io import read_table

    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        fine = command(
            read_table(data, encoding=encoding, delimiter=delimiter, max_bytes=max_bytes),
            signals=split(signals),
            decisions=split(decisions),
            cost=split(cost),
            sense=sense.value,
            talk=talk,
        )
    if not fine:
        raise typer.Exit(NO)
