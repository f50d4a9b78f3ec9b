"""``feaslearn export``: the learned region in formats that other tools read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.atomic import check_writable, write_bytes
from feaslearn.cli.columns import signals_for
from feaslearn.cli.streams import hand_over
from feaslearn.cli.talk import Talk
from feaslearn.exceptions import DataError, Problems
from feaslearn.export.files import program_text
from feaslearn.export.tables import map_text, table_text
from feaslearn.export.verification import verify
from feaslearn.io.table import Table
from feaslearn.messages import did_you_mean
from feaslearn.region import Region
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names

Array = NDArray[np.float64]


class Format(NamedTuple):
    """A way to write a region: what it holds, and the text of the file with the names in it."""

    holds: str
    render: Callable[[Region], tuple[str, dict[str, str]]]


def table(contents: str) -> Callable[[Region], tuple[str, dict[str, str]]]:
    """Return what writes a table, whose columns have the names of the decisions."""
    return lambda region: (table_text(region, contents), {name: name for name in region.names})


def program(form: str) -> Callable[[Region], tuple[str, dict[str, str]]]:
    """Return what writes a linear program, whose columns may need other names."""
    return lambda region: program_text(region, form)


#: A new format is one entry here.
FORMATS: dict[str, Format] = {
    "vertices": Format("CSV, one vertex in each row", table("vertices")),
    "halfspaces": Format("CSV, one inequality or equality in each row", table("halfspaces")),
    "mps": Format("a linear program in the MPS format, without an objective", program("mps")),
    "lp": Format("a linear program in the LP format, without an objective", program("lp")),
}


def export(
    model: RegionRegressor,
    signal: Array | None,
    name: str,
    output: Path | None,
    talk: Talk,
    *,
    check: bool = False,
) -> None:
    """Write the region at a signal to a file, or to standard output.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.
    signal : ndarray of shape (K,) or None
        The signal; None writes the map of all of them.
    name : str
        A key of `FORMATS`, or "map".
    output : Path or None
        The file; None is standard output.
    talk : Talk
        What is said.
    check : bool, default=False
        Whether to compare optima over what is written with our own first.
    """
    if signal is not None and name not in FORMATS:
        known = [*FORMATS, "map"]
        raise DataError(f"--format: {name!r} is not known; {did_you_mean(name, known)}")
    if output is not None:
        check_writable(output)
    if signal is None:
        decisions = decision_names(model)
        text, names = map_text(model), {each: each for each in decisions}
        facts: dict[str, Any] = {"format": name, "decisions": decisions, "names": names}
    else:
        region = model.region(signal)
        text, names = FORMATS[name].render(region)
        facts = {"format": name, "decisions": region.names, "names": names}
        if check:
            facts["largest_difference"] = verify(region, name).checks[0].largest_difference
    if output is not None:
        write_bytes(output, text.encode("utf-8"))
        facts["output"] = str(output)
        talk.tell(facts, lambda console: _say(console, output, facts))
    elif talk.as_json:
        talk.tell(facts | {"text": text}, lambda _: None)
    else:
        hand_over(text)


def _say(console: Any, output: Path, facts: dict[str, Any]) -> None:
    """Say what was written, and which decisions have another name there."""
    console.print(f"{facts['format']}: {output}")
    for old, new in facts["names"].items():
        if old != new:
            console.print(f"{old!r} is {new} there", markup=False)
    if "largest_difference" in facts:
        difference = facts["largest_difference"]
        console.print(f"10 random optima differ from our own by at most {difference:.1e}")


def signal_of_text(model: RegionRegressor, items: Sequence[str]) -> Array:
    """Return the signal of ``name=number`` items, one for each signal of the model."""
    names = getattr(model, "feature_names_in_", None)
    labels = [str(label) for label in (range(model.n_features_in_) if names is None else names)]
    problems, values = Problems(), dict.fromkeys(labels, np.nan)
    for item in items:
        label, _, text = (part.strip() for part in item.rpartition("="))
        if label not in values:
            problems.add(f"{item!r} does not set a signal; {did_you_mean(label, labels)}")
            continue
        try:
            values[label] = float(text)
        except ValueError:
            problems.add(f"{item!r} gives no number to a signal")
    missing = [label for label, value in values.items() if not np.isfinite(value)]
    if missing and not len(problems):
        problems.add(f"no number is given to {', '.join(map(repr, missing))}")
    problems.raise_if_any(DataError, "--at")
    return np.array([values[label] for label in labels])


def signal_of_row(model: RegionRegressor, table: Table, row: int, signals: Sequence[str]) -> Array:
    """Return the signal in a row of a table, counted from 1 below the header."""
    if not 1 <= row <= len(table):
        raise DataError(f"--row: {row} is not a row of {table.source}, which has {len(table)}")
    problems = Problems()
    cells = [column[row - 1 : row] for column in table.columns]
    one = Table(table.source, table.names, cells, lambda _: table.place(row - 1))
    frame = signals_for(model, one, signals, problems)
    problems.raise_if_any(DataError, "export")
    return np.asarray(frame.to_numpy()[0])
