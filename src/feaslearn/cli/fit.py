"""``feaslearn fit``: from a table to a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from feaslearn.cli import options
from feaslearn.cli.console import Console, error, grid, print_lines
from feaslearn.printable import printable

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

    from feaslearn.cli.columns import FitColumns
    from feaslearn.inference.held_out import HeldOut
    from feaslearn.regressor import RegionRegressor
    from feaslearn.regressor.limits import Limit


def fit(
    data: options.DataFile,
    decisions: options.Decisions,
    output: Annotated[Path, options.output("Where the model file is written.")],
    signals: options.Signals = None,
    cost: options.Cost = None,
    hypothesis: Annotated[
        str, typer.Option("--hypothesis", metavar="NAME", help="What the region can be; see above.")
    ] = "auto",
    features: Annotated[
        str,
        typer.Option(
            "--features", metavar="NAME", help="non-cost, all, scale, poly:DEGREE or spline:KNOTS."
        ),
    ] = "non-cost",
    lower: Annotated[
        options.Columns,
        options.columns(
            "--lower",
            "Known lower bounds: one number, or for each decision a number, a signal or none.",
            "BOUNDS",
        ),
    ] = None,
    upper: Annotated[
        options.Columns, options.columns("--upper", "Known upper bounds, likewise.", "BOUNDS")
    ] = None,
    balance: Annotated[
        options.Columns,
        options.columns(
            "--balance", "Signals (or numbers) whose sum is known to be that of the decisions."
        ),
    ] = None,
    sense: options.Optimised = options.Sense.MIN,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="COLUMN", help="Column with the weight of each row."),
    ] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Leave out rows with missing signals.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check",
            help="Measure on rows held out, by fits to parts; calibrates bands, too.",
        ),
    ] = True,
    seed: Annotated[
        int, typer.Option("--seed", metavar="NUMBER", min=0, help="The same seed, the same model.")
    ] = 0,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="NUMBER", help="Threads; -1 takes all processors.")
    ] = 1,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds", metavar="NUMBER", help="Limit on the time; the best so far is written."
        ),
    ] = None,
    *,
    console: Console,
) -> bool:
    """Learn a region from a table, and write a model file.

    Columns are named one after the other, with commas between, or by patterns: 'cost_*'. A
    pattern of the signals leaves out the columns that other options name. Empty cells among the
    decisions are decisions that were not observed.

    \b
    The region can be:
      auto                  chosen by cross-validation
      facets, facets:30     half-spaces, 20 or 30 at most
      simplex:6             what 6 policies span; also box, l1ball, l2ball, hypersimplex:6:2,
                            the affine images of a set
      minkowski:pairs       a weighted sum of given sets; also hypersimplices, box, windows:2:3
      linear                a single point, the linear policy
    A name that is not known is answered with those that are.

    \b
    Examples:
      $ feaslearn demo --data power.csv
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --hypothesis facets -o power.npz
      $ feaslearn fit power.csv --signals 'demand_*' --decisions plant_1,plant_3 \\
          --cost 1.5,2.5 --hypothesis minkowski:box --features poly:2 --quiet -o small.npz
      $ feaslearn fit power.csv --signals 'cost_*,demand_*' --decisions 'plant_*' \\
          --cost 'cost_*' --lower 0 --upper 3.5 --balance 'demand_*' --hypothesis facets \\
          -o known.npz
    """
    from feaslearn.cli import parsing
    from feaslearn.cli.columns import FitColumns
    from feaslearn.cli.files import check_output
    from feaslearn.io import save
    from feaslearn.io.whole_files import check_writable
    from feaslearn.regressor import RegionRegressor
    from feaslearn.regressor.limits import limits_at

    check_output(output, data)
    began = perf_counter()
    # First: a path that cannot be written should not cost the time of the fit.
    check_writable(output)
    columns = FitColumns(
        console.table(data), signals, decisions, cost, weights, allow_missing=drop_missing
    )
    if drop_missing:
        columns.drop_missing()
    model = RegionRegressor(
        parsing.parse_hypothesis(hypothesis, columns.decisions.shape[1]),
        cost=columns.cost,
        features=parsing.parse_features(features),
        known=parsing.parse_known(lower, upper, balance, columns),
        sense=sense.value,
        random_state=seed,
        n_jobs=jobs,
        max_seconds=max_seconds,
    )
    held_out, note = None, None
    model.fit(columns.signals, columns.decisions, sample_weight=columns.weights)
    limits = limits_at(model, columns.signals)
    if check:
        held_out, note = _held_out(model, columns, max_seconds is not None)
    save(model, output)
    facts = _facts(model, columns, output) | {"held_out": held_out and asdict(held_out)}
    facts["wall_seconds"] = perf_counter() - began
    console.print(
        facts, lambda rich: _show(model, facts, limits, held_out, note, console.verbose, rich)
    )
    if model.result_.status == "interrupted":
        error(f"interrupted: the best model so far was written to {output}")
        return False
    return True


def _held_out(
    model: RegionRegressor, columns: FitColumns, limited: bool
) -> tuple[HeldOut | None, str | None]:
    """Measure the model on rows that it has not seen, and calibrate bands; or say why not."""
    from feaslearn.exceptions import FeaslearnError
    from feaslearn.inference.conformal import cross_conformal
    from feaslearn.inference.held_out import hold_out, why_not
    from feaslearn.regressor.learned_region import calibration_rows
    from feaslearn.regressor.reader import regions_of

    if columns.cost is None or model.result_.status == "interrupted":
        return None, None
    note = why_not(model, len(columns.signals))
    if note is not None or limited:
        return None, note
    X, y, names = columns.signals, columns.decisions, tuple(columns.decisions.columns)
    try:
        found, fits = hold_out(model, X, y, columns.weights, names)
        if model.features_.transformer is None:
            rows = calibration_rows(model, X, y)
            model.conformal_ = cross_conformal(regions_of(model), fits, *rows)
    except FeaslearnError as wrong:
        return None, f"parts of the rows could not be fitted: {wrong}"
    return found, None


def _facts(model: RegionRegressor, columns: FitColumns, output: Path) -> dict[str, Any]:
    """Return what is printed as JSON."""
    import numpy as np

    result, gaps = model.result_, np.isnan(columns.decisions.to_numpy())
    none = gaps.all(axis=1)
    return {
        "model": str(output),
        "n_samples": len(columns.signals),
        # Rows without any decision, which are left out, and decisions missing in others.
        "missing": {"rows": int(none.sum()), "decisions": int(gaps[~none].sum())},
        "signals": list(columns.signals.columns),
        "decisions": list(columns.decisions.columns),
        "hypothesis": " ".join(repr(model.hypothesis_).split()),
        "trainer": " ".join(result.trainer.split()),
        "status": result.status,
        "training_loss": result.objective,
        "lower_bound": result.lower_bound,
        "n_iter": result.n_iter,
        "seconds": result.seconds,
        "warnings": result.warnings,
        "details": result.details,
    }


def _show(
    model: RegionRegressor,
    facts: dict[str, Any],
    limits: Sequence[Limit],
    held_out: HeldOut | None,
    note: str | None,
    verbose: int,
    console: RichConsole,
) -> None:
    """Print what was learned, how good it is, and, if asked, how the run went."""
    from feaslearn.cli.limits import MOST, limit_lines
    from feaslearn.inference.coverage import WORDS

    table, rows = vars(model).get("_facets"), vars(model)["_seen"].rows
    count, missing = facts["n_samples"], facts["missing"]
    if any(missing.values()):
        console.print(
            f"! {missing['rows']} rows have no decision and are left out; {missing['decisions']} "
            "decisions are missing in others, which are used"
        )
    if table is None:
        console.print(f"{facts['hypothesis']}, fitted to {count} rows\n")
    else:
        named = dict(zip(rows.names, rows.status, strict=True))
        found = [limit.status for limit in limits] or [
            WORDS[float(code)] for name, code in named.items() if name
        ]
        words = ", ".join(f"{found.count(word)} {word}" for word in WORDS.values())
        title, most = "   limit, most valuable first", None if verbose else MOST
        if limits:
            console.print(f"{len(limits)} limits from {count} rows: {words}\n")
            lines = limit_lines(limits, table.equalities, title, None, most)
        else:
            console.print(f"Limits learned from {count} rows: {words}\n")
            lines = [str(table)]
        print_lines(console, "\n".join([*lines, ""]))
    if held_out is not None:
        lines_of = [("Held out", "R²", "mean error of a decision that moves")]
        for line in held_out.lines:
            worst = [f"{name} {error:.3g}" for name, error in held_out.worst(line)]
            detail = f"   ({', '.join(worst[:4])}{', ...' * (len(worst) > 4)})"
            shown = f"{held_out.mean_error(line):.4g}{detail if line is held_out.lines[0] else ''}"
            lines_of.append((line.name, f"{line.r2:.3f}", shown))
        console.print(grid(lines_of))
        console.print("")
    elif note is not None:
        console.print(f"Not measured on rows held out: {note}.\n")
    if verbose:
        columns = [(name, ", ".join(facts[name])) for name in ("signals", "decisions")]
        told = ("hypothesis", facts["hypothesis"])
        console.print(grid([*columns, told, *model.result_.rows()]))
    for text in () if verbose else model.result_.warnings:
        console.print(f"! {printable(text)}")
    parts = f"fit {facts['seconds']:.3g} s"
    if held_out is not None:
        parts += f", held-out check {held_out.seconds:.3g} s; --no-check skips it"
    wrote = f"Wrote {facts['model']} in {facts['wall_seconds']:.3g} s ({parts})"
    console.print(printable(wrote), soft_wrap=True)
