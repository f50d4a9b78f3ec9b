"""``feaslearn evaluate``: the losses of a model on a table."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table as Grid

from feaslearn.cli import options
from feaslearn.cli.console import Console, error
from feaslearn.printable import printable

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

    from feaslearn.data import Decisions
    from feaslearn.metrics import Evaluation
    from feaslearn.regressor import RegionRegressor


def evaluate(
    model: options.ModelFile,
    data: options.DataFile,
    norm: Annotated[
        options.Norm, typer.Option("--norm", help="Norm of the losses; l2 squared.")
    ] = options.Norm.L2,
    losses: Annotated[
        options.Losses,
        typer.Option("--losses", help="all: suboptimality and true losses too, which take longer."),
    ] = options.Losses.MAIN,
    at_most: Annotated[
        float | None,
        typer.Option(
            "--at-most",
            metavar="NUMBER",
            help="Exit with 1 if returned decisions are further off on average.",
        ),
    ] = None,
    signals: options.Signals = None,
    decisions: options.Decisions = None,
    costs: options.Costs = None,
    *,
    console: Console,
) -> bool:
    """Measure a model on a table of signals and decisions.

    The returned-decision loss is the distance from the model's decision to the observed one,
    predictability that to the nearest of its optimal decisions. With --losses all, suboptimality
    adds up how far the observed decision is from the region and from the least cost there.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.json
      $ feaslearn demo --data unseen.csv --samples 50 --seed 1
      $ feaslearn evaluate power.json unseen.csv
      $ feaslearn evaluate power.json unseen.csv --json --at-most 0.5
    """
    import numpy as np

    from feaslearn.cli.columns import decisions_for
    from feaslearn.exceptions import DataError
    from feaslearn.metrics import evaluate as measure
    from feaslearn.tolerances import ROUNDING

    fitted, table = console.model(model), console.table(data)
    if at_most is not None and math.isnan(at_most):
        raise DataError("--at-most: nan is not a number that a loss can be compared with")
    samples = decisions_for(fitted, table, signals, decisions, costs, "evaluate")
    found = measure(fitted, samples, norm=norm.value, losses=losses.value)
    passed = at_most is None or found.returned.mean <= at_most
    parts = _by_decision(fitted, samples)
    # An error of rounding is none.
    least = ROUNDING * float(np.nanmax(np.abs(samples.decisions), initial=0.0))
    facts = {**_facts(found, passed), **parts}
    console.print(facts, lambda rich: _show(found, parts, least, rich))
    if not passed:
        error(f"the mean loss of the returned decisions is above {at_most}")
    return passed


def _facts(found: Evaluation, passed: bool) -> dict[str, Any]:
    """Return losses and scores as JSON holds them."""
    from feaslearn.metrics import LABELS

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
    import numpy as np

    from feaslearn.metrics.evaluation import Score
    from feaslearn.regressor.reader import decision_names

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


def _show(found: Evaluation, parts: dict[str, Any], least: float, console: RichConsole) -> None:
    """Print R² and errors: of all, by trust, by decision; then losses."""
    table = _table(f"{found.n_samples} rows", "rows", "R²", "mean error")
    lines = {"all": {"n_samples": found.n_samples, "r2": found.r2, "mae": found.mae}}
    lines |= {f"  {word}": line for word, line in parts["by_trust"].items()}
    lines |= {printable(name): line for name, line in parts["by_decision"].items()}
    for name, line in lines.items():
        r2 = "" if line["r2"] is None else f"{line['r2']:.3f}"
        mae = line["mae"]
        error = "" if mae is None or math.isnan(mae) else f"{mae if mae > least else 0.0:.4g}"
        table.add_row(name, str(line["n_samples"]), r2, error)
    console.print(table)
    table = _table(f"loss ({found.norm}), {found.n_samples} samples", "mean", "std. error")
    # R² and the mean absolute error, which come first, stand above.
    for row in found.rows()[2:]:
        if row[1]:
            table.add_row(*row)
    console.print(table)


def _table(first: str, *others: str) -> Grid:
    """Return an empty table with columns of numbers behind the first."""
    table = Grid(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for head in others:
        table.add_column(head, justify="right")
    return table
