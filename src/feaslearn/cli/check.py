"""``feaslearn check`` and ``feaslearn explain``: a table before a fit, and a model after it."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from feaslearn.cli import options
from feaslearn.cli.console import Console, grid, print_lines
from feaslearn.printable import printable

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

    from feaslearn.cli.columns import FitColumns
    from feaslearn.inference.roles import Roles
    from feaslearn.regressor.explanation import Explanation

#: What stands before a line.
MARKS = {"ok": "ok", "note": "!", "no": "no", "unknown": "?"}
#: Widest line of the command that is proposed.
WIDTH = 78


def check(
    data: options.DataFile,
    decisions: options.Decisions,
    signals: options.Signals = None,
    cost: options.Cost = None,
    sense: options.Optimised = options.Sense.MIN,
    *,
    console: Console,
) -> bool:
    """Look at a table before a fit: roles of columns, sense, gaps, and what it cannot show.

    The exit code is 1 where a line says "no".

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn check power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*'
    """
    from feaslearn.cli.columns import FitColumns
    from feaslearn.inference.data_checks import check_data

    table = console.table(data)
    columns = FitColumns(table, signals, decisions, cost, None, allow_missing=True)
    roles = _roles(columns, sense is options.Sense.MAX)
    found = check_data(roles)
    fine = all(each.level != "no" for each in found)
    facts = {
        "n_samples": len(table),
        "signals": list(columns.signals.columns),
        "decisions": list(columns.decisions.columns),
        "checks": [each._asdict() for each in found],
        "passed": fine,
    }
    asked = {
        "--signals": ",".join(signals or ()),
        "--decisions": ",".join(decisions or ()),
        "--cost": ",".join(cost or ()),
        "--sense": "" if sense is options.Sense.MIN else sense.value,
        "--encoding": "" if console.encoding == "utf-8" else console.encoding,
        "--delimiter": console.delimiter or "",
        "--max-bytes": "" if console.max_bytes == options.MAX_BYTES else str(console.max_bytes),
        "-o": "model.npz",
    }

    def show(rich: RichConsole) -> None:
        """Print the checks and, where none says no, the command that fits."""
        rows, n = roles.decisions.shape
        rich.print(
            f"{table.source}: {rows} rows, {n} prices, {roles.signals.shape[1]} other signals, "
            f"{n} decisions. {'Ready' if fine else 'Not ready'} to fit.\n"
        )
        rich.print(grid((MARKS[each.level], each.check, str(each)) for each in found))
        if fine:
            print_lines(rich, f"\n{next_command(data, asked)}")

    console.print(facts, show)
    return fine


def next_command(data: Path, asked: dict[str, str]) -> str:
    """Return the line that fits a model with the same options, in lines of up to 80 letters."""
    lines = [f"Next: feaslearn fit {shlex.quote(str(data))}"]
    for option, value in asked.items():
        part = f" {option} {shlex.quote(value)}" if value else ""
        if len(lines[-1] + part) > WIDTH and lines[-1].strip():
            lines[-1] += " \\"
            lines.append(f"         {part}")
        else:
            lines[-1] += part
    return "\n".join(lines)


def _roles(columns: FitColumns, maximises: bool) -> Roles:
    """Return columns in the roles that options give them."""
    import numpy as np

    from feaslearn.costs import resolve_cost
    from feaslearn.data import Names
    from feaslearn.exceptions import DataError, Problems, checked
    from feaslearn.inference.roles import Roles

    X, names = columns.signals.to_numpy(), list(columns.signals.columns)
    y = columns.decisions.to_numpy()
    problems = Problems()
    if columns.cost is None:
        problems.add("--cost: no price is given, so that nothing can be checked; give one")
    resolved = resolve_cost(
        columns.cost,
        n_decisions=y.shape[1],
        signal_names=names,
        n_signals=len(names),
        problems=problems,
    )
    resolved = checked(resolved, problems, "check", DataError)
    whole = ~np.isnan(X).any(axis=1)
    costs = np.full(y.shape, np.nan)
    costs[whole] = resolved.evaluate(X[whole])
    both = Names(tuple(names), tuple(columns.decisions.columns))
    return Roles.of(X, costs, y, both, resolved, maximises)


def explain(
    model: options.ModelFile,
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA", help="A CSV or Parquet file with the row.")
    ] = None,
    row: Annotated[
        int, typer.Option("--row", metavar="NUMBER", min=1, help="Row of data, from 1.")
    ] = 1,
    costs: options.Costs = None,
    signals: options.Signals = None,
    *,
    console: Console,
) -> None:
    """Say what the data of a fit showed; with data, why the decision of one row is what it is.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.npz
      $ feaslearn explain power.npz
      $ feaslearn explain power.npz power.csv --row 3
    """
    from feaslearn.cli.columns import costs_for, signals_for
    from feaslearn.exceptions import DataError, Problems
    from feaslearn.regressor.reader import decision_names

    table = None if data is None else console.table(data)
    fitted = console.model(model)
    if table is None:
        found = fitted.explain()
        console.print(_facts(found), lambda rich: rich.print(str(found), soft_wrap=True))
        return
    problems = Problems()
    X = signals_for(fitted, table, signals, problems)
    prices = costs_for(fitted, table, costs, problems)
    if not 1 <= row <= len(table):
        problems.add(f"--row: there is no row {row}; {table.source} has {len(table)}")
    problems.raise_if_any(DataError, "explain")
    at = row - 1
    given = None if prices is None else prices[at]
    found = fitted.explain(X.to_numpy()[at : at + 1], costs=given)
    names, observed = decision_names(fitted), None
    if set(names) <= set(table.names):
        seen = [table.names.index(name) for name in names]
        frame = table.frame(seen, Problems(), allow_missing=True)
        observed = dict(zip(names, frame.to_numpy()[at].tolist(), strict=True))
    console.print(
        {**_facts(found), "row": row, "observed": observed},
        lambda rich: _show_row(found, observed, f"{table.source}, row {row}", rich),
    )


def _facts(found: Explanation) -> dict[str, Any]:
    """Return an explanation as JSON holds it."""
    return {**asdict(found), "decision": dict(found.decision)}


def _show_row(
    found: Explanation, observed: dict[str, float] | None, title: str, console: RichConsole
) -> None:
    """Print a decision beside the observed one, and the limits that hold it."""
    from feaslearn.tolerances import ROUNDING

    console.print(title)
    least = ROUNDING * max(abs(value) for _, value in found.decision)
    shown = (value if abs(value) > least else 0.0 for _, value in found.decision)
    rows = [
        ["", *(name for name, _ in found.decision)],
        ["predicted", *(f"{value:.4g}" for value in shown)],
    ]
    if observed is not None:
        rows.append(["observed", *(f"{value:.4g}" for value in observed.values())])
    console.print(grid(rows))
    if found.rests_on:
        console.print("\nIt stops here because of")
        rows = [["", "", "", "", "one more saves"]]
        for limit in found.rests_on:
            mark = "!" if limit.status == "not seen" else " "
            worth = "" if limit.saves is None else f"{limit.saves:.4g}"
            name = limit.name if limit.name.startswith("facet") else ""
            rows.append([mark, name, limit.text, limit.status, worth])
        console.print(grid(rows))
    for text in found.remarks:
        console.print(f"! {printable(text)}.")
    outside = [str(each) for each in found.outside or ()]
    console.print("")
    for text in outside or ["Every signal lies within the range of the data."]:
        console.print(printable(text))
