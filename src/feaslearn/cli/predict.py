"""``feaslearn predict``: decisions for the rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from feaslearn.atomic import check_writable
from feaslearn.cli.columns import costs_for, signals_for
from feaslearn.cli.streams import hand_over
from feaslearn.cli.talk import Talk, complain
from feaslearn.exceptions import DataError, Problems, UnseenLimitWarning
from feaslearn.inference.trust import MEANINGS, STATUSES, Trust, needs_warning, unseen_text
from feaslearn.io.table import Table
from feaslearn.io.table_file import check_suffix, csv_text, write_table
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names

Array = NDArray[np.float64]

#: Columns that say what a decision rests on, behind those of the decisions.
TRUST_COLUMNS = ("trust", "rests_on")
REPAIR = "If you know these limits, fit with --lower and --upper"


def predict(
    model: RegionRegressor,
    table: Table,
    *,
    signals: Sequence[str],
    costs: Sequence[str],
    keep: Sequence[str],
    output: Path | None,
    trust: bool,
    interval: float | None,
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
    trust : bool
        Whether two more columns say what each decision rests on.
    interval : float or None
        Level of bands for the observed decision, of all decisions of a row.
    talk : Talk
        What is said.
    """
    if output is not None:
        check_suffix(output)
        check_writable(output)
    problems = Problems()
    X = signals_for(model, table, signals, problems)
    prices = costs_for(model, table, costs, problems)
    added = TRUST_COLUMNS if trust else ()
    kept = _kept(table, keep, (*decision_names(model), *added), problems)
    problems.raise_if_any(DataError, "predict")
    with warnings.catch_warnings():
        # What is said below says it for this table.
        warnings.simplefilter("ignore", UnseenLimitWarning)
        found, rests = model.predict(X.to_numpy(), costs=prices, return_trust=True)
    decisions = np.asarray(found).reshape(len(X), -1)
    names = [*(table.names[j] for j in kept), *decision_names(model)]
    # In CSV, cells stay the texts that they were.
    typed = talk.as_json if output is None else output.suffix.lower() == ".parquet"
    columns: list[Any] = [list(table.cells(j) if typed else table.columns[j]) for j in kept]
    columns += [column.tolist() for column in decisions.T]
    if interval is not None:
        ends = _bands(model, X.to_numpy(), prices, interval)
        names += list(ends)
        columns += ends.values()
    said = [rests.status.tolist(), rests.rests_on.tolist()]
    counts = {"counts": rests.counts, "unseen_limits": list(rests.limits)}
    if output is not None:
        write_table(output, [*names, *added], [*columns, *said[: len(added)]])
        facts = {"output": str(output), "n_samples": len(X), **counts}
        talk.tell(facts, lambda console: _show(rests, output, trust, console))
    elif talk.as_json:
        rows = list(zip(*columns, strict=True))
        facts = {"columns": names, "rows": rows, **counts, **dict(zip(added, said, strict=False))}
        talk.tell(facts, lambda _: None)
    else:
        columns += said[: len(added)]
        hand_over(csv_text([*names, *added], zip(*columns, strict=True)))
        if needs_warning(rests, bool(costs)) and not talk.quiet:
            complain(f"warning: {unseen_text(rests)}. {REPAIR}")


def _bands(
    model: RegionRegressor, X: Array, prices: Array | None, level: float
) -> dict[str, list[float]]:
    """Return columns with the ends of bands."""
    if model.conformal_ is None:
        raise DataError(
            "--interval: the model has no bands; fit it again, without --no-check, or use "
            "model.conformalize"
        )
    bands = model.predict_interval(X, costs=prices, confidence_level=level)
    ends = {}
    for j, name in enumerate(decision_names(model)):
        ends[f"{name} lower"] = bands.lower[:, j].tolist()
        ends[f"{name} upper"] = bands.upper[:, j].tolist()
    return ends


def _show(rests: Trust, output: Path, columns: bool, console: Console) -> None:
    """Print how many decisions rest on what."""
    count = len(rests.status)
    console.print(f"{count} decision{'s' if count != 1 else ''}: {output}")
    for name, number in rests.counts.items():
        mark = " " if name in STATUSES[:2] else "!"
        console.print(f"{mark}{number:>6}  {MEANINGS[name]}")
    if rests.unseen.any():
        where = " The columns trust and rests_on say which rows." if columns else ""
        console.print(f"! {unseen_text(rests)}.{where} {REPAIR}")


def _kept(
    table: Table, keep: Sequence[str], names: Sequence[str], problems: Problems
) -> tuple[int, ...]:
    """Find the columns to copy; what is predicted has its own, which a pattern leaves out."""
    found = table.find(keep, "--keep", problems)
    for name in names:
        what = "a column" if name in TRUST_COLUMNS else "a decision"
        if name in keep:
            problems.add(
                f"--keep: {name!r} is the name of {what} that is predicted, and two columns of "
                "one name cannot be told apart; rename the one in the table"
            )
    return tuple(j for j in found if table.names[j] not in names)
