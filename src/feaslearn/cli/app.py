"""The commands, one function each; what is heavy is imported when a command runs.

The help of each command ends with examples that run as they are printed, in this order, in an
empty folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from feaslearn import __version__
from feaslearn.cli import options
from feaslearn.cli.check import check, explain
from feaslearn.cli.console import Console, run, with_console
from feaslearn.cli.export import export
from feaslearn.cli.fit import fit
from feaslearn.cli.predict import predict
from feaslearn.cli.report import report

app = typer.Typer(
    name="feaslearn",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    # The examples keep their lines only in plain help.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"feaslearn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Learn the constraints behind decisions.

    Exit codes: 0 all went well, 1 the answer is no or the run was interrupted, 2 what was given
    cannot be used (one line on standard error says why, and nothing is written). Messages count
    rows of data from 1 and lines of a CSV file with its header.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn check power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*'
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.npz
      $ feaslearn predict power.npz power.csv -o decisions.csv
      $ feaslearn explain power.npz power.csv --row 3
    """
    del version  # the callback has dealt with it


def demo(
    output: Annotated[Path, options.output("Where the HTML report is written.")] = Path(
        "demo_report.html"
    ),
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="FILE", help="Write the data of the demo as CSV or Parquet, and stop."
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", metavar="NUMBER", min=1, max=10**9, help="Rows of --data.")
    ] = 100,
    seed: Annotated[
        int, typer.Option("--seed", metavar="NUMBER", min=0, help="Seed of --data.")
    ] = 0,
    *,
    console: Console,
) -> None:
    """Learn the limits of a hidden grid from a log, and write a report about it.

    Prints the learned limits beside the hidden ones, how well they predict beside regressors, and
    what-if answers with what they rest on. With --data, write a table instead, to try the other
    commands on: prices and demands (cost_*, demand_*) and what three plants generate (plant_*).

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn demo --data unseen.csv --samples 50 --seed 1
    """
    from feaslearn.cli import demo as command
    from feaslearn.cli.files import check_output

    if data is None:
        check_output(output)
        command.run(output, console)
    else:
        command.write_data(data, samples, seed, console)


app.command()(with_console(demo, "encoding", "delimiter", "max_bytes"))
for command in (check, fit, predict, explain, report):
    app.command()(with_console(command))
app.command()(with_console(export, "encoding", "delimiter"))


def main() -> None:
    """Run the command line; see `feaslearn.cli.console` for the exit codes."""
    sys.exit(run(app))
