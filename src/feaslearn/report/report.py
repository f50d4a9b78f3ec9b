"""The report: everything about a fitted model on one page."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn import __version__
from feaslearn.atomic import check_writable, write_bytes
from feaslearn.data import Decisions
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.metrics import evaluate
from feaslearn.plots.canvas import Units, labels
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_fitted
from feaslearn.report import words
from feaslearn.report.bands import explanation, typical_bands
from feaslearn.report.certainty import doubts
from feaslearn.report.charts import charts
from feaslearn.report.comparison import Comparison, compare, is_training
from feaslearn.report.findings import find_problems
from feaslearn.report.page_file import check_extra, render_page
from feaslearn.report.samples import Samples, fitting_samples
from feaslearn.report.scene import scene

Array = NDArray[np.float64]

#: Rows that fit worst, and decisions that are shown of each.
WORST, WORST_DECISIONS = 10, 6


class Tile(NamedTuple):
    """A number that is seen first, and what it is."""

    value: str
    label: str


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
    content = {
        "title": title or "What is behind these decisions",
        "summary": _summary(comparison),
        "tiles": _tiles(samples, comparison),
        "sentences": words.sentences(samples),
        "typical": words.typical_region(samples),
        "typical_place": place(samples.typical),
        "facets": words.facet_table(samples),
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
    size = max(1e-300, float(np.nanmax(np.abs(samples.observed), initial=0.0)))
    order = [i for i in np.argsort(-distances, kind="stable")[:WORST] if distances[i] > 1e-9 * size]
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


def _summary(comparison: Comparison) -> str:
    """Say in one sentence what a reader wants to know first."""
    line, other = comparison.fair or comparison.lines[0], comparison.best_other
    text = f"The learned region predicts {_share(line.r2)} of what varies in the decisions"
    if comparison.fair is None or other is None:
        return f"{text} of these rows, which it may have been fitted to."
    best = f"the best simpler predictor, {other.name}, {_share(other.r2)}"
    return f"{text} on rows it had not seen; {best}."


def _share(r2: float) -> str:
    if np.isnan(r2):
        return "an unknown share"
    return "nothing" if r2 <= 0.0 else f"{100 * r2:.1f} %"


def _tiles(samples: Samples, comparison: Comparison) -> list[Tile]:
    line = comparison.fair or comparison.lines[0]
    kind = "held out" if comparison.fair else "on these rows"
    tiles = [
        Tile(str(len(samples)), "rows in this report"),
        Tile("–" if np.isnan(line.r2) else f"{line.r2:.4f}", f"R², {kind}"),
        Tile(f"{line.loss.mean:.3g}", f"mean squared distance, {kind}"),
    ]
    other = comparison.best_other
    if other is not None and comparison.fair is not None:
        tiles.append(Tile(f"{other.loss.mean:.3g}", f"the same, {other.name}"))
    return [*tiles, Tile(samples.model.result_.status, "training ended")]
