r"""The four losses of the paper's tables (Section 2.2), and the distance of returned decisions.

Losses of the *observed* decisions under the *learned* region are those of equations (5a) and (5b).
True losses, equations (6a) and (6b), are the same two of the decision that the model *returns*,
under the *true* problem: true feasibility is the distance to the true feasible set (for a network,
flows exist). True and learned predictability are the same number with unique optima, as the paper
says, and data without noise, which it leaves out. All numbers are means over samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.paper.losses import Predictability, Suboptimality
from feaslearn.paper.problem import Data, Found, Problem


@dataclass(frozen=True)
class Evaluation:
    """Mean losses on some data; None where a loss does not apply.

    ``returned`` is the distance of the returned decision to the observed one, ``predictability``
    and ``suboptimality`` those of the observed decision under the learned region, and the true
    losses those of the returned decision under the true problem.
    """

    returned: float
    predictability: float | None = None
    suboptimality: float | None = None
    true_predictability: float | None = None
    true_suboptimality: float | None = None


def evaluate(
    model: Found | Array,
    data: Data,
    *,
    normalize_cost: bool = False,
) -> Evaluation:
    """Measure a learned region, or decisions that were predicted without one, on some data.

    Parameters
    ----------
    model : Found or array-like of shape (N, n)
        What an algorithm found, or the decisions that another model returns for the data.
    data : Data
        The samples; with ``data.truth``, true losses are measured too.
    normalize_cost : bool, default=False
        Whether suboptimality divides costs by their length; the paper does not.

    Returns
    -------
    Evaluation
        Means of squared losses over samples.

    Examples
    --------
    >>> import numpy as np
    >>> import feaslearn.paper as paper
    >>> data = paper.Data([[0.2], [0.8]], [[1, 0], [0, 1]], [[0.2, 0.8], [0.8, 0.2]], [0])
    >>> paper.evaluate(np.array([[1.0, 0.0], [1.0, 0.0]]), data).returned
    1.0
    """
    distance, excess = Predictability(), Suboptimality(normalize_cost=normalize_cost)
    near: float | None = None
    cheap: float | None = None
    if isinstance(model, Found):
        predicted, features = model.predict(data), model.features(data)
        samples = model.problem.samples._replace(
            features=features,
            costs=data.costs,
            decisions=data.decisions,
            weights=np.full(len(data), 1.0 / len(data)),
        )
        region, theta = model.problem.region, model.theta
        near = Problem(region, distance, samples).value(theta)
        cheap = Problem(region, excess, samples).value(theta)
    else:
        predicted = np.asarray(model, dtype=float)
        if predicted.shape != data.decisions.shape:
            raise DataError(
                f"evaluate: predictions have shape {predicted.shape}, decisions "
                f"{data.decisions.shape}"
            )
    residuals = np.nan_to_num(predicted - data.decisions)
    true = _true_losses(data, predicted, distance, excess)
    return Evaluation(float(distance.lengths(residuals).mean()), near, cheap, *true)


def _true_losses(
    data: Data, predicted: Array, distance: Predictability, excess: Suboptimality
) -> tuple[float | None, float | None]:
    """Measure predictions under the true problem; None where that is not known."""
    truth, signals = data.truth, data.signals
    if truth is None:
        return None, None
    optimal = truth.distance_to_optimal(predicted, signals, data.costs)
    costs = excess.unit_costs(data.costs)
    feasible = truth.distance_to_feasible(predicted, signals)
    gap = np.einsum("ij,ij->i", costs, predicted - truth.solve(signals, costs))
    pair = np.column_stack([feasible, np.maximum(gap, 0.0)])
    return float(distance.lengths(optimal[:, None]).mean()), float(excess.lengths(pair).mean())
