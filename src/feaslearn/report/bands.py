"""Bands around the typical prediction, and what the model says its data show."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from feaslearn.exceptions import FeaslearnError, FeaslearnWarning
from feaslearn.io.frame import Frame
from feaslearn.report.samples import Samples

#: Refits of a bootstrap, and the seconds that they may take together.
REFITS, SECONDS = 50, 30.0
LEVEL = 0.9


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
