"""``feaslearn fit``: from a table to a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table as Grid

from feaslearn.atomic import check_writable
from feaslearn.cli.choices import parse_features, parse_loss, parse_trainer, with_limits
from feaslearn.cli.columns import FitColumns
from feaslearn.cli.data_files import DataFiles
from feaslearn.cli.hypothesis_text import parse_hypothesis
from feaslearn.cli.known_text import parse_known
from feaslearn.cli.talk import Talk, complain
from feaslearn.data import Chunks
from feaslearn.io.model_file import save
from feaslearn.printable import printable
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import samples_seen


@dataclass(frozen=True)
class Fit:
    """What was asked for, as texts.

    Parameters
    ----------
    signals, decisions, cost : sequence of str
        Names of columns and patterns; a cost may be numbers.
    weights : str or None
        Column of the weights.
    hypothesis, loss, features, trainer : str
        Words that the command line knows.
    lower, upper, balance : sequence of str
        Known bounds, and what the decisions are known to sum up to.
    sense : {"min", "max"}
        Whether decisions minimise or maximise the cost.
    seed, jobs : int
        Seed and number of threads.
    max_seconds : float, optional
        Limit on the time.
    checkpoint : Path, optional
        Where the run is written down.
    """

    signals: Sequence[str]
    decisions: Sequence[str]
    cost: Sequence[str]
    weights: str | None
    hypothesis: str
    loss: str
    features: str
    trainer: str
    lower: Sequence[str]
    upper: Sequence[str]
    balance: Sequence[str]
    sense: Literal["min", "max"]
    seed: int
    jobs: int
    max_seconds: float | None = None
    checkpoint: Path | None = None
    memory: str = "1GB"

    def run(self, files: DataFiles, output: Path, talk: Talk) -> bool:
        """Fit a model and write it; say whether the training ran to its end."""
        # First: a path that cannot be written should not cost the time of the fit.
        check_writable(output)
        columns = FitColumns(files.table, self.signals, self.decisions, self.cost, self.weights)
        model = RegionRegressor(
            parse_hypothesis(self.hypothesis, columns.decisions.shape[1]),
            cost=columns.cost,
            features=parse_features(self.features),
            loss=parse_loss(self.loss),
            trainer=with_limits(parse_trainer(self.trainer), self.max_seconds, self.checkpoint),
            known=parse_known(self.lower, self.upper, self.balance, columns),
            sense=self.sense,
            random_state=self.seed,
            n_jobs=self.jobs,
        )
        if files.in_chunks:
            model.fit(self._chunks(files, columns))
        else:
            model.fit(columns.signals, columns.decisions, sample_weight=columns.weights)
        save(model, output)
        facts = _facts(model, columns, output)
        talk.tell(facts, lambda console: _show(model, facts, console))
        if model.result_.status == "interrupted":
            complain(f"interrupted: the best model so far was written to {output}")
            return False
        return True

    def _chunks(self, files: DataFiles, columns: FitColumns) -> Chunks:
        return Chunks(
            list(files.in_chunks),
            signals=columns.signals.columns,
            decisions=columns.decisions.columns,
            weights=self.weights,
            memory=self.memory,
        )


def _facts(model: RegionRegressor, columns: FitColumns, output: Path) -> dict[str, Any]:
    result = model.result_
    return {
        "model": str(output),
        "n_samples": len(columns.signals) or samples_seen(model),
        "signals": columns.signals.columns,
        "decisions": columns.decisions.columns,
        "hypothesis": " ".join(repr(model.hypothesis_).split()),
        "trainer": " ".join(result.trainer.split()),
        "status": result.status,
        "training_loss": result.objective,
        "returned_loss": result.returned_loss,
        "lower_bound": result.lower_bound,
        "n_iter": result.n_iter,
        "seconds": result.seconds,
        "warnings": result.warnings,
        "details": result.details,
    }


def _show(model: RegionRegressor, facts: dict[str, Any], console: Console) -> None:
    rows = [
        ("model", facts["model"]),
        ("samples", str(facts["n_samples"])),
        ("signals", ", ".join(facts["signals"])),
        ("decisions", ", ".join(facts["decisions"])),
        ("hypothesis", facts["hypothesis"]),
        *model.result_.rows(),
    ]
    grid = Grid.grid(padding=(0, 2))
    for label, text in rows:
        grid.add_row(label, printable(text))
    console.print(grid)
    table = vars(model).get("_facets")
    if table is not None:
        console.print(f"\n{table}", markup=False, highlight=False, soft_wrap=True)
