"""The model beside simpler predictors, on rows that each of them has not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from feaslearn.arrays import Array
from feaslearn.exceptions import FeaslearnError
from feaslearn.inference.conformal import FOLDS, CrossFit
from feaslearn.inference.held_out import out_of_fold
from feaslearn.inference.regressors import REGRESSORS, fit_and_predict
from feaslearn.metrics.evaluation import Score
from feaslearn.report.samples import Samples
from feaslearn.tolerances import ROUNDING, VISIBLE_TOL

#: More rows than this are not compared, nor others fitted to more than that: it would take long.
MOST_ROWS, MOST_TRAINING_ROWS = 5000, 20_000
#: A model is fitted once more for each part if that takes no longer than this.
REFIT_SECONDS = 60.0


class Line(NamedTuple):
    """One predictor: its mean squared distance, R², mean absolute error, and whether it is ours."""

    name: str
    loss: float
    r2: float
    mae: float
    scores: list[Score]
    ours: bool = False
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """Predictors side by side, and on which rows they were measured."""

    lines: list[Line]
    held_out: str
    fair: Line | None

    @property
    def ours(self) -> Line:
        """The model, on rows that it has not seen where it could be fitted anew."""
        return self.fair or self.lines[0]

    @property
    def best_other(self) -> Line | None:
        """The best predictor that is not the model."""
        others = [line for line in self.lines if not line.ours]
        return max(others, key=lambda line: line.r2) if others else None


def compare(samples: Samples, train: Samples | None, refit: bool | None) -> Comparison:
    """Measure the model and simpler predictors."""
    count = len(samples)
    samples = samples.drawn(MOST_ROWS)
    ours = _line("this model", samples, samples.predicted, ours=True)
    if train is not None:
        fitted, train = len(train), train.drawn(MOST_TRAINING_ROWS)
        tables = train.signals.values, train.observed, samples.signals.values
        lines = [
            _line(name, samples, fit_and_predict(make, *tables))
            for name, make in REGRESSORS.items()
        ]
        text = (
            f"All were fitted to the same {fitted} rows and measured on the {count} other rows of "
            "this report."
        )
        if len(train) < fitted:
            text += f" But for this model, the fits saw {len(train)} of them, drawn at random."
        if len(samples) < count:
            text += f" Measured were {len(samples)}, drawn at random."
        return Comparison([ours, *lines], text, ours)
    if len(samples) < 2 * FOLDS:
        text = f"{len(samples)} rows are too few to hold some out; nothing is compared."
        return Comparison([ours], text, None)
    found = _cross_validated(samples, ours, refit)
    if len(samples) < count:
        drawn = f"{len(samples)} of {count} rows were drawn at random. {found.held_out}"
        return replace(found, held_out=drawn)
    return found


def _cross_validated(samples: Samples, ours: Line, refit: bool | None) -> Comparison:
    """Predict parts of the rows by fits to the others."""
    folds, seconds = np.empty(len(samples), dtype=int), FOLDS * samples.model.result_.seconds
    for fold, (_, out) in enumerate(KFold(FOLDS, shuffle=True, random_state=0).split(folds)):
        folds[out] = fold
    fair, why = None, "refitting it was not asked for"
    signals, observed, others = samples.signals, samples.observed, []
    for name, make in REGRESSORS.items():
        others.append(_line(name, samples, out_of_fold(make, signals.values, observed, folds)))
    if refit or (refit is None and seconds <= REFIT_SECONDS):
        try:
            fits = CrossFit(samples.model, signals, observed, samples.given_costs, folds=folds)
            fair = _line("this model, fitted anew", samples, fits.predicted, ours=True)
        except FeaslearnError as error:
            why = f"it could not be fitted to parts of the rows ({error})"
    elif refit is None:
        why = f"that would take about {seconds:.0f} s; ask for it with --refit"
    text = (
        f"The {len(samples)} rows were cut into {FOLDS} parts at random; each part was predicted "
        "by what was fitted to the others."
    )
    if fair is None:
        text += f" The model itself was not fitted anew: {why}."
    if is_training(samples):
        note = "has seen these rows"
        text += " These are the rows the model was fitted to, so its line is too good."
    else:
        note = "may have seen these rows"
        text += " Whether the model was fitted to some of these rows is not known."
    ours = ours._replace(name="this model as it is", note=note)
    return Comparison([*([] if fair is None else [fair]), ours, *others], text, fair)


def is_training(samples: Samples) -> bool:
    """Say whether the training loss is that of these rows."""
    loss = float(np.nanmean(np.square(samples.distances)))
    training = samples.model.result_.objective
    return bool(abs(loss - training) <= VISIBLE_TOL * max(loss, training, ROUNDING))


def _line(name: str, samples: Samples, predicted: Array, ours: bool = False) -> Line:
    observed = samples.observed
    seen = ~np.isnan(observed).all(axis=1)
    missed = np.square(np.nan_to_num(observed - predicted)).sum(axis=1)
    whole = Score.of(observed, predicted)
    each = [Score.of(x[:, None], p[:, None]) for x, p in zip(observed.T, predicted.T, strict=True)]
    r2 = np.nan if whole.r2 is None else whole.r2
    loss = float(missed[seen].mean()) if seen.any() else np.nan
    return Line(name, loss, r2, whole.mae, each, ours)
