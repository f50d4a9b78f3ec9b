"""``feaslearn evaluate``: the losses of a model on a table."""

from __future__ import annotations

from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.run import NO
from feaslearn.cli.talk import Talk


def evaluate(
    model: options.ModelFile,
    data: options.DataFile,
    norm: Annotated[
        options.Norm, typer.Option("--norm", help="Norm of the losses; l2 squared.")
    ] = options.Norm.L2,
    losses: Annotated[
        options.Losses,
        typer.Option("--losses", help="all: suboptimality and true losses too, which take longer."),
    ] = options.Losses.MAIN,
    at_most: Annotated[
        float | None,
        typer.Option(
            "--at-most",
            metavar="NUMBER",
            help="Exit with 1 if returned decisions are further off on average.",
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
    """Measure a model on a table of signals and decisions.

    The returned-decision loss is the distance from the model's decision to the observed one,
    predictability that to the nearest of its optimal decisions. With --losses all, suboptimality
    adds up how far the observed decision is from the region and from the least cost there.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn demo --data unseen.csv --samples 50 --seed 1
      $ feaslearn evaluate power.json unseen.csv
      $ feaslearn evaluate power.json unseen.csv --json --at-most 0.5
    """
    from feaslearn.cli.columns import split
    from feaslearn.cli.evaluate import evaluate as command
    from feaslearn.io import load, read_table

    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        passed = command(
            load(model, max_bytes=max_bytes),
            read_table(data, encoding=encoding, delimiter=delimiter, max_bytes=max_bytes),
            signals=split(signals),
            decisions=split(decisions),
            costs=split(costs),
            norm=norm.value,
            losses=losses.value,
            at_most=at_most,
            talk=talk,
        )
    if not passed:
        raise typer.Exit(NO)
