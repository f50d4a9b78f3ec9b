"""The commands, one function each; the work is done elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from feaslearn import __version__

app = typer.Typer(
    name="feaslearn",
    help="Learn the constraints behind decisions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Scripts = Annotated[
    list[str] | None, typer.Argument(help="Names without .py; all of them where none is given.")
]


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
    del version  # the callback has dealt with it


@app.command()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the HTML report is written.")
    ] = Path("demo_report.html"),
) -> None:
    """Fit four models on built-in data, print a table and write a report."""
    from feaslearn.cli.demo import run

    run(Console(), output)


@app.command()
def reproduce(names: Scripts = None) -> None:
    """Run the experiments of the paper (in a checkout of the repository)."""
    _run_scripts("experiments", names)


@app.command()
def bench(names: Scripts = None) -> None:
    """Run the benchmarks (in a checkout of the repository)."""
    _run_scripts("benchmarks", names)


def _run_scripts(folder: str, names: list[str] | None) -> None:
    from feaslearn.cli.scripts import ScriptsNotFoundError, run

    try:
        failed = run(folder, names or [], Console())
    except ScriptsNotFoundError as error:
        _complain(error)
        raise typer.Exit(2) from None
    if failed:
        _complain(f"failed: {', '.join(failed)}")
        raise typer.Exit(1)


def _complain(message: object) -> None:
    typer.echo(f"feaslearn: {message}", err=True)


def main() -> None:
    """Run the command line; our own errors end it with one message and exit code 1."""
    try:
        app()
    except Exception as error:
        # Imported here: it loads scikit-learn, which `feaslearn --version` does not need.
        from feaslearn.exceptions import FeaslearnError

        if not isinstance(error, FeaslearnError | OSError):
            raise
        _complain(error)
        raise SystemExit(1) from None
