"""What was learned, in words and in short tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import FeaslearnWarning
from feaslearn.hypotheses.blend import Blend
from feaslearn.hypotheses.facets import Facets
from feaslearn.hypotheses.map_hypothesis import MapHypothesis
from feaslearn.hypotheses.minkowski import Minkowski
from feaslearn.known import ResolvedKnown
from feaslearn.plots.canvas import at_signal
from feaslearn.region import Region
from feaslearn.regressor.reader import decision_names
from feaslearn.report.samples import Samples
from feaslearn.tolerances import SAME_TOL

Array = NDArray[np.float64]


def sentences(samples: Samples) -> list[str]:
    """Say what the model is and what it learned.

    Parameters
    ----------
    samples : Samples
        The model and its rows.

    Returns
    -------
    list of str
        Sentences.
    """
    model, names = samples.model, samples.data.names
    cheap = "earn most" if model.sense == "max" else "cost least"
    said = [
        f"From observed choices of {_listed(names.decisions)} the model learned which values are "
        f"possible under given {_listed(names.signals)}. It takes decisions to be those that "
        f"{cheap} among the possible ones.",
        _kind(samples),
    ]
    moves = samples.feature_names
    if moves:
        said.append(f"What is possible moves with {_listed(moves)}.")
    else:
        said.append("What is possible does not move with any signal.")
    if model.known_ is not None:
        said.append(f"Known beforehand, and not learned: {_known(model.known_)}.")
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


def _kind(samples: Samples) -> str:
    """Say what kind of region it is."""
    hypothesis = samples.model.hypothesis_
    n, k = samples.observed.shape[1], samples.features.shape[1]
    if isinstance(hypothesis, Facets):
        rows = hypothesis.rows(samples.model.theta_, n, k)
        parts = [
            _count(len(rows.E), "balance that always holds", "balances that always hold"),
            _count(n, "range of a decision", "ranges of decisions"),
            _count(len(rows.a), "limit on a combination of them", "limits on combinations of them"),
        ]
        return f"The region is bounded by {', '.join(parts[:-1])} and {parts[-1]}."
    if isinstance(hypothesis, Minkowski):
        terms = hypothesis.scales(samples.model.theta_, samples.features, n).max(axis=0) > SAME_TOL
        return (
            f"The region is a sum of {_count(int(terms.sum()), 'part', 'parts')}, each a simple "
            "choice of which the size was learned."
        )
    if isinstance(hypothesis, Blend):
        count = len(hypothesis.parts(samples.model.theta_, n, k))
        return f"The region is a weighted mean of {_count(count, 'region', 'regions')}."
    if isinstance(hypothesis, MapHypothesis):
        return (
            f"The region is an image of {hypothesis.latent(n)!r}, of which the place of every "
            "corner, or axis, was learned."
        )
    return f"The region is of the kind {hypothesis!r}."


def _known(known: ResolvedKnown) -> str:
    """Say which constraints were known."""
    parts = [
        (len(known.shape.G), _count(len(known.shape.G), "limit", "limits")),
        (len(known.shape.E), _count(len(known.shape.E), "balance", "balances")),
        (known.specification.bounds is not None, "bounds of decisions"),
    ]
    return " and ".join(text for there, text in parts if there) or "nothing"


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'no'} {one if number == 1 else many}"


def _listed(names: Sequence[str]) -> str:
    shown = [f"“{name}”" for name in names[:8]]
    more = len(names) - len(shown)
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
