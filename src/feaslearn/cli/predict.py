"""``feaslearn predict``: decisions for the rows of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from feaslearn.cli import options
from feaslearn.cli.console import Console, error, write
from feaslearn.cli.options import split

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

    from feaslearn.arrays import Array
    from feaslearn.exceptions import Problems
    from feaslearn.inference.trust import Trust
    from feaslearn.io.tables import Table
    from feaslearn.regressor import RegionRegressor

#: Columns that say what a decision rests on, behind those of the decisions.
TRUST_COLUMNS = ("trust", "rests_on")
REPAIR = "If you know these limits, fit with --lower and --upper"


def predict(
    model: options.ModelFile,
    data: options.DataFile,
    output: Annotated[
        Path | None, options.output("A .csv or .parquet file; - prints.", printed=True)
    ] = None,
    costs: options.Costs = None,
    signals: options.Signals = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMNS",
            help="Columns to copy to the output; patterns leave out those of the decisions.",
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust/--no-trust",
            help="Columns trust and rests_on: what the data say of the limits of each decision.",
        ),
    ] = True,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="LEVEL",
            help="Columns lower and upper of each decision: bands, such as 0.9, for all of a row.",
        ),
    ] = None,
    *,
    console: Console,
) -> None:
    """Predict the decision for each row of a table.

    Signals are found by the names they had in the fit, in any order. With --costs the question is
    what would be decided if costs were others than the signals say.

    Column trust says what a decision rests on: limits that the data determine (identified) or show
    (seen), one that no price ever pushed to (not seen), a signal out of range, an empty region
    (relaxed) or a tie; column rests_on names the limits.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.npz
      $ feaslearn demo --data unseen.csv --samples 5 --seed 1
      $ feaslearn predict power.npz unseen.csv
      $ feaslearn predict power.npz unseen.csv --interval 0.9 -o bands.csv
      $ feaslearn predict power.npz unseen.csv --costs 0.9,0.4,1.2 --keep 'demand_*' -o whatif.csv
    """
    import numpy as np

    from feaslearn.cli.columns import costs_for, signals_for
    from feaslearn.cli.files import file_or_print
    from feaslearn.exceptions import DataError, Problems, UnseenLimitWarning
    from feaslearn.inference.trust import needs_warning, unseen_text
    from feaslearn.io.tables import check_suffix, csv_text, write_table
    from feaslearn.io.whole_files import check_writable
    from feaslearn.regressor.reader import decision_names

    output = file_or_print(output, model, data)
    fitted, table = console.model(model), console.table(data)
    if output is not None:
        check_suffix(output)
        check_writable(output)
    problems = Problems()
    X = signals_for(fitted, table, signals, problems)
    prices = costs_for(fitted, table, costs, problems)
    added = TRUST_COLUMNS if trust else ()
    kept = _kept(table, split(keep), (*decision_names(fitted), *added), problems)
    problems.raise_if_any(DataError, "predict")
    with warnings.catch_warnings():
        # What is said below says it for this table.
        warnings.simplefilter("ignore", UnseenLimitWarning)
        found, rests = fitted.predict(X.to_numpy(), costs=prices, return_trust=True)
    decisions = np.asarray(found).reshape(len(X), -1)
    names = [*(table.names[j] for j in kept), *decision_names(fitted)]
    # In CSV, cells stay the strings that they were.
    typed = console.as_json if output is None else output.suffix.lower() == ".parquet"
    columns: list[Any] = [list(table.cells(j) if typed else table.column(j)) for j in kept]
    columns += [column.tolist() for column in decisions.T]
    if interval is not None:
        ends = _bands(fitted, X.to_numpy(), prices, interval)
        names += list(ends)
        columns += ends.values()
    said = [rests.status.tolist(), rests.rests_on.tolist()]
    counts = {"counts": rests.counts, "unseen_limits": list(rests.limits)}
    if output is not None:
        write_table(output, [*names, *added], [*columns, *said[: len(added)]])
        facts = {"output": str(output), "n_samples": len(X), **counts}
        console.print(facts, lambda rich: _show(rests, output, trust, rich))
    elif console.as_json:
        rows = list(zip(*columns, strict=True))
        facts = {"columns": names, "rows": rows, **counts, **dict(zip(added, said, strict=False))}
        console.print(facts, lambda _: None)
    else:
        columns += said[: len(added)]
        write(csv_text([*names, *added], zip(*columns, strict=True)))
        if needs_warning(rests, bool(costs)) and not console.quiet:
            error(f"warning: {unseen_text(rests)}. {REPAIR}")


def _bands(
    model: RegionRegressor, X: Array, prices: Array | None, level: float
) -> dict[str, list[float]]:
    """Return columns with the ends of bands."""
    from feaslearn.exceptions import DataError
    from feaslearn.regressor.reader import decision_names

    if model.conformal_ is None:
        raise DataError(
            "--interval: the model has no bands; fit it again, without --no-check, or use "
            "model.conformalize"
        )
    bands = model.predict_interval(X, costs=prices, confidence_level=level)
    return {
        f"{name} {side}": end[:, j].tolist()
        for j, name in enumerate(decision_names(model))
        for side, end in (("lower", bands.lower), ("upper", bands.upper))
    }


def _show(rests: Trust, output: Path, columns: bool, console: RichConsole) -> None:
    """Print how many decisions rest on what."""
    from feaslearn.inference.trust import MEANINGS, STATUSES, unseen_text

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
