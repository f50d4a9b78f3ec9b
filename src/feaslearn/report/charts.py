"""The charts of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from feaslearn.plots.loss_curve import recorded_losses
from feaslearn.report.chart import Chart
from feaslearn.report.samples import Samples

Array = NDArray[np.float64]

#: Decisions with a chart of their own, and points in a chart.
MOST_DECISIONS, MOST_POINTS = 9, 1500


class Charts(NamedTuple):
    """The learning curve, where one was recorded; residuals; predictions."""

    history: Chart | None
    residuals: Chart
    predictions: list[Chart]

    @property
    def all(self) -> list[Chart]:
        """All of them, in the order of the page."""
        first = [] if self.history is None else [self.history]
        return [*first, self.residuals, *self.predictions]


def charts(samples: Samples, labels: Sequence[str]) -> Charts:
    """Return the charts of a model.

    Parameters
    ----------
    samples : Samples
        The model and its rows.
    labels : sequence of str
        Decisions with their units.

    Returns
    -------
    Charts
        Ready to draw.
    """
    every = np.unique(np.linspace(0, len(samples) - 1, MOST_POINTS).round().astype(int))
    predictions = [
        _prediction(label, samples.observed[every, j], samples.predicted[every, j])
        for j, label in enumerate(labels[:MOST_DECISIONS])
    ]
    return Charts(_history(samples), _residuals(samples, every), predictions)


def _history(samples: Samples) -> Chart | None:
    result = samples.model.result_
    losses = {
        name: values
        for name, values in recorded_losses(result.history).items()
        if len(values) > 1 and "loss" in name
    }
    if not losses:
        return None
    steps = max(len(values) for values in losses.values())
    everything = np.concatenate(list(losses.values()))
    if result.lower_bound is not None:
        everything = np.append(everything, result.lower_bound)
    chart = Chart.around(
        "Learning curve", "iterate", "loss", np.array([0.0, steps - 1.0]), everything
    )
    for index, (name, values) in enumerate(losses.items()):
        shown = np.unique(np.linspace(0, len(values) - 1, 300).round().astype(int))
        chart.line(f"c{index % 4}", shown.astype(float), values[shown], name)
    if result.lower_bound is not None:
        ends = np.array([0.0, steps - 1.0])
        chart.line("bound", ends, np.full(2, result.lower_bound), "lower bound")
    return chart


def _residuals(samples: Samples, every: NDArray[np.intp]) -> Chart:
    """Draw how far each row is from its prediction, in the order of the data."""
    x, y = every.astype(float) + 1.0, samples.distances[every]
    chart = Chart.around(
        "Residuals in the order of the data", "row", "distance to prediction", x, np.append(y, 0.0)
    )
    chart.dots("dots", x, y)
    return chart


def _prediction(label: str, observed: Array, predicted: Array) -> Chart:
    seen = np.isfinite(observed)
    observed, predicted = observed[seen], predicted[seen]
    chart = Chart.around(label, "observed", "predicted", observed, predicted, same=True)
    chart.line("ideal", np.array(chart.xs), np.array(chart.xs))
    chart.dots("dots", observed, predicted)
    return chart
