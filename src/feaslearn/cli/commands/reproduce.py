"""``feaslearn reproduce``: the tables and figures of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from feaslearn.cli.run import BAD_INPUT
from feaslearn.cli.talk import complain


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAMES]", help="Tables and figures; all where none is given."),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="LIST", help="Such as 0-9, the default, or 0,3,7."),
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
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where to write (results)."),
    ] = None,
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

    A finished cell, one row with one seed, is kept and not run again; an interrupted run goes on
    where it stopped. Writes CSV, Markdown and figures, and one page: results/README.md. Names:
    all, or what `feaslearn reproduce nothing` lists.

    \b
    Examples:
      $ feaslearn reproduce all --quick
      $ feaslearn reproduce table1 power5 --seeds 0-2
    """
    from feaslearn.cli.checkout import ScriptsNotFoundError
    from feaslearn.cli.reproduce import run

    try:
        code = run(
            names or [],
            seeds=seeds,
            quick=quick,
            solver_seconds=solver_seconds,
            at_most=at_most,
            output=output,
            jobs=jobs,
            scheduler=scheduler,
            again=again,
            no_run=no_run,
        )
    except ScriptsNotFoundError as error:
        complain(error)
        raise typer.Exit(BAD_INPUT) from None
    raise typer.Exit(code)
