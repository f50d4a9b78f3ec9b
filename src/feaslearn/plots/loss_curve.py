"""Curves with a spread over folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.exceptions import FeaslearnWarning

Array = NDArray[np.float64]

#: What the quantities that every trainer records are called.
LABELS = {"objective": "training loss", "returned_loss": "loss of returned decisions"}


class Curve(NamedTuple):
    """A loss (m, folds) at m places, with a name and a colour."""

    name: str
    places: NDArray[Any]
    losses: Array
    color: str


def recorded_losses(history: Mapping[str, Sequence[float]]) -> dict[str, Array]:
    """Return what was recorded while training under names for readers: losses, if there are some.

    Losses share an axis; a temperature or a step does not belong on it.
    """
    said = {
        LABELS.get(name, name.replace("_", " ")): np.asarray(values, dtype=float)
        for name, values in history.items()
        if len(values)
    }
    return {name: values for name, values in said.items() if "loss" in name} or said


@contextmanager
def quietly() -> Iterator[None]:
    """Keep what fits to small folds warn of to themselves: the curve says how well they do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        yield


def draw_curves(ax: Any, curves: Sequence[Curve], label: str) -> None:
    """Draw the mean of each curve over its folds, and one standard error around it."""
    for name, places, losses, color in curves:
        mean = losses.mean(axis=1)
        error = losses.std(axis=1, ddof=1) / np.sqrt(losses.shape[1]) if losses.shape[1] > 1 else 0
        ax.plot(places, mean, "o-", color=color, label=name)
        ax.fill_between(places, mean - error, mean + error, color=color, alpha=0.2, lw=0)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel(label)
    ax.set_ylabel("squared distance to the observed decision")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, title="mean, ± 1 standard error over folds")
