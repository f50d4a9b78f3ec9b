"""The report: everything about a fitted model on one page."""

from __future__ import annotations

import base64
import hashlib
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import resources
from typing import Any

import numpy as np

from feaslearn import __version__
from feaslearn.data import Decisions
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.io.whole_files import check_writable, write_bytes
from feaslearn.messages import import_extra
from feaslearn.plots.canvas import Units, at_signal, labels
from feaslearn.region import Region
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_fitted, decision_names
from feaslearn.report.binding import binding_limits
from feaslearn.report.charts import activities, charts
from feaslearn.report.comparison import Comparison, Line, compare
from feaslearn.report.findings import find_problems
from feaslearn.report.limits import first_screen, number, pretty, titled
from feaslearn.report.samples import Samples, fitting_samples
from feaslearn.results import UNFINISHED
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
    """Write one self-contained page about a fitted model.

    The learned limits come first, with the evidence for the most valuable one and what rows rest
    on; then when each limit binds, the model beside simpler predictors, the rows that fit worst,
    and problems of the data. The page is static: pictures and tables, no script.

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
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost)
    >>> model = model.fit(data.signals, data.decisions)
    >>> fl.report.write_report(model, data, "switch.html")  # doctest: +SKIP
    """
    # First: what cannot be written should not cost the time of the work.
    check_extra()
    check_writable(path)
    check_fitted(model)
    samples = fitting_samples(model, data, place, "data", times)
    fitted = None if train is None else fitting_samples(model, train, "row {}".format, "train")
    names = samples.data.names
    decision_labels = labels(names.decisions, units, names.signals)
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
        "sentences": sentences(samples),
        "described": [] if screen["limits"] else typical_region(samples),
        "explanation": [] if screen["limits"] else explanation(samples),
        "typical_place": place(samples.typical),
        "renamed": renamed(samples),
        "comparison": comparison,
        "scores": _scores(samples, comparison, decision_labels),
        "charts": charts(samples, decision_labels),
        "worst": worst_rows(samples, screen["unit"]),
        "findings": find_problems(samples, fitted),
        "doubts": doubts(samples, comparison),
        "bands": typical_bands(samples),
        "result": model.result_.rows(),
        "source": f"{source} " if source else "",
        "version": __version__,
    }
    page = render_page(content)
    # Names of files, and units, may come with bytes that are no letters: they are shown by codes.
    write_bytes(path, page.encode("utf-8", errors="backslashreplace"))


def worst_rows(samples: Samples, unit: str = "") -> list[dict[str, Any]]:
    """Return the rows furthest from their predictions, the worst first.

    Each has its place, its mean error, what is off, its status, and the doubtful limits there.
    """
    distances = np.nan_to_num(samples.distances)
    size = max(TINY, float(np.nanmax(np.abs(samples.observed), initial=0.0)))
    rows = [i for i in np.argsort(-distances, kind="stable") if distances[i] > SHOWN * size]
    trust, names = samples.trust, samples.data.names.decisions
    unsure = {limit.name for limit in samples.limits if limit.status != "identified"}
    found = []
    for i in rows[:WORST]:
        errors = np.nan_to_num(samples.errors[i])
        most = np.argsort(-errors, kind="stable")[:WORST_DECISIONS]
        held = [name for name in str(trust.rests_on[i]).split(" ") if name in unsure]
        found.append(
            {
                "place": samples.place(int(i)),
                "error": f"{number(float(np.nanmean(samples.errors[i])))} {unit}".rstrip(),
                "off": [
                    (names[j], number(samples.observed[i, j]), number(samples.predicted[i, j]))
                    for j in most
                    if errors[j] > MATTERS * errors.max()
                ],
                "status": str(trust.status[i]),
                "doubts": pretty(", ".join(held)) if held or not trust.trusted[i] else "no warning",
            }
        )
    return found


def _scores(
    samples: Samples, comparison: Comparison, decision_labels: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return for each decision that moves mean errors and R²: the model and the best other."""
    lines = [comparison.ours, comparison.best_other]
    return [
        (decision_labels[j], *(text for line in lines for text in _score(line, j)))
        for j in samples.moving
    ]


def _score(line: Line | None, j: int) -> tuple[str, str]:
    if line is None:
        return "", ""
    r2 = line.scores[j].r2
    return number(line.scores[j].mae), "–" if r2 is None else f"{r2:.3f}".replace("-", "\u2212")


def _headline(screen: dict[str, Any], comparison: Comparison) -> str:
    """Say in one sentence what a reader wants to know first."""
    line = comparison.ours
    facets = sum(bool(row["name"]) for row in screen["limits"])
    counts = {
        "hidden limit": facets,
        "bound": 0 if facets else len(screen["limits"]),
        "balance": len(screen["equalities"]),
    }
    parts = [f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items() if count]
    who = " and ".join(parts) or "The learned region"
    verb = "explain" if parts and parts != ["1 hidden limit"] else "explains"
    only = "only " if line.r2 < GOOD else ""
    where = "rows it has not seen" if comparison.fair else "these rows, which it may have seen"
    return f"{who} {verb} {only}{_share(line.r2)} of what varies in {where}"


def _subline(screen: dict[str, Any], comparison: Comparison) -> str:
    """Say how far predictions are off beside the best simpler predictor, and what is sure."""
    line, other, unit = comparison.ours, comparison.best_other, screen["unit"]
    text = f"Off by {number(line.mae)} {unit}".rstrip() + " a decision on average"
    if other is not None:
        off = f"{number(other.mae)} {unit}".rstrip()
        text += f"; the best simpler predictor, {other.name}, explains {_share(other.r2)}"
        text += f" and is off by {off}"
    facets = [row["status"] for row in screen["limits"] if row["name"]]
    if facets:
        sure = facets.count("identified")
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
    """Return predictors with the length of their bars and R² as strings, the best three others."""
    others = sorted((line for line in comparison.lines if not line.ours), key=lambda x: -x.r2)
    return [
        (name, max(0, round(100 * line.r2)) if line.r2 == line.r2 else 0, _share(line.r2))
        for name, line in (
            ("this model", comparison.ours),
            *((line.name, line) for line in others[:3]),
        )
    ]


def _share(r2: float) -> str:
    if np.isnan(r2):
        return "an unknown share"
    return "nothing" if r2 <= 0.0 else f"{100 * r2:.1f}\u00a0%"


def explanation(samples: Samples) -> list[tuple[str, list[str]]]:
    """Return headings and lines on what the data did not show, and on what they pinned."""
    sections = [(head, list(lines)) for head, lines in samples.model.explain().sections() if lines]
    return sorted(sections, key=lambda section: section[0] != "not seen")


def typical_bands(samples: Samples) -> dict[str, Any] | None:
    """Return level, coverage and a typical row of the bands of `conformalize`, if there are any."""
    model = samples.model
    if getattr(model, "conformal_", None) is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        bands = model.predict_interval(samples.signals, samples.given_costs)
    inside = bands.contains(samples.observed.reshape(bands.center.shape))
    held = inside.reshape(len(samples), -1) | np.isnan(samples.observed)
    ends = np.array([bands.center, bands.lower, bands.upper], dtype=float)
    here = ends.reshape(3, len(samples), -1)[:, samples.typical].T
    rows = zip(samples.data.names.decisions, here.tolist(), strict=True)
    return {
        "level": 100 * bands.level,
        "held": 100 * float(held.all(axis=1).mean()),
        "rows": [(name, *map(number, each)) for name, each in rows],
    }


# What was learned, in words.


def sentences(samples: Samples) -> list[str]:
    """Say what the model is and what it learned."""
    model, names, hypothesis = samples.model, samples.data.names, samples.model.hypothesis_
    cheap = "earn most" if model.sense == "max" else "cost least"
    said = [
        f"From observed choices of {_listed(names.decisions)} the model learned which values are "
        f"possible under given {_listed(names.signals)}. It takes decisions to be those that "
        f"{cheap} among the possible ones, in a region of the kind {hypothesis!r}."
    ]
    moves = samples.feature_names
    said.append(f"What is possible moves with {_listed(moves) if moves else 'no signal'}.")
    if model.known_ is not None:
        said.append("Some constraints were known beforehand, and not learned.")
    if not samples.reader.priced:
        said.append("No prices were given, so the region is a single point: a linear policy.")
    return said


def typical_region(samples: Samples) -> list[str]:
    """Say what is possible at the row whose signals are closest to the medians."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        here = at_signal(samples.model, samples.data.signals[samples.typical]).region
    named = Region(here.image, samples.data.names.decisions, here.account, here.known)
    return named.describe().split("\n")


def renamed(samples: Samples) -> str:
    """Say which column each name in the learned constraints stands for, where they differ."""
    names, model = samples.data.names, samples.model
    pairs = [
        (old, new)
        for old, new in (
            *zip(decision_names(model), names.decisions, strict=True),
            *zip(model.features_.names[1:], samples.feature_names, strict=True),
        )
        if old != new
    ]
    return ", ".join(f"{old} is “{new}”" for old, new in pairs)


def _listed(names: Sequence[str]) -> str:
    shown = [f"“{name}”" for name in names[:8]]
    more = len(names) - len(shown)
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def doubts(samples: Samples, comparison: Comparison) -> list[str]:
    """Return warnings of the fit, and whether it leans on its rows."""
    result, fair = samples.model.result_, comparison.fair
    said, train = list(result.warnings), result.objective
    if result.status in UNFINISHED:
        said.append(f"Training ended early ({result.status}): a better region is possible.")
    if fair is not None and fair.loss > OVERFIT * train and fair.r2 < GOOD:
        times = f"{np.sqrt(fair.loss / train):.1f} times" if train > 0.0 else "much"
        said.append(f"Held-out rows are {times} as far off as those of the fit.")
    return said


# One self-contained page: all strings escaped, no file or network needed.


def check_extra() -> None:
    """Refuse, before any work, if the extra ``report`` is not installed."""
    import_extra("jinja2", "report")


def render_page(content: Mapping[str, Any]) -> str:
    """Return the page as text."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style = _file("style.css")
    digest = hashlib.sha256(style.encode("utf-8")).digest()
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(_file("page.html")).render(
        **content,
        # The only string that is not escaped, known to the content security policy by its hash.
        style=Markup(style),
        style_hash=f"sha256-{base64.b64encode(digest).decode('ascii')}",
    )


def _file(name: str) -> str:
    return resources.files("feaslearn.report").joinpath("page", name).read_text("utf-8")
