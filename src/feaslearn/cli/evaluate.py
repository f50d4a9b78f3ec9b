"""``feaslearn evaluate``: the losses of a model on a table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid

from feaslearn.cli.columns import decisions_for
from feaslearn.cli.talk import Talk, complain
from feaslearn.data import Decisions
from feaslearn.exceptions import DataError
from feaslearn.io.table import Table
from feaslearn.metrics import LABELS, Evaluation
from feaslearn.metrics import evaluate as measure
from feaslearn.metrics.evaluation import Score
from feaslearn.printable import printable
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names
from feaslearn.tolerances import ROUNDING


def evaluate(
    model: RegionRegressor,
    table: Table,
    *,
    signals: Sequence[str],
    decisions: Sequence[str],
    costs: Sequence[str],
    norm: Any,
    losses: Any,
    at_most: float | None,
    talk: Talk,
) -> bool:
    """Measure a model, print the losses, and say whether they are small enough.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.
    table : Table
        Signals and decisions.
    signals, decisions, costs : sequence of str
        Columns, where they are not called as in the fit.
    norm : {"l2", "l1", "linf"}
        Norm of all losses.
    losses : {"main", "all"}
        What is measured, as in `feaslearn.evaluate`.
    at_most : float or None
        The largest mean loss of the returned decisions that is good enough.
    talk : Talk
        What is said.

    Returns
    -------
    bool
        False if the returned decisions are further off than ``at_most``.
    """
    if at_most is not None and math.isnan(at_most):
        raise DataError("--at-most: nan is not a number that a loss can be compared with")
    data = decisions_for(model, table, signals, decisions, costs, "evaluate")
    found = measure(model, data, norm=norm, losses=losses)
    passed = at_most is None or found.returned.mean <= at_most
    parts = _by_decision(model, data)
    facts = {**_facts(found, passed), **parts}
    # An error of rounding is none.
    least = ROUNDING * float(np.nanmax(np.abs(data.decisions), initial=0.0))
    talk.tell(facts, lambda console: _show(found, parts, least, console))
    if not passed:
        complain(f"the mean loss of the returned decisions is above {at_most}")
    return passed


def _facts(found: Evaluation, passed: bool) -> dict[str, Any]:
    losses = {name: getattr(found, name) for name in LABELS}
    return {
        "n_samples": found.n_samples,
        "norm": found.norm,
        "r2": found.r2,
        "mae": found.mae,
        "losses": {name: loss and loss._asdict() for name, loss in losses.items()},
        "passed": passed,
    }


def _by_decision(model: RegionRegressor, data: Decisions) -> dict[str, Any]:
    """Return R² and mean absolute errors of each decision, and of rows that are trusted or not."""
    costs = data.cost_matrix if model.cost_ is None else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted, trust = model.predict(data.signals, costs=costs, return_trust=True)
        predicted, x = np.asarray(predicted).reshape(len(data), -1), data.decisions
        each = {
            name: Score.of(x[:, j : j + 1], predicted[:, j : j + 1])._asdict()
            for j, name in enumerate(decision_names(model))
        }
        kinds = (("trusted", trust.trusted), ("others", ~trust.trusted))
        rows = {
            word: Score.of(x[mask], predicted[mask])._asdict() for word, mask in kinds if mask.any()
        }
    return {"by_decision": each, "by_trust": rows}


def _show(found: Evaluation, parts: dict[str, Any], least: float, console: Console) -> None:
    """Print R² and errors: of all, by trust, by decision; then losses."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False)
    for head in (f"{found.n_samples} rows", "rows", "R²", "mean error"):
        grid.add_column(head, justify="left" if head.endswith("rows") and " " in head else "right")
    lines = {"all": {"n_samples": found.n_samples, "r2": found.r2, "mae": found.mae}}
    lines |= {f"  {word}": line for word, line in parts["by_trust"].items()}
    lines |= {printable(name): line for name, line in parts["by_decision"].items()}
    for name, line in lines.items():
        r2 = "" if line["r2"] is None else f"{line['r2']:.3f}"
        mae = line["mae"]
        error = "" if mae is None or math.isnan(mae) else f"{mae if mae > least else 0.0:.4g}"
        grid.add_row(name, str(line["n_samples"]), r2, error)
    console.print(grid)
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False)
    grid.add_column(f"loss ({found.norm}), {found.n_samples} samples")
    grid.add_column("mean", justify="right")
    grid.add_column("std. error", justify="right")
    for row in found.rows():
        if row[1] and row[0] not in ("R²", "mean absolute error"):
            grid.add_row(*row)
    console.print(grid)
