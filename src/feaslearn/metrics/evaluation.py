"""Means over samples, and their table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from feaslearn.arrays import Array
from feaslearn.data import Decisions
from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.losses import Loss, Predictability, Suboptimality
from feaslearn.losses.loss import Norm
from feaslearn.results import html_table

LABELS = {
    "returned": "returned decision",
    "predictability": "predictability",
    "suboptimality": "suboptimality",
    "true_predictability": "true predictability",
    "true_suboptimality": "true suboptimality",
}


#: What a true problem is asked for.
MEASURES = ("optimal_value", "distance_to_feasible", "distance_to_optimal")


class Mean(NamedTuple):
    """A mean over samples with its standard error.

    Parameters
    ----------
    mean : float
        The mean.
    standard_error : float
        Standard deviation of the samples over the root of their number; NaN for one sample.

    Examples
    --------
    >>> from feaslearn.metrics import Mean
    >>> Mean.of([1.0, 2.0, 3.0, 4.0]).mean
    2.5
    """

    mean: float
    standard_error: float

    @classmethod
    def of(cls, values: ArrayLike) -> Mean:
        """Measure values, one for each sample."""
        values = np.asarray(values, dtype=float)
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(values.mean()), float(error))


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Mean losses of a model on a data set; None where a loss does not apply.

    Parameters
    ----------
    returned : Mean
        Distance of the observed decision to the one the model returns.
    predictability, suboptimality : Mean or None
        Losses of the observed decision under the learned region.
    true_predictability, true_suboptimality : Mean or None
        Losses of the returned decision under the true problem, where it is known.
    n_samples : int
        Number of samples.
    norm : str
        What is measured.
    r2 : float or None
        R² of the returned decisions, pooled over decisions as in `pooled_r2`.
    mae : float or None
        Mean absolute error of the returned decisions, over all observed entries.

    Examples
    --------
    >>> from feaslearn.metrics import Evaluation, Mean
    >>> Evaluation(Mean(0.5, 0.1), None, None, None, None, n_samples=9, norm="l1", r2=0.9)
    loss (l1)                         mean  std. error
    R²                                 0.9
    returned decision                  0.5         0.1
    9 samples
    """

    returned: Mean
    predictability: Mean | None
    suboptimality: Mean | None
    true_predictability: Mean | None
    true_suboptimality: Mean | None
    n_samples: int
    norm: str
    r2: float | None = None
    mae: float | None = None

    @property
    def table(self) -> dict[str, float]:
        """The means by their labels; NaN where a loss does not apply."""
        means = {label: getattr(self, name) for name, label in LABELS.items()}
        return {label: np.nan if value is None else value.mean for label, value in means.items()}

    def rows(self) -> list[tuple[str, str, str]]:
        """Return label, mean and standard error of each loss as strings, blank where not known.

        R² and the mean absolute error come first, without a standard error.
        """
        numbers = (("R²", self.r2), ("mean absolute error", self.mae))
        shown = [(label, "" if x is None else _number(x), "") for label, x in numbers]
        for name, label in LABELS.items():
            value: Mean | None = getattr(self, name)
            mean, error = ("", "") if value is None else map(_number, value)
            shown.append((label, mean, error))
        return shown

    def _known(self) -> list[tuple[str, str, str]]:
        return [row for row in self.rows() if row[1]]

    def __repr__(self) -> str:
        lines = [f"{'loss (' + self.norm + ')':<26}{'mean':>12}{'std. error':>12}"]
        lines += [f"{label:<26}{mean:>12}{error:>12}" for label, mean, error in self._known()]
        return "\n".join(line.rstrip() for line in [*lines, _samples(self.n_samples)])

    def _repr_html_(self) -> str:
        head = (f"loss ({self.norm})", "mean", "std. error")
        return html_table(head, self._known(), _samples(self.n_samples))


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def _samples(count: int) -> str:
    return "1 sample" if count == 1 else f"{count} samples"


# Losses of a model on a data set, and R² with unobserved entries.


#: Values of the option `losses` of `evaluate`.
LOSSES = ("main", "all")


def evaluate(
    model: Any,
    data: Decisions,
    *,
    norm: Norm = "l2",
    squared: bool = True,
    normalize_cost: bool = True,
    sense: Literal["min", "max"] | None = None,
    losses: Literal["main", "all"] = "main",
) -> Evaluation:
    """Measure a fitted model, or any fitted regressor, on a data set.

    Parameters
    ----------
    model : fitted regressor
        Losses that need a region stay None where it has none. A region is also found inside a
        scikit-learn pipeline or search.
    data : Decisions
        Signals, decisions and costs, and for the true losses the true problem in ``data.forward``.
        Unobserved decisions do not count, nor do samples with nothing observed,
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
    losses : {"main", "all"}, default="main"
        What is measured: R², the mean absolute error, the loss of the returned decision and
        predictability; or also suboptimality and the true losses, which solve a program for each
        sample.

    Returns
    -------
    Evaluation
        Means with standard errors; prints as a table. What was not measured is None.

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
    if losses not in LOSSES:
        raise UnsupportedError(
            f"losses={losses!r} is not known; use one of {', '.join(map(repr, LOSSES))}"
        )
    distance, excess = Predictability(norm, squared), Suboptimality(norm, squared, normalize_cost)
    distance.norm_code()
    with warnings.catch_warnings():
        # Decisions hold arrays; the columns have been put in the order of the names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        signals = _in_order(model, data)
        asked = (distance, excess) if losses == "all" else (distance,)
        predicted, *learned = _learned_losses(model, signals, data, asked)
    seen = ~np.isnan(data.decisions)
    observed = seen.any(axis=1)
    errors = np.nan_to_num(predicted - data.decisions)
    sense = sense or getattr(find_inside(model, None)[0], "sense", "min")
    near, cheap = (None if each is None else Mean.of(each[observed]) for each in learned)
    sign = -1.0 if sense == "max" else 1.0
    true: tuple[Mean | None, Mean | None] = (None, None)
    if losses == "all":
        true = true_losses(data, predicted, distance, excess, sign)
    return Evaluation(
        Mean.of(distance.lengths(errors)[observed]),
        near,
        cheap,
        *true,
        n_samples=len(data),
        norm=f"squared {norm}" if norm == "l2" and squared else norm,
        r2=pooled_r2(data.decisions, predicted) if observed.sum() > 1 else None,
        mae=float(np.abs(errors[seen]).mean()) if seen.any() else None,
    )


def _in_order(model: Any, data: Decisions) -> Array:
    """Return the signals in the order of the names that the model was fitted with."""
    wanted = [str(name) for name in getattr(model, "feature_names_in_", ())]
    names = data.names.signals
    if wanted and sorted(wanted) == sorted(names):
        return data.signals[:, [names.index(name) for name in wanted]]
    return data.signals


def _learned_losses(
    model: Any, signals: Array, data: Decisions, losses: Sequence[Loss]
) -> tuple[Array, Array | None, Array | None]:
    """Return predictions, and up to two losses under the learned region where there is one."""
    inner, inputs = find_inside(model, signals)
    measured: list[Array | None] = []
    if hasattr(inner, "sample_losses"):
        # A model that is not fitted has no cost yet; predict raises the error.
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
    near, cheap = (*measured, None, None)[:2]
    return predicted.reshape(data.decisions.shape), near, cheap


def true_losses(
    data: Decisions, predicted: Array, distance: Loss, excess: Suboptimality, sign: float
) -> tuple[Mean | None, Mean | None]:
    """Measure the predictions under the true problem; None where that is not known."""
    forward: Any = data.forward
    if not all(hasattr(forward, name) for name in MEASURES):
        return None, None
    costs = sign * data.cost_matrix
    norm: Any = distance.norm
    optimal = forward.distance_to_optimal(predicted, data.signals, costs, norm=norm)
    costs = excess.unit_costs(costs)
    feasible = forward.distance_to_feasible(predicted, data.signals, norm=norm)
    gap = np.einsum("ij,ij->i", costs, predicted) - forward.optimal_value(data.signals, costs)
    pair = np.column_stack([feasible, np.maximum(gap, 0.0)])
    return Mean.of(distance.lengths(optimal[:, None])), Mean.of(excess.lengths(pair))


def find_inside(model: Any, signals: Any) -> tuple[Any, Any]:
    """Return the last estimator of a search or a pipeline, and what signals become before it."""
    if hasattr(model, "best_estimator_"):
        return find_inside(model.best_estimator_, signals)
    if hasattr(model, "steps"):
        before = model[:-1] if len(model.steps) > 1 and signals is not None else None
        return find_inside(
            model.steps[-1][1], signals if before is None else before.transform(signals)
        )
    return model, signals


def pooled_r2(observed: Array, predicted: Array, weights: Array | None = None) -> float:
    r"""Return R² pooled over outputs.

    .. math:: R^2 = 1 - \frac{\sum_i w_i \|x_i - \hat x_i\|^2}{\sum_i w_i \|x_i - \bar x\|^2}

    Parameters
    ----------
    observed : ndarray of shape (N, n)
        Decisions; NaN where not observed, which does not count. An output that never changes does
        not count either, as in scikit-learn's ``r2_score`` with ``"variance_weighted"``.
    predicted : ndarray of shape (N, n)
        Predictions.
    weights : ndarray of shape (N,), default=None
        Weights of the samples.

    Returns
    -------
    float
        One for perfect predictions, zero for the mean; NaN, with a warning, for one sample.

    Examples
    --------
    >>> import numpy as np
    >>> from feaslearn.metrics import pooled_r2
    >>> pooled_r2(np.array([[0.0], [np.nan], [2.0]]), np.array([[0.0], [7.0], [1.0]]))
    0.5
    """
    if len(observed) < 2:
        warnings.warn(
            "R² is not defined for fewer than two samples", UndefinedMetricWarning, stacklevel=3
        )
        return float("nan")
    each = np.ones(len(observed)) if weights is None else weights
    counted = np.where(np.isnan(observed), 0.0, each[:, None])
    filled = np.nan_to_num(observed)
    mean = (counted * filled).sum(axis=0) / np.maximum(counted.sum(axis=0), np.finfo(float).tiny)
    residual = (counted * (filled - predicted) ** 2).sum(axis=0)
    spread = (counted * (filled - mean) ** 2).sum(axis=0)
    changes = spread != 0.0
    if not changes.any():
        return float((residual == 0.0).mean())
    return float(1.0 - residual[changes].sum() / spread[changes].sum())


class Score(NamedTuple):
    """R² and mean absolute error of some decisions; None and NaN where they say nothing.

    A decision that never changes has no R²: a perfect prediction of it is no merit.
    """

    n_samples: int
    r2: float | None
    mae: float

    @classmethod
    def of(cls, observed: Array, predicted: Array) -> Score:
        """Return the score of predictions (N, n); unobserved entries do not count."""
        seen = ~np.isnan(observed)
        if not seen.any():
            return cls(0, None, float("nan"))
        least, most = (np.where(seen, observed, end) for end in (np.inf, -np.inf))
        varies = bool((most.max(axis=0) > least.min(axis=0)).any())
        r2 = pooled_r2(observed, predicted) if varies else None
        mae = float(np.abs(observed - predicted)[seen].mean())
        return cls(int(seen.any(axis=1).sum()), r2, mae)
