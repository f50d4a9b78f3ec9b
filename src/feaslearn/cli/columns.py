"""Columns of a table for a model: signals, decisions, costs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

from feaslearn.arrays import Array
from feaslearn.cli.options import Columns, split
from feaslearn.costs import AffineCost, CostSpecification, FunctionCost
from feaslearn.data import Decisions
from feaslearn.exceptions import DataError, FeaslearnWarning, Problems
from feaslearn.io.tables import Table, read_number
from feaslearn.messages import is_pattern, list_first
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names


def number(text: str) -> float | None:
    """Return the number that a string holds; None if it is invalid."""
    found = read_number(text)
    return None if np.isnan(found) else found


def as_constants(items: Sequence[str], table: Table) -> list[float] | None:
    """Return numbers, unless they are names of columns."""
    found = [number(item) for item in items if item not in table.names]
    constants = [each for each in found if each is not None]
    return constants if items and len(constants) == len(items) else None


#: The cost of one decision: a constant, and what each column adds for one unit.
CostRow = tuple[float, dict[int, float]]


def parse_costs(items: Sequence[str], table: Table, problems: Problems) -> list[CostRow] | None:
    """Return costs that mix columns, numbers and sums such as 9.5*gas+2; None for columns alone."""
    if not items or all(any(fnmatchcase(name, item) for name in table.names) for item in items):
        return None
    # A name that is not there is a misspelt column, unless there is arithmetic in it.
    if not any(number(item) is not None or any(mark in item for mark in "*+/") for item in items):
        return None
    return [_cost_row(item, table, problems) for item in items]


def _cost_row(text: str, table: Table, problems: Problems) -> CostRow:
    """Return one cost: terms with + and - between, each a number, a column, or number*column."""
    constant, slopes = 0.0, dict[int, float]()
    if text in table.names:
        terms = [(1.0, [text])]
    else:
        found = re.findall(r"[+-]?(?:[eE][+-]|[^+-])+", text)
        terms = [
            (-1.0 if term.startswith("-") else 1.0, term.lstrip("+-").split("*")) for term in found
        ]
    for sign, parts in terms:
        factor, columns = sign, list[str]()
        for part in parts:
            value = None if part in table.names else number(part)
            if value is None:
                columns.append(part.strip())
            else:
                factor *= value
        if len(columns) > 1:
            problems.add(
                f"--cost: {text!r} multiplies columns; add their product to the table as a column"
            )
        elif columns:
            for j in table.find(columns, "--cost", problems):
                slopes[j] = slopes.get(j, 0.0) + factor
        else:
            constant += factor
    return constant, slopes


class FitColumns:
    """The columns of a fit, found and checked; everything wrong is one error."""

    def __init__(
        self,
        table: Table,
        signals: Columns,
        decisions: Columns,
        cost: Columns,
        weights: str | None,
        *,
        allow_missing: bool = False,
    ) -> None:
        problems = Problems()
        wanted, priced_by = split(signals), split(cost)
        taken = table.find(split(decisions), "--decisions", problems)
        weight = table.find([weights], "--weights", problems) if weights is not None else ()
        constant = as_constants(priced_by, table)
        mixed = None if constant is not None else parse_costs(priced_by, table, problems)
        priced: tuple[int, ...] = ()
        if mixed is not None:
            priced = tuple(dict.fromkeys(j for _, row in mixed for j in row))
        elif constant is None:
            priced = table.find(priced_by, "--cost", problems)
        found = table.find(wanted, "--signals", problems)
        if any(map(is_pattern, wanted)):
            # A pattern leaves out what another option names: ``*`` means the rest.
            others = {j for j in (*taken, *weight) if table.names[j] not in wanted}
            found = tuple(j for j in found if j not in others)
        columns = tuple(dict.fromkeys((*found, *priced)))
        for j in sorted(set(columns) & set(taken)):
            problems.add(f"column {table.names[j]!r} is both a signal and a decision")
        for name, some in (("--signals and --cost", columns), ("--decisions", taken)):
            if not some and not len(problems):
                problems.add(f"{name}: no column is listed; list at least one")
        self.signals = table.frame(columns, problems, allow_missing=allow_missing)
        self.decisions = table.frame(taken, problems, allow_missing=True)
        self.weights = table.frame(weight, problems).to_numpy().ravel() if weight else None
        problems.raise_if_any(DataError, "fit")
        self.cost: CostSpecification | None = constant or [table.names[j] for j in priced] or None
        if mixed is not None:
            slopes = np.array([[row.get(j, 0.0) for j in columns] for _, row in mixed])
            self.cost = AffineCost([constant for constant, _ in mixed], slopes)

    def drop_missing(self) -> None:
        """Leave out rows with a missing signal or without any decision, and say how many."""
        X, y = self.signals.to_numpy(), self.decisions.to_numpy()
        kept = np.asarray(~np.isnan(X).any(axis=1) & ~np.isnan(y).all(axis=1))
        if kept.all():
            return
        warnings.warn(
            f"{int((~kept).sum())} of {len(kept)} rows have missing signals or no decision, and "
            "are left out",
            FeaslearnWarning,
            stacklevel=2,
        )
        self.signals = pd.DataFrame(X[kept], columns=self.signals.columns)
        self.decisions = pd.DataFrame(y[kept], columns=self.decisions.columns)
        self.weights = None if self.weights is None else self.weights[kept]


def signals_for(
    model: RegionRegressor, table: Table, given: Columns, problems: Problems
) -> pd.DataFrame:
    """Return the signals of a model from a table: by the names of the fit, or those given."""
    names = _own_names(model)
    wanted = split(given) or names
    if wanted is None and len(table.names) != model.n_features_in_:
        problems.add(
            f"the model was fitted without names to {model.n_features_in_} signals; name their "
            "columns with --signals"
        )
        return table.frame((), problems)
    if wanted is None:
        found = tuple(range(len(table.names)))
        first = list_first([repr(name) for name in table.names[:5]], len(found))
        warnings.warn(
            f"the model was fitted without names: its signals are the columns of {table.source} by "
            f"position ({first}); name them with --signals, in the order of the fit",
            FeaslearnWarning,
            stacklevel=2,
        )
    else:
        found = _in_order(table, table.find(wanted, "signals", problems), names)
    if not len(problems) and len(found) != model.n_features_in_:
        problems.add(
            f"--signals: {len(found)} columns, but the model was fitted to {model.n_features_in_}"
        )
    return table.frame(found, problems)


def costs_for(
    model: RegionRegressor, table: Table, given: Columns, problems: Problems
) -> Array | None:
    """Return costs given as columns or numbers, one row for each row of the table."""
    wanted = split(given)
    if not wanted:
        return None
    n = len(decision_names(model))
    constants = as_constants(wanted, table)
    costs: Any
    if constants is not None:
        costs = np.tile(np.array(constants), (len(table), 1))
    else:
        found = table.find(wanted, "--costs", problems)
        if any(map(is_pattern, wanted)):
            # What is listed without a pattern is in the order of the decisions.
            found = _in_order(table, found, _cost_names(model))
        costs = table.frame(found, problems).to_numpy()
    if not len(problems) and costs.shape[1] != n:
        problems.add(f"--costs: {costs.shape[1]} costs for {n} decisions; give one for each")
    return np.asarray(costs)


def decisions_for(
    model: RegionRegressor,
    table: Table,
    signals: Columns,
    decisions: Columns,
    costs: Columns,
    heading: str,
) -> Decisions:
    """Return signals and decisions of a model from a table; everything wrong is one error."""
    problems, names = Problems(), decision_names(model)
    if split(costs) and model.cost_ is not None:
        problems.add("--costs: this model reads its costs from the signals")
    X = signals_for(model, table, signals, problems)
    found = table.find(split(decisions) or list(names), "decisions", problems)
    y = table.frame(_in_order(table, found, names), problems, allow_missing=True)
    if not len(problems) and y.shape[1] != len(names):
        problems.add(f"--decisions: {y.shape[1]} columns for {len(names)}")
    prices = costs_for(model, table, costs, problems)
    problems.raise_if_any(DataError, heading)
    cost: CostSpecification = [0.0] * len(names)
    if prices is not None:
        cost = FunctionCost(lambda _: prices, columns=[])
    elif model.cost_ is not None:
        cost = model.cost_.specification
    labels = (_own_names(model) or list(X.columns), names)
    return Decisions.from_arrays(X.to_numpy(), y.to_numpy(), cost, names=labels)


def _in_order(table: Table, found: Sequence[int], wanted: Sequence[str] | None) -> tuple[int, ...]:
    """Return columns with the names that a model knows in its order, any others as they are."""
    by_name = {table.names[j]: j for j in found}
    if wanted is None or len(found) != len(wanted) or by_name.keys() != set(wanted):
        return tuple(found)
    return tuple(by_name[name] for name in wanted)


def _own_names(model: RegionRegressor) -> list[str] | None:
    """Return the names that the signals had in the fit; None where they had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _cost_names(model: RegionRegressor) -> list[str] | None:
    """Return the names of the signals that are the costs of the decisions, in their order."""
    names = _own_names(model)
    if names is None or model.cost_ is None or not isinstance(model.cost_.specification, list):
        return None
    return [names[j] for j in model.cost_.columns]
