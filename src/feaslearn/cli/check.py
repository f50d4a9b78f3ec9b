"""``feaslearn check`` and ``feaslearn explain``: a table before a fit, and a model after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from feaslearn.cli.columns import FitColumns, costs_for, signals_for
from feaslearn.cli.talk import Talk
from feaslearn.costs import resolve_cost
from feaslearn.exceptions import DataError, Problems
from feaslearn.inference.data_checks import check_data
from feaslearn.inference.explanation import Explanation
from feaslearn.inference.roles import Finding, Roles
from feaslearn.io.table import Table
from feaslearn.printable import printable
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names
from feaslearn.tolerances import ROUNDING

#: What stands before a line.
MARKS = {"ok": "ok", "note": "!", "no": "no", "unknown": "?"}


def check(
    table: Table,
    *,
    signals: Sequence[str],
    decisions: Sequence[str],
    cost: Sequence[str],
    sense: Literal["min", "max"],
    talk: Talk,
) -> bool:
    """Look at a table, print a line for each check, and say whether none says "no"."""
    columns = FitColumns(table, signals, decisions, cost, None, allow_missing=True)
    roles = _roles(columns, sense == "max")
    found = check_data(roles)
    fine = all(each.level != "no" for each in found)
    facts = {
        "n_samples": len(table),
        "signals": list(columns.signals.columns),
        "decisions": list(columns.decisions.columns),
        "checks": [each._asdict() for each in found],
        "passed": fine,
    }
    talk.tell(facts, lambda console: _show(table.source, roles, found, fine, console))
    return fine


def _roles(columns: FitColumns, maximises: bool) -> Roles:
    """Return columns in the roles that options give them."""
    X, names = columns.signals.to_numpy(), columns.signals.columns
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
    problems.raise_if_any(DataError, "check")
    if resolved is None:
        raise AssertionError("no cost although no problem was found")
    whole = ~np.isnan(X).any(axis=1)
    costs = np.full(y.shape, np.nan)
    costs[whole] = resolved.evaluate(X[whole])
    others = [j for j in range(len(names)) if j not in resolved.columns]
    labels = [f"cost of {name}" for name in columns.decisions.columns]
    if len(resolved.columns) == y.shape[1]:
        labels = [names[j] for j in resolved.columns]
    return Roles(
        X[:, others],
        costs,
        y,
        [names[j] for j in others],
        labels,
        columns.decisions.columns,
        maximises,
    )


def _show(
    source: str, roles: Roles, found: Sequence[Finding], fine: bool, console: Console
) -> None:
    """Print what was looked at, and a line for each check."""
    rows, n = roles.decisions.shape
    verdict = "Ready to fit." if fine else "Not ready to fit."
    others = roles.signals.shape[1]
    console.print(
        f"{source}: {rows} rows, {n} prices, {others} other signals, {n} decisions. {verdict}\n"
    )
    grid = Grid.grid(padding=(0, 2))
    for each in found:
        grid.add_row(MARKS[each.level], each.check, printable(str(each)))
    console.print(grid)


def explain(
    model: RegionRegressor,
    table: Table | None,
    *,
    row: int,
    signals: Sequence[str],
    costs: Sequence[str],
    talk: Talk,
) -> None:
    """Print what a model knows, and why it decides as it does in one row of a table."""
    if table is None:
        found = model.explain()
        talk.tell(_facts(found), lambda console: console.print(str(found), soft_wrap=True))
        return
    problems = Problems()
    X = signals_for(model, table, signals, problems)
    prices = costs_for(model, table, costs, problems)
    if not 1 <= row <= len(table):
        problems.add(f"--row: there is no row {row}; {table.source} has {len(table)}")
    problems.raise_if_any(DataError, "explain")
    at = row - 1
    given = None if prices is None else prices[at]
    found = model.explain(X.to_numpy()[at : at + 1], costs=given)
    names = decision_names(model)
    seen = [table.names.index(name) if name in table.names else None for name in names]
    observed = None
    if all(j is not None for j in seen):
        frame = table.frame([j for j in seen if j is not None], Problems(), allow_missing=True)
        observed = dict(zip(names, frame.to_numpy()[at].tolist(), strict=True))
    talk.tell(
        {**_facts(found), "row": row, "observed": observed},
        lambda console: _show_row(found, observed, f"{table.source}, row {row}", console),
    )


def _facts(found: Explanation) -> dict[str, Any]:
    return {**asdict(found), "decision": dict(found.decision)}


def _show_row(
    found: Explanation, observed: dict[str, float] | None, title: str, console: Console
) -> None:
    """Print a decision beside the observed one, and the limits that hold it."""
    console.print(title)
    grid = Grid.grid(padding=(0, 2))
    grid.add_row("", *(printable(name) for name, _ in found.decision))
    least = ROUNDING * max(abs(value) for _, value in found.decision)
    shown = (value if abs(value) > least else 0.0 for _, value in found.decision)
    grid.add_row("predicted", *(f"{value:.4g}" for value in shown))
    if observed is not None:
        grid.add_row("observed", *(f"{value:.4g}" for value in observed.values()))
    console.print(grid)
    if found.rests_on:
        console.print("\nIt stops here because of")
        grid = Grid.grid(padding=(0, 2))
        grid.add_row("", "", "", "", "one more saves")
        for limit in found.rests_on:
            mark = "!" if limit.status == "not seen" else " "
            worth = "" if limit.saves is None else f"{limit.saves:.4g}"
            name = limit.name if limit.name.startswith("facet") else ""
            grid.add_row(mark, printable(name), printable(limit.text), limit.status, worth)
        console.print(grid)
    for text in found.remarks:
        console.print(f"! {printable(text)}.")
    outside = [str(each) for each in found.outside or ()]
    console.print("")
    for text in outside or ["Every signal lies within the range of the data."]:
        console.print(printable(text))
