"""``feaslearn evaluate``: the losses of a model on a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid

from feaslearn.cli.columns import decisions_for
from feaslearn.cli.talk import Talk, complain
from feaslearn.exceptions import DataError
from feaslearn.io.table import Table
from feaslearn.metrics import LABELS, Evaluation
from feaslearn.metrics import evaluate as measure
from feaslearn.regressor import RegionRegressor


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
    talk.tell(_facts(found, passed), lambda console: _show(found, console))
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


def _show(found: Evaluation, console: Console) -> None:
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False)
    grid.add_column(f"loss ({found.norm}), {found.n_samples} samples")
    grid.add_column("mean", justify="right")
    grid.add_column("std. error", justify="right")
    for row in found.rows():
        if row[1]:
            grid.add_row(*row)
    console.print(grid)
