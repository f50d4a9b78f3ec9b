"""What the interactive view of the region is made of, as JSON can hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from feaslearn.costs import FunctionCost
from feaslearn.report.region_grid import region_grid
from feaslearn.report.region_program import region_program
from feaslearn.report.samples import Samples

Array = NDArray[np.float64]

#: Rows that are drawn as dots and can be chosen.
MOST_ROWS = 400


def scene(samples: Samples, decisions: Sequence[str], signals: Sequence[str]) -> dict[str, Any]:
    """Return what the page needs to draw the region at any signal.

    Parameters
    ----------
    samples : Samples
        The model and its rows.
    decisions, signals : sequence of str
        Labels, with units where there are some.

    Returns
    -------
    dict
        Labels and ranges of the sliders, the region as a program or on a grid, costs, and rows.
    """
    model, data = samples.model, samples.data
    program = region_program(model, np.array(data.signals))
    grid = region_grid(samples) if program is None else None
    cost = _affine_cost(samples)
    rows = _chosen_rows(samples)
    by_hand = cost is None and samples.reader.priced
    return {
        "decisions": list(decisions),
        "signals": [
            {
                "label": label,
                "min": float(column.min()),
                "max": float(column.max()),
                "moves": k in model.features_.columns or grid is not None,
            }
            for k, (label, column) in enumerate(zip(signals, data.signals.T, strict=True))
        ],
        "columns": list(model.features_.columns),
        "part": program,
        "grid": grid,
        "cost": cost,
        "prices": _price_sliders(samples, decisions) if by_hand else None,
        "maximises": samples.reader.maximises,
        "discrete": _is_discrete(samples),
        "first": rows.index(samples.typical),
        "rows": [
            {
                "place": samples.place(i),
                "signals": data.signals[i].tolist(),
                "decision": [None if np.isnan(x) else float(x) for x in samples.observed[i]],
                "prices": data.cost_matrix[i].tolist() if by_hand else None,
            }
            for i in rows
        ],
    }


def _affine_cost(samples: Samples) -> dict[str, Any] | None:
    """Return what is paid or earned as ``C0 + C s``, where it is affine in the signals."""
    cost = samples.model.cost_
    if cost is None or isinstance(cost.specification, FunctionCost):
        return None
    constant = cost.evaluate(np.zeros((1, cost.n_signals)))
    slopes = cost.evaluate(np.eye(cost.n_signals)) - constant
    return {"C0": constant[0].tolist(), "C": slopes.T.tolist()}


def _price_sliders(samples: Samples, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return a slider for the price of each decision, for costs that are no signals."""
    return [
        {"label": f"price of {label}", "min": float(column.min()), "max": float(column.max())}
        for label, column in zip(labels, samples.data.cost_matrix.T, strict=True)
    ]


def _chosen_rows(samples: Samples) -> list[int]:
    """Return rows that are spread evenly, the typical one among them."""
    every = np.linspace(0, len(samples) - 1, min(len(samples), MOST_ROWS)).round().astype(int)
    return sorted({*every.tolist(), samples.typical})


def _is_discrete(samples: Samples) -> bool:
    """Say whether only the corners of the region can be chosen."""
    hypothesis = samples.model.hypothesis_
    image = hypothesis.image(
        samples.model.theta_, samples.features[samples.typical], samples.observed.shape[1]
    )
    return bool(image.primitive.discrete)
