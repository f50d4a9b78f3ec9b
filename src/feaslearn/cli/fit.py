"""``feaslearn fit``: from a table to a model file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import feaslearn as fl
from feaslearn import hypotheses, trainers
from feaslearn.atomic import check_writable
from feaslearn.cli.columns import FitColumns
from feaslearn.cli.data_files import DataFiles
from feaslearn.cli.limits import MOST, limit_lines
from feaslearn.cli.talk import Talk, complain
from feaslearn.costs import AffineCost
from feaslearn.data import Chunks
from feaslearn.exceptions import DataError, FeaslearnError, Problems
from feaslearn.features import SPECIFICATIONS
from feaslearn.hypotheses import Hypothesis
from feaslearn.inference.conformal import cross_conformal
from feaslearn.inference.held_out import HeldOut, hold_out, why_not
from feaslearn.inference.limits import Limit, limits_at
from feaslearn.inference.trust import STATUSES
from feaslearn.io.model_file import save
from feaslearn.known import Known
from feaslearn.losses import Loss
from feaslearn.messages import did_you_mean, find_columns
from feaslearn.printable import printable
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.learned_region import calibration_rows
from feaslearn.regressor.parameters import LOSSES
from feaslearn.regressor.reader import regions_of, samples_seen
from feaslearn.sets import PrimitiveSet
from feaslearn.trainers import Trainer

OPTION = "--hypothesis"

#: Facet regions in a blend whose number is not given.
BLENDED = 8

#: Sets by name, of p entries, and how many numbers their text has; p is that of the decisions
#: where it is not given.
SETS: dict[str, tuple[Callable[..., PrimitiveSet], tuple[int, ...]]] = {
    "simplex": (fl.Simplex, (0, 1)),
    "box": (fl.Box, (0, 1)),
    "l1ball": (fl.L1Ball, (0, 1)),
    "l2ball": (fl.L2Ball, (0, 1)),
    "hypersimplex": (fl.Hypersimplex, (2,)),
}
#: Hypotheses that are made of a set. Those that a version does not have are not offered.
OF_A_SET = {"affine": "Affine", "scaled": "Scaled", "ternary": "Ternary"}
#: Dictionaries of Minkowski sums that need no more than the number of decisions.
DICTIONARIES = ("pairs", "hypersimplices", "box")
#: And those made with a list of numbers.
SIZED_DICTIONARIES = ("simplices", "windows")

#: Transformers by name, made of one number.
TRANSFORMERS: dict[str, Callable[[int], Any]] = {
    "poly": lambda degree: PolynomialFeatures(degree, include_bias=False),
    "spline": lambda knots: SplineTransformer(knots, include_bias=False),
}


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
    drop_missing : bool, default=False
        Whether rows with missing signals are left out.
    check : bool, default=True
        Whether the model is measured on rows held out, and bands are calibrated.
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
    drop_missing: bool = False
    check: bool = True

    def run(self, files: DataFiles, output: Path, talk: Talk) -> bool:
        """Fit a model and write it; say whether the training ran to its end."""
        # First: a path that cannot be written should not cost the time of the fit.
        began = perf_counter()
        check_writable(output)
        columns = FitColumns(
            *(files.table, self.signals, self.decisions, self.cost, self.weights),
            allow_missing=self.drop_missing,
        )
        if self.drop_missing:
            columns.drop_missing()
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
        limits = [] if files.in_chunks else limits_at(model, columns.signals)
        held_out, note = (None, None) if files.in_chunks else self._held_out(model, columns)
        save(model, output)
        seconds = perf_counter() - began
        facts = _facts(model, columns, output) | {"held_out": held_out and asdict(held_out)}
        facts["wall_seconds"] = seconds
        talk.tell(
            facts,
            lambda console: show(model, facts, limits, held_out, note, talk.verbose, console),
        )
        if model.result_.status == "interrupted":
            complain(f"interrupted: the best model so far was written to {output}")
            return False
        return True

    def _held_out(
        self, model: RegionRegressor, columns: FitColumns
    ) -> tuple[HeldOut | None, str | None]:
        """Measure the model on rows that it has not seen, and calibrate bands; or say why not."""
        if not self.check or columns.cost is None or model.result_.status == "interrupted":
            return None, None
        note = why_not(model, len(columns.signals))
        if note is not None or self.max_seconds is not None:
            return None, note
        X, y, names = columns.signals, columns.decisions, tuple(columns.decisions.columns)
        try:
            found, fits = hold_out(model, X, y, columns.weights, names)
            if model.features_.transformer is None:
                rows = calibration_rows(model, X, y)
                model.conformal_ = cross_conformal(regions_of(model), fits, *rows)
        except FeaslearnError as error:
            return None, f"parts of the rows could not be fitted: {error}"
        return found, None

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
        "missing": _missing(columns),
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


def _missing(columns: FitColumns) -> dict[str, int]:
    """Count rows without any decision, which are left out, and decisions missing in others."""
    gaps = np.isnan(columns.decisions.to_numpy())
    none = gaps.all(axis=1)
    return {"rows": int(none.sum()), "decisions": int(gaps[~none].sum())}


def show(
    model: RegionRegressor,
    facts: dict[str, Any],
    limits: Sequence[Limit],
    held_out: HeldOut | None,
    note: str | None,
    verbose: int,
    console: Console,
) -> None:
    """Print what was learned, how good it is, and, if asked, how the run went."""
    table, rows = vars(model).get("_facets"), vars(model)["_seen"].rows
    count, missing = facts["n_samples"], facts["missing"]
    if any(missing.values()):
        console.print(
            f"! {missing['rows']} rows have no decision and are left out; {missing['decisions']} "
            "decisions are missing in others, which are used"
        )
    if limits and table is not None:
        words = [f"{sum(limit.status == word for limit in limits)} {word}" for word in STATUSES[:3]]
        console.print(f"{len(limits)} limits from {count} rows: {', '.join(words)}\n")
        most = None if verbose else MOST
        for line in limit_lines(
            limits, table.equalities, "   limit, most valuable first", None, most
        ):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        console.print("")
    elif rows is not None and table is not None:
        named = dict(zip(rows.names, rows.status, strict=True))
        words = [
            f"{sum(1 for name in named if name and named[name] == k)} {word}"
            for k, word in enumerate(STATUSES[:3])
        ]
        console.print(f"Limits learned from {count} rows: {', '.join(words)}\n")
        console.print(f"{table}\n", markup=False, highlight=False, soft_wrap=True)
    else:
        console.print(f"{facts['hypothesis']}, fitted to {count} rows\n")
    if held_out is not None:
        _show_held_out(held_out, console)
    elif note is not None:
        console.print(f"Not measured on rows held out: {note}.\n")
    if verbose:
        grid = Grid.grid(padding=(0, 2))
        grid.add_row("signals", printable(", ".join(facts["signals"])))
        grid.add_row("decisions", printable(", ".join(facts["decisions"])))
        grid.add_row("hypothesis", printable(facts["hypothesis"]))
        for label, text in model.result_.rows():
            grid.add_row(label, printable(text))
        console.print(grid)
    for text in () if verbose else model.result_.warnings:
        console.print(f"! {printable(text)}")
    parts = f"fit {facts['seconds']:.3g} s"
    if held_out is not None:
        parts += f", held-out check {held_out.seconds:.3g} s; --no-check skips it"
    wrote = f"Wrote {facts['model']} in {facts['wall_seconds']:.3g} s ({parts})"
    console.print(printable(wrote), soft_wrap=True)


def _show_held_out(found: HeldOut, console: Console) -> None:
    """Print R² and errors of the model and of regressors."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_row("Held out", "R²", "mean error of a decision that moves")
    for line in found.lines:
        worst = [f"{name} {error:.3g}" for name, error in found.worst(line)]
        detail = f"   ({', '.join(worst[:4])}{', ...' * (len(worst) > 4)})"
        shown = f"{found.mean_error(line):.4g}{detail if line is found.lines[0] else ''}"
        grid.add_row(line.name, f"{line.r2:.3f}", printable(shown))
    console.print(grid)
    console.print("")


# Known bounds and balances as texts.


def parse_known(
    lower: Sequence[str], upper: Sequence[str], balance: Sequence[str], columns: FitColumns
) -> Known | None:
    """Return what is known: bounds by numbers and columns, and what decisions sum up to.

    Parameters
    ----------
    lower, upper : sequence of str
        One number for all decisions, or for each a number, a column of the signals or ``none``.
    balance : sequence of str
        Columns of the signals and numbers whose sum is that of the decisions.
    columns : FitColumns
        The columns of the fit.

    Returns
    -------
    Known or None
        None where nothing is given.
    """
    if not lower and not upper and not balance:
        return None
    return Known(
        bounds=(_side(lower), _side(upper)) if lower or upper else None,
        balance=_total(balance, columns) if balance else None,
    )


def _side(items: Sequence[str]) -> float | list[object] | None:
    """Return one number, or a list of numbers, columns and None."""
    read = [None if item.lower() == "none" else _number(item) for item in items]
    if len(read) == 1 and isinstance(read[0], float):
        return read[0]
    return list(read) if read else None


def _number(item: str) -> float | str:
    try:
        return float(item)
    except ValueError:
        return item


def _total(items: Sequence[str], columns: FitColumns) -> tuple[np.ndarray, AffineCost]:
    """Return the row of ones and the sum of columns and numbers."""
    names = columns.signals.columns
    read = [_number(item) for item in items]
    wanted = [item for item in read if isinstance(item, str)]
    problems = Problems()
    found = find_columns(wanted, names, len(names), "--balance", "among the signals", problems)
    problems.raise_if_any(DataError, "fit")
    slopes = np.zeros((1, len(names)))
    slopes[0, list(found)] = 1.0
    constant = sum(item for item in read if isinstance(item, float))
    return np.ones(columns.decisions.shape[1]), AffineCost([float(constant)], slopes)


# What ``--hypothesis`` stands for.


def parse_hypothesis(text: str, n: int) -> Hypothesis | None:
    """Return the hypothesis that a text names, None for "auto".

    Parameters
    ----------
    text : str
        Such as ``simplex:6``, ``scaled:box`` or ``facets``.
    n : int
        Number of decisions.

    Returns
    -------
    Hypothesis or None
        What the region can be; None is chosen by cross-validation.

    Examples
    --------
    >>> from feaslearn.cli.fit import parse_hypothesis
    >>> parse_hypothesis("scaled:box", 3)
    Scaled(primitive=Box(p=3))
    """
    asked = _Asked(text, n)
    known = {
        "auto": asked.auto,
        "linear": asked.linear,
        "facets": asked.facets,
        "blend": asked.blend,
        **dict.fromkeys(SETS, asked.affine),
        **{name: asked.of_a_set for name, kind in OF_A_SET.items() if _has(kind)},
        **({"minkowski": asked.minkowski} if _has("Minkowski") else {}),
    }
    if asked.name not in known:
        raise DataError(f"{OPTION}: {text!r} is not known; {did_you_mean(text, usages())}")
    return known[asked.name]()


def usages() -> list[str]:
    """Return what may be written, for help and messages."""
    sets = [f"{name}:P:M" if name == "hypersimplex" else f"{name}:P" for name in SETS]
    wrapped = [f"{name}:SET" for name in OF_A_SET if _has(OF_A_SET[name])]
    sums = []
    if _has("Minkowski"):
        sums = ["minkowski", *(f"minkowski:{name}" for name in DICTIONARIES)]
        sums += [f"minkowski:{name}:M" for name in SIZED_DICTIONARIES]
    return ["auto", "linear", "facets", "blend", *sets, *wrapped, *sums]


def _has(kind: str) -> bool:
    return kind in hypotheses.__all__


class _Asked:
    """A text, taken apart; one method for each kind of hypothesis."""

    def __init__(self, text: str, n: int) -> None:
        self.text = text
        self.n = n
        self.name, *self.parts = text.split(":")

    def auto(self) -> None:
        self._numbers(self.parts, 0)

    def linear(self) -> Hypothesis:
        self._numbers(self.parts, 0)
        return fl.Affine(fl.Simplex(1))

    def facets(self) -> Hypothesis:
        for most in self._numbers(self.parts, 0, 1):
            return fl.Facets(max_facets=most)
        return fl.Facets()

    def blend(self) -> Hypothesis:
        count = (*self._numbers(self.parts, 0, 1), BLENDED)[0]
        return fl.Blend([fl.Facets() for _ in range(count)])

    def affine(self) -> Hypothesis:
        return fl.Affine(self._set(self.name, self.parts))

    def of_a_set(self) -> Hypothesis:
        kind: Any = getattr(hypotheses, OF_A_SET[self.name])
        hypothesis: Hypothesis = kind(self._set("".join(self.parts[:1]), self.parts[1:]))
        return hypothesis

    def minkowski(self) -> Hypothesis:
        # Looked up by name: a version may not have it.
        kind: Any = getattr(hypotheses, "Minkowski")  # noqa: B009
        name, *sizes = self.parts or ["auto"]
        hypothesis: Hypothesis
        if name in SIZED_DICTIONARIES:
            numbers = self._numbers(sizes, *range(1, self.n + 1))
            hypothesis = getattr(kind, name)(self.n, numbers)
        elif name in ("auto", *DICTIONARIES):
            self._numbers(sizes, 0)
            hypothesis = kind("auto") if name == "auto" else getattr(kind, name)(self.n)
        else:
            known = ["auto", *DICTIONARIES, *SIZED_DICTIONARIES]
            raise DataError(f"{OPTION}: {self.text!r}: no such sum; {did_you_mean(name, known)}")
        return hypothesis

    def _set(self, name: str, numbers: list[str]) -> PrimitiveSet:
        if name not in SETS:
            raise DataError(
                f"{OPTION}: {self.text!r} names no set; {did_you_mean(name, list(SETS))}"
            )
        kind, counts = SETS[name]
        return kind(*(self._numbers(numbers, *counts) or [self.n]))

    def _numbers(self, parts: list[str], *counts: int) -> list[int]:
        return whole_numbers(OPTION, self.text, parts, *counts)


# What words on the command line stand for: losses, features, trainers.


def parse_loss(text: str) -> Loss:
    """Return the loss of ``predictability``, ``suboptimality:l1`` and the like."""
    name, _, norm = text.partition(":")
    if name not in LOSSES:
        raise DataError(f"--loss: {name!r} is not known; {did_you_mean(name, list(LOSSES))}")
    kind: Any = LOSSES[name]
    loss: Loss = kind(norm) if norm else kind()
    loss.norm_code()
    return loss


def parse_features(text: str) -> Any:
    """Return the features of ``non-cost``, ``all``, ``scale``, ``poly:2`` or ``spline:5``."""
    name, *numbers = text.split(":")
    if name in SPECIFICATIONS and not numbers:
        return name
    if name == "scale" and not numbers:
        return StandardScaler()
    if name not in TRANSFORMERS:
        known = [*SPECIFICATIONS, "scale", *TRANSFORMERS]
        raise DataError(f"--features: {text!r} is not known; {did_you_mean(name, known)}")
    (number,) = whole_numbers("--features", text, numbers, 1)
    return TRANSFORMERS[name](number)


def parse_trainer(text: str) -> Trainer | str:
    """Return the trainer of ``auto`` or ``gradient-descent``: the names of the classes."""
    kinds = {_dashed(name): getattr(trainers, name) for name in trainers.__all__}
    made: dict[str, Trainer] = {}
    for name, kind in kinds.items():
        if isinstance(kind, type) and issubclass(kind, Trainer):
            try:
                made[name] = kind()
            except TypeError:  # abstract, or with parameters that have no default
                continue
    if text == "auto":
        return text
    if text not in made:
        raise DataError(
            f"--trainer: {text!r} is not known; {did_you_mean(text, ['auto', *sorted(made)])}"
        )
    return made[text]


def with_limits(
    trainer: Trainer | str, max_seconds: float | None, checkpoint: Path | None
) -> Trainer | str:
    """Return the trainer with a limit on its time, and the file of its checkpoint."""
    if max_seconds is None and checkpoint is None:
        return trainer
    limited = trainers.Auto() if isinstance(trainer, str) else trainer
    if max_seconds is not None:
        limited.set_params(max_seconds=max_seconds)
    if checkpoint is not None:
        limited.set_params(checkpoint=str(checkpoint))
    return limited


def whole_numbers(option: str, text: str, parts: list[str], *counts: int) -> list[int]:
    """Read the numbers after a name; ``counts`` says how many there may be."""
    if len(parts) not in counts or not all(map(_is_whole, parts)):
        many = " or ".join(map(str, counts))
        raise DataError(f"{option}: {text!r} needs {many} whole number(s) after its name")
    return [int(part) for part in parts]


def _is_whole(part: str) -> bool:
    """Say whether a text is a whole number; Python refuses to read one of thousands of digits."""
    return part.isascii() and part.isdigit() and len(part) < 10


def _dashed(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
