"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

#: As in feaslearn.io, which is loaded when it is needed.
MAX_BYTES = 2**30


def split(texts: list[str] | None) -> list[str]:
    """Return the items of an option that was given several times, or as lists with commas."""
    items = [item.strip() for text in texts or () for item in text.split(",")]
    return [item for item in items if item]


def columns(option: str, text: str, metavar: str = "COLUMNS") -> Any:
    """Return an option that holds a list, which `split` takes apart."""
    return typer.Option(option, metavar=metavar, help=text)


def output(text: str, metavar: str = "FILE", *, printed: bool = False) -> Any:
    """Return the option of what a command writes, or prints if it is not given."""
    default = "printed" if printed else True
    return typer.Option("--output", "-o", metavar=metavar, help=text, show_default=default)


class Sense(StrEnum):
    """Whether decisions minimise or maximise their cost."""

    MIN = "min"
    MAX = "max"


Columns = list[str] | None

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as fit writes it.")]
DataFile = Annotated[Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file.")]
Signals = Annotated[Columns, columns("--signals", "Columns of the signals: names, patterns.")]
Decisions = Annotated[Columns, columns("--decisions", "Columns of the decisions: names, patterns.")]
Costs = Annotated[Columns, columns("--costs", "Costs instead of the model's: columns or numbers.")]
Cost = Annotated[
    Columns,
    columns(
        "--cost",
        "Cost of each decision, in their order: columns, which then are signals too, numbers "
        "that never change, or sums such as 9.5*gas+2.",
    ),
]
Optimised = Annotated[Sense, typer.Option("--sense", help="Are costs paid, or earned?")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Verbose = Annotated[
    int, typer.Option("--verbose", "-v", count=True, help="Print the log; -vv every iteration.")
]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME", help="Letters of a CSV file.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="MARK",
        help="What stands between the cells of a CSV file.",
        show_default="found",
    ),
]
MaxBytes = Annotated[
    int,
    typer.Option(
        "--max-bytes",
        metavar="NUMBER",
        min=1,
        help="Larger files are refused.",
        show_default="1 GiB",
    ),
]

#: The options that most commands end with, and their defaults.
SHARED: dict[str, tuple[Any, Any]] = {
    "encoding": (Encoding, "utf-8"),
    "delimiter": (Delimiter, None),
    "max_bytes": (MaxBytes, MAX_BYTES),
    "as_json": (AsJson, False),
    "quiet": (Quiet, False),
    "verbose": (Verbose, 0),
}
