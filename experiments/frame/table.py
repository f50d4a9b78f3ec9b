"""One table as Markdown and as CSV: ours with its spread, and the paper's beside it."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from experiments.frame.experiment import Experiment, Row
from experiments.frame.found import Found, MissingCellsError, short, with_error

#: Written where there is nothing to write.
NOTHING = "–"


def markdown(experiment: Experiment, rows: list[Row], found: Found) -> str:
    """Return the table; the paper's number stands in brackets behind ours."""
    shown = {
        key: label
        for key, label in experiment.columns.items()
        if any(_number(found, row.name, key) is not None or key in row.paper for row in rows)
    }
    lines = [
        "| | " + " | ".join(shown.values()) + " | seeds |",
        "|---|" + "---:|" * (len(shown) + 1),
    ]
    for row in rows:
        cells = [_cell(row, found, key) for key in shown]
        lines.append(f"| {row.name} | {' | '.join(cells)} | {len(found.seeds(row.name))} |")
    return "\n".join(lines)


def as_csv(experiment: Experiment, rows: list[Row], found: Found) -> str:
    """Return one line for each row and column: mean, standard error, seeds and the paper's."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "column", "mean", "standard_error", "seeds", "paper"])
    for row in rows:
        for key in experiment.columns:
            number = _number(found, row.name, key)
            paper = row.paper.get(key, "")
            if number is None and paper == "":
                continue
            mean, error = ("", "") if number is None else (_digits(number[0]), _digits(number[1]))
            writer.writerow([row.name, key, mean, error, len(found.seeds(row.name)), paper])
    return text.getvalue()


def _cell(row: Row, found: Found, key: str) -> str:
    number = _number(found, row.name, key)
    ours = NOTHING if number is None else _told(key, number)
    theirs = row.paper.get(key)
    if theirs is None:
        return ours
    return f"{ours} [{theirs if isinstance(theirs, str) else short(float(theirs))}]"


def _told(key: str, number: tuple[float, float]) -> str:
    return short(number[0]) if key == "seconds" else with_error(*number)


def _number(found: Found, row: str, key: str) -> tuple[float, float] | None:
    try:
        return found.mean(row, key), found.standard_error(row, key)
    except (MissingCellsError, ValueError, TypeError):
        return None


def _digits(value: Any) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
