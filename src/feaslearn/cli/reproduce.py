"""``feaslearn reproduce``: the tables and figures of the paper."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli import options
from feaslearn.cli.console import BAD_INPUT, error


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAMES]", help="Tables and figures; all where none is given."),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="LIST", help="Such as 100-109, the default, or 0,3,7."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes and one seed, into results/quick.")
    ] = False,
    solver_seconds: Annotated[
        float | None,
        typer.Option("--solver-seconds", metavar="NUMBER", help="Limit of each solver run (60)."),
    ] = None,
    at_most: Annotated[
        float | None,
        typer.Option("--at-most", metavar="SECONDS", help="Leave out cells that take longer."),
    ] = None,
    output: Annotated[Path | None, options.output("Where to write (results).", "FOLDER")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="NUMBER", help="Cells at a time (1).")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="A Dask scheduler whose workers run the cells, such as tcp://scheduler:8786.",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Run finished cells once more.")] = False,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Only write the page from finished cells.")
    ] = False,
) -> None:
    """Run the experiments of the paper (in a checkout of the repository).

    A cell, one row with one seed, that this version of the library has finished is kept and not run
    again; an interrupted run resumes where it stopped. Writes CSV, Markdown and figures, and one
    page: results/README.md. Names: all, or what `feaslearn reproduce nothing` lists.

    \b
    Examples:
      $ feaslearn reproduce all --quick
      $ feaslearn reproduce table1 power5 --seeds 0-2
    """
    here = Path.cwd()
    roots = (root for root in (here, *here.parents) if (root / "src" / "feaslearn").is_dir())
    checkout = next((root for root in roots if (root / "experiments").is_dir()), None)
    if checkout is None:
        error(
            "experiments/ is part of the repository, not of the installed package; run this "
            "inside a checkout"
        )
        raise typer.Exit(BAD_INPUT)
    given = {
        "--seeds": seeds,
        "--solver-seconds": solver_seconds,
        "--at-most": at_most,
        # The experiments run at the top of the checkout, where a relative path means another one.
        "--output": None if output is None else output.resolve(),
        "--jobs": jobs,
        "--scheduler": scheduler,
        "--quick": quick,
        "--again": again,
        "--no-run": no_run,
    }
    command = [sys.executable, "-m", "experiments", *(names or ["all"])]
    for option, value in given.items():
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            command += [option, str(value)]
    with subprocess.Popen(command, cwd=checkout) as process:
        while process.returncode is None:
            # An interrupt reaches both: the experiments write what is finished, then they end.
            with suppress(KeyboardInterrupt):
                process.wait()
    raise typer.Exit(process.returncode)
