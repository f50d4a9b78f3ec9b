"""``feaslearn fit``: from a table to a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.run import NO
from feaslearn.cli.talk import Talk


def fit(
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA...", help="A CSV or Parquet file, or several Parquet files or folders."
        ),
    ],
    decisions: Annotated[
        list[str],
        typer.Option(
            "--decisions", metavar="COLUMNS", help="Columns of the decisions: names, patterns."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where the model file is written."),
    ],
    signals: options.Signals = None,
    cost: options.Cost = None,
    hypothesis: Annotated[
        str, typer.Option("--hypothesis", metavar="NAME", help="What the region can be; see above.")
    ] = "auto",
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            metavar="NAME",
            help="predictability or suboptimality; with :l1 or :linf, in it.",
        ),
    ] = "predictability",
    features: Annotated[
        str,
        typer.Option(
            "--features", metavar="NAME", help="non-cost, all, scale, poly:DEGREE or spline:KNOTS."
        ),
    ] = "non-cost",
    trainer: Annotated[
        str,
        typer.Option(
            "--trainer", metavar="NAME", help="auto, or a trainer such as gradient-descent."
        ),
    ] = "auto",
    lower: Annotated[
        list[str] | None,
        typer.Option(
            "--lower",
            metavar="BOUNDS",
            help="Known lower bounds: one number, or for each decision a number, a signal or none.",
        ),
    ] = None,
    upper: Annotated[
        list[str] | None,
        typer.Option("--upper", metavar="BOUNDS", help="Known upper bounds, likewise."),
    ] = None,
    balance: Annotated[
        list[str] | None,
        typer.Option(
            "--balance",
            metavar="COLUMNS",
            help="Signals (or numbers) whose sum is known to be that of the decisions.",
        ),
    ] = None,
    sense: options.Optimised = options.Sense.MIN,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="COLUMN", help="Column with the weight of each row."),
    ] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out rows with missing signals.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Measure on rows held out, by fits to parts; calibrates bands, too.",
        ),
    ] = True,
    seed: Annotated[
        int, typer.Option("--seed", metavar="NUMBER", min=0, help="The same seed, the same model.")
    ] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="NUMBER", help="Threads; -1 takes all processors.")
    ] = 1,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds", metavar="NUMBER", help="Limit on the time; the best so far is written."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Keeps finished starts, folds and members; the same command resumes from them. "
            "Removed at the end.",
        ),
    ] = None,
    chunks: Annotated[
        bool | None,
        typer.Option(
            "--chunks/--no-chunks",
            help="Read Parquet files piece by piece. Without a word: where they do not fit.",
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option("--memory", metavar="AMOUNT", help="What pieces may take at a time."),
    ] = "1GB",
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Learn a region from a table, and write a model file.

    Columns are named one after the other, with commas between, or by patterns: 'cost_*'. A
    pattern of the signals leaves out the columns that other options name. Empty cells among the
    decisions are decisions that were not observed.

    \b
    The region can be:
      auto                  chosen by cross-validation
      facets, facets:30     half-spaces, 20 or 30 at most
      blend                 a weighted sum of regions of half-spaces
      simplex:6             what 6 policies span; also box, l1ball, l2ball, hypersimplex:6:2,
                            the affine images of a set (affine:simplex:6 is the same)
      scaled:box            a set that is scaled and moved; also scaled:simplex and the others
      ternary:simplex:6     an image of a set whose matrix has entries -1, 0 and 1
      minkowski:pairs       a weighted sum of given sets; also hypersimplices, box, windows:2:3
      linear                a single point, the linear policy
    A name that is not known is answered with those that are.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn fit power.csv --signals 'demand_*' --decisions plant_1,plant_3 \\
          --cost 1.5,2.5 --hypothesis scaled:box --features poly:2 --quiet -o small.json
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --lower 0 --upper 3.5 --balance 'demand_*' --hypothesis facets \\
          -o known.json
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --checkpoint run.ckpt -o power.json
      $ feaslearn fit data/*.parquet --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis minkowski:hypersimplices --chunks -o large.json
    """
    from feaslearn.cli.columns import split
    from feaslearn.cli.data_files import open_files
    from feaslearn.cli.fit import Fit
    from feaslearn.cli.outputs import check_apart, check_output

    talk = Talk(as_json, quiet, verbose)
    with talk.speaking():
        check_apart(output, checkpoint)
        files = open_files(
            data, chunks, encoding=encoding, delimiter=delimiter, max_bytes=max_bytes
        )
        check_output(output, *files.read)
        check_output(checkpoint, *files.read, option="--checkpoint")
        asked = Fit(
            signals=split(signals),
            decisions=split(decisions),
            cost=split(cost),
            weights=weights,
            hypothesis=hypothesis,
            loss=loss,
            features=features,
            trainer=trainer,
            lower=split(lower),
            upper=split(upper),
            balance=split(balance),
            sense=sense.value,
            seed=seed,
            jobs=jobs,
            max_seconds=max_seconds,
            checkpoint=checkpoint,
            memory=memory,
            drop_missing=drop_missing,
            check=check,
        )
        if not asked.run(files, output, talk):
            raise typer.Exit(NO)
