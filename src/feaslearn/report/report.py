"""The report: everything about a fitted model on one page."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn import __version__
from feaslearn.atomic import check_writable, write_bytes
from feaslearn.data import Decisions
from feaslearn.exceptions import FeaslearnError, FeaslearnWarning
from feaslearn.io.table import Frame
from feaslearn.metrics import evaluate
from feaslearn.plots.canvas import Units, labels
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_fitted
from feaslearn.report import words
from feaslearn.report.charts import charts
from feaslearn.report.comparison import Comparison, compare, is_training
from feaslearn.report.findings import find_problems
from feaslearn.report.limits import FirstScreen, first_screen
from feaslearn.report.page_file import check_extra, render_page
from feaslearn.report.samples import Samples, fitting_samples
from feaslearn.report.scene import scene
from feaslearn.report.words import facet_table
from feaslearn.results import TrainingResult
from feaslearn.tolerances import SAME_TOL, TINY

Array = NDArray[np.float64]

#: Rows that fit worst, and decisions that are shown of each.
WORST, WORST_DECISIONS = 10, 6

#: Refits of a bootstrap, and the seconds that they may take together.
REFITS, SECONDS = 50, 30.0
LEVEL = 0.9

#: Held-out losses above so many training losses are a sign of too much freedom.
OVERFIT = 3.0
#: Unless held-out rows are predicted as well as this (R²) all the same.
GOOD = 0.95
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
    """A row far from its prediction: where it is, how far, observed and predicted decisions."""

    place: str
    distance: float
    pairs: list[tuple[float, float]]


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
) -> None:
    r"""Write one self-contained page about a fitted model.

    It says in words what was learned, compares the model with simpler predictors, shows the region
    :math:`R(s)` with a slider for each signal, residuals and the rows that fit worst, problems of
    the data, and how sure the fit is.

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
) -> str:
    """Return the page of `write_report` as text.

    The parameters are those of `write_report`.
    """
    check_fitted(model)
    samples = fitting_samples(model, data, place, "data")
    fitted = None if train is None else fitting_samples(model, train, "row {}".format, "train")
    names = samples.data.names
    own = labels(names.decisions, units, names.signals)
    by_name = units if not isinstance(units, str) else None
    around = labels(names.signals, by_name, names.decisions)
    comparison = compare(samples, fitted, refit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        evaluation = evaluate(model, samples.data)
    drawn = charts(samples, own)
    screen = first_screen(samples, units)
    content = {
        "title": title or "What is behind these decisions",
        "headline": _headline(screen, comparison),
        "race": _race(comparison),
        "first": screen,
        "sentences": words.sentences(samples),
        "typical": words.typical_region(samples),
        "typical_place": place(samples.typical),
        "renamed": words.renamed(samples),
        "effects": words.effects(samples),
        "comparison": comparison,
        "evaluation": evaluation,
        "charts": drawn.all,
        "has_history": drawn.history is not None,
        "worst": worst_rows(samples),
        "worst_decisions": own[:WORST_DECISIONS],
        "findings": find_problems(samples, fitted),
        "doubts": doubts(samples, comparison),
        "explanation": explanation(samples),
        "bands": typical_bands(samples, fitted or (samples if is_training(samples) else None)),
        "result": model.result_.rows(),
        "maximises": samples.reader.maximises,
        "source": f"{source} " if source else "",
        "version": __version__,
    }
    return render_page(content, scene(samples, own, around))


def worst_rows(samples: Samples) -> list[WorstRow]:
    """Return the rows furthest from their predictions, the worst first."""
    distances = np.nan_to_num(samples.distances)
    size = max(TINY, float(np.nanmax(np.abs(samples.observed), initial=0.0)))
    order = [
        i for i in np.argsort(-distances, kind="stable")[:WORST] if distances[i] > SAME_TOL * size
    ]
    return [
        WorstRow(
            samples.place(int(i)),
            float(distances[i]),
            [
                (float(seen), float(guess))
                for seen, guess in zip(samples.observed[i], samples.predicted[i], strict=True)
            ][:WORST_DECISIONS],
        )
        for i in order
    ]


def _headline(screen: FirstScreen, comparison: Comparison) -> str:
    """Say in one sentence what a reader wants to know first."""
    line, other = comparison.fair or comparison.lines[0], comparison.best_other
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
    text = f"{who} {verb} {_share(line.r2)} of what varies in the decisions"
    if comparison.fair is None or other is None:
        return f"{text} of these rows, which the model may have been fitted to"
    return f"{text} of rows that the model has not seen; {other.name} {_share(other.r2)}"


def _race(comparison: Comparison) -> list[tuple[str, int, str]]:
    """Return predictors with the length of their bars and R² as texts, the best three others."""
    own = comparison.fair or comparison.lines[0]
    others = sorted((line for line in comparison.lines if not line.ours), key=lambda x: -x.r2)
    return [
        (name, max(0, round(100 * line.r2)) if line.r2 == line.r2 else 0, _share(line.r2))
        for name, line in (("learned limits", own), *((line.name, line) for line in others[:3]))
    ]


def _share(r2: float) -> str:
    if np.isnan(r2):
        return "an unknown share"
    return "nothing" if r2 <= 0.0 else f"{100 * r2:.1f} %"


# Bands around the typical prediction, and what the model says its data show.


class Band(NamedTuple):
    """A predicted decision and its band."""

    name: str
    center: float
    lower: float
    upper: float


class TypicalBands(NamedTuple):
    """Bands of the decisions at the typical row, and where they come from."""

    bands: list[Band]
    source: str


def explanation(samples: Samples) -> list[tuple[str, list[str]]]:
    """Return headings and lines on what the data pinned and what they did not show.

    Parameters
    ----------
    samples : Samples
        The model and its rows.

    Returns
    -------
    list of pairs of str and list of str
        Empty where the model cannot say.
    """
    explain: Any = getattr(samples.model, "explain", None)
    if explain is None:
        return []
    return [(str(heading), list(lines)) for heading, lines in explain().sections() if lines]


def typical_bands(samples: Samples, fitted: Samples | None) -> TypicalBands | None:
    """Return bands of the decision at the typical row.

    Parameters
    ----------
    samples : Samples
        The model and its rows.
    fitted : Samples or None
        The rows of the fit, where they are known.

    Returns
    -------
    TypicalBands or None
        By refits where these are quick; None elsewhere.
    """
    model: Any = samples.model
    if fitted is None or not hasattr(model, "bootstrap"):
        return None
    if REFITS * model.result_.seconds > SECONDS:
        return None
    i = samples.typical
    row = Frame(samples.signals.values[i : i + 1], samples.signals.columns)
    given = samples.given_costs
    costs = None if given is None else given[i : i + 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        drawn = _refits(model, fitted)
        if drawn is None:
            return None
        found = drawn.predict(row, costs, level=LEVEL)
    ends = (
        np.asarray(part, dtype=float).ravel() for part in (found.center, found.lower, found.upper)
    )
    names = samples.data.names.decisions
    source = f"from {REFITS} fits to samples drawn with replacement"
    return TypicalBands([Band(*band) for band in zip(names, *ends, strict=True)], source)


def _refits(model: Any, fitted: Samples) -> Any:
    try:
        return model.bootstrap(REFITS, fitted.signals, fitted.observed, fitted.given_costs)
    except FeaslearnError:
        return None


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
    fair = comparison.fair
    if fair is not None:
        train = result.returned_loss
        text = (
            f"On rows that were held out the mean squared distance is {fair.loss.mean:.4g}, on the "
            f"training rows {train:.4g}."
        )
        over = fair.loss.mean > OVERFIT * train and fair.r2 < GOOD
        said.append(Doubt(text + (" The fit leans on its own rows." if over else ""), over))
    if samples.reader.priced:
        share = float(np.mean(samples.tied))
        text = "In every row one decision is the cheapest."
        if share > 0.0:
            text = (
                f"In {100 * share:.1f} % of the rows several decisions are cheapest, so the "
                "returned one is a matter of choice."
            )
        said.append(Doubt(text, share > OFTEN))
    table = facet_table(samples)
    if table is not None and len(table):
        sure = sum(facet.identified for facet in table)
        said.append(
            Doubt(
                f"{sure} of {len(table)} learned limits are determined by the samples in which "
                "they bind; the others could be moved without changing the fit.",
                sure < len(table),
            )
        )
    said += [Doubt(text, True) for text in result.warnings]
    return said
