"""``feaslearn predict``: decisions for the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from feaslearn.atomic import check_writable
from feaslearn.cli.columns import costs_for, signals_for
from feaslearn.cli.streams import hand_over
from feaslearn.cli.talk import Talk
from feaslearn.exceptions import DataError, Problems
from feaslearn.io.table import Table
from feaslearn.io.table_file import check_suffix, csv_text, write_table
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names


def predict(
    model: RegionRegressor,
    table: Table,
    *,
    signals: Sequence[str],
    costs: Sequence[str],
    keep: Sequence[str],
    output: Path | None,
    talk: Talk,
) -> None:
    """Predict, and write a table: to a file, or to standard output.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.
    table : Table
        The signals, and what-if costs where there are some.
    signals, costs, keep : sequence of str
        Columns: of the signals where the model knows no names, of what-if costs, and those that
        are copied to the output.
    output : Path or None
        A ``.csv`` or ``.parquet`` file; None is standard output.
    talk : Talk
        What is said.
    """
    if output is not None:
        check_suffix(output)
        check_writable(output)
    problems = Problems()
    X = signals_for(model, table, signals, problems)
    prices = costs_for(model, table, costs, problems)
    kept = _kept(table, keep, decision_names(model), problems)
    problems.raise_if_any(DataError, "predict")
    decisions = np.asarray(model.predict(X.to_numpy(), costs=prices)).reshape(len(X), -1)
    names = [*(table.names[j] for j in kept), *decision_names(model)]
    # In CSV, cells stay the texts that they were.
    typed = talk.as_json if output is None else output.suffix.lower() == ".parquet"
    columns: list[Any] = [list(table.cells(j) if typed else table.columns[j]) for j in kept]
    columns += [column.tolist() for column in decisions.T]
    if output is not None:
        write_table(output, names, columns)
        facts = {"output": str(output), "n_samples": len(X)}
        talk.tell(facts, lambda console: console.print(f"{len(X)} decisions: {output}"))
    elif talk.as_json:
        rows = list(zip(*columns, strict=True))
        talk.tell({"columns": names, "rows": rows}, lambda _: None)
    else:
        hand_over(csv_text(names, zip(*columns, strict=True)))


def _kept(
    table: Table, keep: Sequence[str], names: Sequence[str], problems: Problems
) -> tuple[int, ...]:
    """Find the columns to copy; what is predicted has its own, which a pattern leaves out."""
    found = table.find(keep, "--keep", problems)
    for name in names:
        if name in keep:
            problems.add(
                f"--keep: {name!r} is the name of a decision that is predicted, and two columns of "
                "one name cannot be told apart; rename the one in the table"
            )
    return tuple(j for j in found if table.names[j] not in names)
