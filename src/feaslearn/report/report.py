"""The report: everything about a fitted model on one page."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from feaslearn import __version__
from feaslearn.atomic import check_writable, write_bytes
from feaslearn.data import Decisions
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.metrics.evaluation import Score
from feaslearn.plots.canvas import Units, labels
from feaslearn.plots.facets_over_time_display import binding_limits
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_fitted
from feaslearn.report import words
from feaslearn.report.charts import activities, charts
from feaslearn.report.comparison import Comparison, compare
from feaslearn.report.findings import find_problems
from feaslearn.report.limits import FirstScreen, first_screen, number, pretty, titled
from feaslearn.report.page_file import check_extra, render_page
from feaslearn.report.samples import Samples, fitting_samples
from feaslearn.report.scene import scene
from feaslearn.results import TrainingResult
from feaslearn.tolerances import TINY

#: Rows that fit worst, and decisions that are shown of each.
WORST, WORST_DECISIONS = 10, 5

#: Held-out losses above so many training losses are a sign of too much freedom.
OVERFIT = 3.0
#: Held-out rows that are predicted as well as this (R²) are predicted well.
GOOD = 0.95
#: Rows further off than this share of the largest decision are shown, with their decisions that
#: are off by so much of the one furthest off.
SHOWN, MATTERS = 1e-4, 0.05
#: Ties in a larger share of the rows than this are worth a warning.
OFTEN = 0.2

#: Details of a result that are penalties.
PENALTIES = ("ridge", "sparsity")
STATUS = {
    "optimal": "No region of this class fits the training rows better; that was proved.",
    "converged": "Training reached an optimum among nearby regions; a better one elsewhere is "
    "possible.",
    "stalled": "Training ended where no step helped any more; a better region is possible.",
    "iteration limit": "Training ended at its limit of iterations; more may improve the region.",
    "time limit": "Training ended at its time limit; more time may improve the region.",
    "stopped by callback": "Training was stopped by the user's own rule.",
    "interrupted": "Training was interrupted; this is the best region so far.",
}


class WorstRow(NamedTuple):
    """A row far from its prediction: where it is, what is off, and the doubtful limits there."""

    place: str
    error: str
    off: list[tuple[str, str, str]]
    status: str
    doubts: str


def write_report(
    model: RegionRegressor,
    data: Decisions,
    path: str | os.PathLike[str],
    *,
    train: Decisions | None = None,
    title: str | None = None,
    units: Units = None,
    refit: bool | None = None,
    place: Callable[[int], str] = "row {}".format,
    source: str = "",
    times: Sequence[datetime] | None = None,
) -> None:
    r"""Write one self-contained page about a fitted model.

    The learned limits come first, with the evidence for the most valuable one and what rows rest
    on; then when each limit binds, the region :math:`R(s)` with a slider for each signal, the model
    beside simpler predictors, the rows that fit worst, and problems of the data.

    Parameters
    ----------
    model : RegionRegressor
        A fitted model.
    data : Decisions
        Signals and decisions to show it on.
    path : path-like
        Where the page is written; it is written whole or not at all.
    train : Decisions, default=None
        The rows of the fit, if ``data`` holds others: then all predictors are fitted to them and
        measured on ``data``. None holds out parts of ``data``, one after the other.
    title : str, default=None
        Heading of the page.
    units : mapping of str to str, or str, default=None
        Units of signals and decisions by name, or one for all decisions.
    refit : bool, default=None
        Whether the model is fitted anew to parts of ``data`` for a fair comparison; None does so
        where it takes no longer than a minute.
    place : callable, default="row {}".format
        Says where a row of ``data`` comes from.
    source : str, default=""
        A sentence on where model and data come from.
    times : sequence of datetime, default=None
        When the rows of ``data`` were: limits are then shown by hour and day.

    Raises
    ------
    DataError
        If the data do not fit the model.
    FileError
        If the page cannot be written.
    MissingExtraError
        If the extra ``report`` is not installed.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(60, random_state=0)
    >>> model = fl.RegionRegressor(fl.Scaled(fl.Simplex(2)), cost=data.cost)
    >>> model = model.fit(data.signals, data.decisions)
    >>> fl.report.write_report(model, data, "switch.html")  # doctest: +SKIP
    """
    # First: what cannot be written should not cost the time of the work.
    check_extra()
    check_writable(path)
    page = render_report(
        model,
        data,
        train=train,
        title=title,
        units=units,
        refit=refit,
        place=place,
        source=source,
        times=times,
    )
    # Names of files, and units, may come with bytes that are no letters: they are shown by codes.
    write_bytes(path, page.encode("utf-8", errors="backslashreplace"))


def render_report(
    model: RegionRegressor,
    data: Decisions,
    *,
    train: Decisions | None = None,
    title: str | None = None,
    units: Units = None,
    refit: bool | None = None,
    place: Callable[[int], str] = "row {}".format,
    source: str = "",
    times: Sequence[datetime] | None = None,
) -> str:
    """Return the page of `write_report` as text.

    The parameters are those of `write_report`.
    """
    check_fitted(model)
    samples = fitting_samples(model, data, place, "data", times)
    fitted = None if train is None else fitting_samples(model, train, "row {}".format, "train")
    names = samples.data.names
    own = labels(names.decisions, units, names.signals)
    by_name = units if not isinstance(units, str) else None
    around = labels(names.signals, by_name, names.decisions)
    comparison = compare(samples, fitted, refit)
    screen = first_screen(samples, units)
    content = {
        "title": title or "What is behind these decisions",
        "headline": _headline(screen, comparison),
        "subline": _subline(screen, comparison),
        "poor": _poor(comparison),
        "race": _race(comparison),
        "first": screen,
        "activities": activities(samples, titled),
        "binding": len(binding_limits(samples.limits)),
        "has_times": times is not None,
        "number": number,
        "sentences": words.sentences(samples),
        "described": [] if screen.limits else words.typical_region(samples),
        "explanation": [] if screen.limits else explanation(samples),
        "typical_place": place(samples.typical),
        "renamed": words.renamed(samples),
        "comparison": comparison,
        "scores": _scores(samples, comparison, own),
        "charts": charts(samples, own),
        "worst": worst_rows(samples, screen.unit),
        "findings": find_problems(samples, fitted),
        "doubts": doubts(samples, comparison),
        "bands": typical_bands(samples),
        "result": model.result_.rows(),
        "maximises": samples.reader.maximises,
        "source": f"{source} " if source else "",
        "version": __version__,
    }
    return render_page(content, scene(samples, own, around))


def worst_rows(samples: Samples, unit: str = "") -> list[WorstRow]:
    """Return the rows furthest from their predictions, the worst first."""
    distances = np.nan_to_num(samples.distances)
    size = max(TINY, float(np.nanmax(np.abs(samples.observed), initial=0.0)))
    rows = [i for i in np.argsort(-distances, kind="stable") if distances[i] > SHOWN * size]
    trust, names = samples.trust, samples.data.names.decisions
    unsure = {limit.name for limit in samples.limits if limit.status != "identified"}
    found = []
    for i in rows[:WORST]:
        errors = np.nan_to_num(samples.errors[i])
        most = np.argsort(-errors, kind="stable")[:WORST_DECISIONS]
        off = [
            (names[j], number(samples.observed[i, j]), number(samples.predicted[i, j]))
            for j in most
            if errors[j] > MATTERS * errors.max()
        ]
        mean = f"{number(float(np.nanmean(samples.errors[i])))} {unit}".rstrip()
        held = [name for name in str(trust.rests_on[i]).split(" ") if name in unsure]
        doubt = pretty(", ".join(held)) if held or not trust.trusted[i] else "no warning"
        found.append(WorstRow(samples.place(int(i)), mean, off, str(trust.status[i]), doubt))
    return found


def _scores(
    samples: Samples, comparison: Comparison, own: Sequence[str]
) -> list[tuple[str, str, str, str, str]]:
    """Return for each decision that moves mean errors and R²: the model and the best other."""
    line, other = comparison.fair or comparison.lines[0], comparison.best_other
    return [
        (own[j], *_score(line.scores[j]), *(("", "") if other is None else _score(other.scores[j])))
        for j in samples.moving
    ]


def _score(score: Score) -> tuple[str, str]:
    return number(score.mae), "–" if score.r2 is None else f"{score.r2:.3f}".replace("-", "\u2212")


def _headline(screen: FirstScreen, comparison: Comparison) -> str:
    """Say in one sentence what a reader wants to know first."""
    line = comparison.fair or comparison.lines[0]
    facets = sum(bool(row.name) for row in screen.limits)
    bounds = len(screen.limits) - facets
    parts = [
        f"{count} {one if count == 1 else many}"
        for count, one, many in (
            (facets, "hidden limit", "hidden limits"),
            (0 if facets else bounds, "bound", "bounds"),
            (len(screen.equalities), "balance", "balances"),
        )
        if count
    ]
    who = " and ".join(parts) or "The learned region"
    verb = "explain" if parts and parts != ["1 hidden limit"] else "explains"
    only = "only " if line.r2 < GOOD else ""
    where = "rows it has not seen" if comparison.fair else "these rows, which it may have seen"
    return f"{who} {verb} {only}{_share(line.r2)} of what varies in {where}"


def _subline(screen: FirstScreen, comparison: Comparison) -> str:
    """Say how far predictions are off beside the best simpler predictor, and what is sure."""
    line, other = comparison.fair or comparison.lines[0], comparison.best_other
    text = f"Off by {number(line.mae)} {screen.unit}".rstrip() + " a decision on average"
    if other is not None:
        off = f"{number(other.mae)} {screen.unit}".rstrip()
        text += f"; the best simpler predictor, {other.name}, explains {_share(other.r2)}"
        text += f" and is off by {off}"
    facets = [row for row in screen.limits if row.name]
    if facets:
        sure = sum(row.status == "identified" for row in facets)
        text += f". The data determine {'all' if sure == len(facets) else sure} of the "
        text += "hidden limits" if sure == len(facets) else f"{len(facets)} hidden limits"
    return f"{text}."


def _poor(comparison: Comparison) -> str:
    """Warn of a fit that explains too little, whatever the status of its limits."""
    line, other = comparison.fair, comparison.best_other
    if line is None or not line.r2 < GOOD:
        return ""
    text = "A poor fit: limits may be missing, costs may be others, or rows too few."
    if other is not None and other.r2 >= line.r2:
        text += f" {other.name[0].upper()}{other.name[1:]} predicts no worse."
    return f"{text} Do not rely on its limits, even where the data seem to determine them."


def _race(comparison: Comparison) -> list[tuple[str, int, str]]:
    """Return predictors with the length of their bars and R² as texts, the best three others."""
    own = comparison.fair or comparison.lines[0]
    others = sorted((line for line in comparison.lines if not line.ours), key=lambda x: -x.r2)
    return [
        (name, max(0, round(100 * line.r2)) if line.r2 == line.r2 else 0, _share(line.r2))
        for name, line in (("this model", own), *((line.name, line) for line in others[:3]))
    ]


def _share(r2: float) -> str:
    if np.isnan(r2):
        return "an unknown share"
    return "nothing" if r2 <= 0.0 else f"{100 * r2:.1f}\u00a0%"


# Bands around the typical prediction, and what the model says its data show.


class Bands(NamedTuple):
    """Calibrated bands: their level, the share of the rows that they hold, and a typical row."""

    level: float
    held: float
    rows: list[tuple[str, str, str, str]]


def explanation(samples: Samples) -> list[tuple[str, list[str]]]:
    """Return headings and lines on what the data did not show, and on what they pinned."""
    sections = [(head, list(lines)) for head, lines in samples.model.explain().sections() if lines]
    return sorted(sections, key=lambda section: section[0] != "not seen")


def typical_bands(samples: Samples) -> Bands | None:
    """Return the bands of a model that was calibrated with `conformalize`, or None."""
    model = samples.model
    if getattr(model, "conformal_", None) is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        bands = model.predict_interval(samples.signals, samples.given_costs)
    inside = bands.contains(samples.observed.reshape(bands.center.shape))
    held = inside.reshape(len(samples), -1) | np.isnan(samples.observed)
    i = samples.typical
    ends = (
        [
            number(float(value))
            for value in np.asarray(part, dtype=float).reshape(len(samples), -1)[i]
        ]
        for part in (bands.center, bands.lower, bands.upper)
    )
    rows = list(zip(samples.data.names.decisions, *ends, strict=True))
    return Bands(100 * bands.level, 100 * float(held.all(axis=1).mean()), rows)


# How sure the fit is: the one place where the report asks the model for doubts.


class Doubt(NamedTuple):
    """One statement about how sure the fit is, and whether it should worry a reader."""

    text: str
    worrying: bool = False


def _status(result: TrainingResult) -> str:
    """Say how training ended; a proof is one for the loss with its penalties."""
    held = [name for name in PENALTIES if result.details.get(name, 0.0) > 0.0]
    if result.status == "optimal" and held:
        return f"No region of this class is better by the loss with {' and '.join(held)}: a proof."
    return STATUS[result.status]


def doubts(samples: Samples, comparison: Comparison) -> list[Doubt]:
    """Say how far the learned region can be trusted.

    Parameters
    ----------
    samples : Samples
        The model and its rows.
    comparison : Comparison
        The model on rows that it has not seen.

    Returns
    -------
    list of Doubt
        Statements.
    """
    result = samples.model.result_
    said = [Doubt(_status(result), result.status not in ("optimal", "converged"))]
    if result.gap is not None:
        said.append(
            Doubt(
                f"The training loss is {result.objective:.4g}; none below {result.lower_bound:.4g} "
                f"is possible with this class (gap {max(result.gap, 0.0):.3g})."
            )
        )
    fair, train = comparison.fair, result.returned_loss
    if fair is not None and fair.loss > OVERFIT * train and fair.r2 < GOOD:
        times = f"{np.sqrt(fair.loss / train):.1f} times" if train > 0.0 else "much"
        text = (
            f"Held-out rows are {times} as far off as those of the fit: it leans on its own rows."
        )
        said.append(Doubt(text, True))
    if samples.reader.priced:
        share = float(np.mean(samples.trust.status == "tie"))
        if share > 0.0:
            text = (
                f"In {100 * share:.1f} % of the rows several decisions are cheapest, so the "
                "returned one is a matter of choice."
            )
            said.append(Doubt(text, share > OFTEN))
    said += [Doubt(text, True) for text in result.warnings]
    return said
