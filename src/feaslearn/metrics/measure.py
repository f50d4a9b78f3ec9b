"""The losses of a model on a data set."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from feaslearn.data import Decisions
from feaslearn.exceptions import DataError
from feaslearn.losses import Loss, Predictability, Suboptimality
from feaslearn.losses.loss import Norm
from feaslearn.metrics.evaluation import Evaluation, Mean
from feaslearn.metrics.inside import find_inside
from feaslearn.problem import ForwardProblem

Array = NDArray[np.float64]


def evaluate(
    model: Any,
    data: Decisions,
    *,
    norm: Norm = "l2",
    squared: bool = True,
    normalize_cost: bool = True,
    sense: Literal["min", "max"] | None = None,
) -> Evaluation:
    """Measure a fitted model, or any fitted regressor, on a data set.

    Parameters
    ----------
    model : fitted regressor
        Losses that need a region stay None where it has none. A region is also found inside a
        scikit-learn pipeline or search.
    data : Decisions
        Signals, decisions and costs; with the true problem in ``data.forward`` the true losses are
        measured too. Unobserved decisions do not count, nor do samples with nothing observed,
        except in the true losses, which look at predictions only.
    norm : {"l2", "l1", "linf"}, default="l2"
        Norm of all losses.
    squared : bool, default=True
        Whether the l2 norm is squared.
    normalize_cost : bool, default=True
        Whether suboptimality divides costs by their length; False is the paper's convention.
    sense : {"min", "max"}, default=None
        Whether decisions minimise or maximise the cost, for the true losses. None asks the model;
        a model that does not know minimises.

    Returns
    -------
    Evaluation
        Means with standard errors; prints as a table.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(200, random_state=0)
    >>> policy = fl.baselines.LinearPolicy().fit(data.signals, data.decisions)
    >>> report = fl.evaluate(policy, data)
    >>> report.predictability is None
    True
    >>> 0.1 < report.returned.mean < 0.3
    True
    """
    if not isinstance(data, Decisions):
        raise DataError(
            f"evaluate needs Decisions, not {type(data).__name__}; make them with "
            "Decisions.from_arrays(signals, decisions, cost)"
        )
    distance, excess = Predictability(norm, squared), Suboptimality(norm, squared, normalize_cost)
    distance.norm_code()
    with warnings.catch_warnings():
        # Decisions hold arrays; the columns have been put in the order of the names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        signals = _in_order(model, data)
        predicted, learned = _learned_losses(model, signals, data, (distance, excess))
    observed = ~np.isnan(data.decisions).all(axis=1)
    missed = distance.lengths(np.nan_to_num(predicted - data.decisions))
    sense = sense or getattr(find_inside(model, None)[0], "sense", "min")
    near, cheap = (None if losses is None else Mean.of(losses[observed]) for losses in learned)
    sign = -1.0 if sense == "max" else 1.0
    return Evaluation(
        Mean.of(missed[observed]),
        near,
        cheap,
        *true_losses(data, predicted, distance, excess, sign),
        n_samples=len(data),
        norm=f"squared {norm}" if norm == "l2" and squared else norm,
    )


def _in_order(model: Any, data: Decisions) -> Array:
    """Return the signals in the order of the names that the model was fitted with."""
    wanted = [str(name) for name in getattr(model, "feature_names_in_", ())]
    names = data.names.signals
    if wanted and sorted(wanted) == sorted(names):
        return data.signals[:, [names.index(name) for name in wanted]]
    return data.signals


def _learned_losses(
    model: Any, signals: Array, data: Decisions, losses: tuple[Loss, Loss]
) -> tuple[Array, list[Array | None]]:
    """Return predictions, and the losses under the learned region where there is one."""
    inner, inputs = find_inside(model, signals)
    measured: list[Array | None] = [None, None]
    if hasattr(inner, "sample_losses"):
        # A model that is not fitted has no cost yet, and says so when it is to predict.
        costs = data.cost_matrix if getattr(inner, "cost_", "unknown") is None else None
        predicted = inner.predict(inputs, costs=costs)
        measured = [inner.sample_losses(loss, inputs, data.decisions, costs) for loss in losses]
    else:
        predicted = model.predict(signals)
    predicted = np.asarray(predicted, dtype=float)
    if predicted.size != data.decisions.size:
        raise DataError(
            f"evaluate: the model predicts shape {predicted.shape}, but the decisions have shape "
            f"{data.decisions.shape}"
        )
    return predicted.reshape(data.decisions.shape), measured


def true_losses(
    data: Decisions, predicted: Array, distance: Loss, excess: Suboptimality, sign: float
) -> tuple[Mean | None, Mean | None]:
    """Measure the predictions under the true problem; None where that is not known."""
    forward = data.forward
    if not isinstance(forward, ForwardProblem):
        return None, None
    costs = sign * data.cost_matrix
    norm: Any = distance.norm
    optimal = forward.distance_to_optimal(predicted, data.signals, costs, norm=norm)
    costs = excess.unit_costs(costs)
    feasible = forward.distance_to_feasible(predicted, data.signals, norm=norm)
    gap = np.einsum("ij,ij->i", costs, predicted) - forward.optimal_value(data.signals, costs)
    pair = np.column_stack([feasible, np.maximum(gap, 0.0)])
    return Mean.of(distance.lengths(optimal[:, None])), Mean.of(excess.lengths(pair))
