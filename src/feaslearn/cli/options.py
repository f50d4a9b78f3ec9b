"""The options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Sense(StrEnum):
    """Whether decisions minimise or maximise their cost."""

    MIN = "min"
    MAX = "max"


class Norm(StrEnum):
    """The norms of the losses."""

    L2 = "l2"
    L1 = "l1"
    LINF = "linf"


class Losses(StrEnum):
    """What ``evaluate`` measures."""

    MAIN = "main"
    ALL = "all"


Columns = list[str] | None
#: As in feaslearn.io, which is loaded when it is needed.
MAX_BYTES = 2**30

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as fit writes it.")]
DataFile = Annotated[Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file.")]
Signals = Annotated[
    Columns,
    typer.Option("--signals", metavar="COLUMNS", help="Columns of the signals: names, patterns."),
]
Decisions = Annotated[
    Columns,
    typer.Option(
        "--decisions", metavar="COLUMNS", help="Columns of the decisions: names, patterns."
    ),
]
Costs = Annotated[
    Columns,
    typer.Option(
        "--costs", metavar="COLUMNS", help="Costs in place of the model's own: columns or numbers."
    ),
]
Cost = Annotated[
    Columns,
    typer.Option(
        "--cost",
        metavar="COLUMNS",
        help="Cost of each decision, in their order: columns, which then are signals too, numbers "
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
