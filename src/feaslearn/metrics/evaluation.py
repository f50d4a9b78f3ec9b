"""How good predictions are: means over samples, and their table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from feaslearn.arrays import Array
from feaslearn.data import Decisions
from feaslearn.exceptions import DataError


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
    """How good the decisions of a model are on a data set.

    Parameters
    ----------
    returned : Mean
        Squared distance of the observed decision to the one the model returns.
    n_samples : int
        Number of samples.
    r2 : float or None
        R² of the returned decisions, pooled over decisions as in `pooled_r2`.
    mae : float or None
        Mean absolute error of the returned decisions, over all observed entries.

    Examples
    --------
    >>> from feaslearn.metrics import Evaluation, Mean
    >>> Evaluation(Mean(0.5, 0.1), n_samples=9, r2=0.9)
    returned decisions              mean  std. error
    R²                               0.9
    squared distance                 0.5         0.1
    9 samples
    """

    returned: Mean
    n_samples: int
    r2: float | None = None
    mae: float | None = None

    def rows(self) -> list[tuple[str, str, str]]:
        """Return label, mean and standard error of what is known as strings."""
        numbers = (("R²", self.r2), ("mean absolute error", self.mae))
        shown = [(label, _number(value), "") for label, value in numbers if value is not None]
        mean, error = map(_number, self.returned)
        return [*shown, ("squared distance", mean, error)]

    def __repr__(self) -> str:
        lines = [f"{'returned decisions':<26}{'mean':>12}{'std. error':>12}"]
        samples = f"{self.n_samples} sample{'s' * (self.n_samples != 1)}"
        lines += [f"{label:<26}{mean:>12}{error:>12}" for label, mean, error in self.rows()]
        return "\n".join(line.rstrip() for line in [*lines, samples])


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def evaluate(model: Any, data: Decisions) -> Evaluation:
    """Measure a fitted model, or any fitted regressor, on a data set.

    Parameters
    ----------
    model : fitted regressor
        A model, or a scikit-learn pipeline or search with one inside.
    data : Decisions
        Signals, decisions and costs. Unobserved decisions do not count, nor do samples with nothing
        observed.

    Returns
    -------
    Evaluation
        Means with standard errors; prints as a table.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_switch(200, random_state=0)
    >>> policy = LinearRegression().fit(data.signals, data.decisions)
    >>> 0.1 < fl.evaluate(policy, data).returned.mean < 0.3
    True
    """
    if not isinstance(data, Decisions):
        raise DataError(
            f"evaluate needs Decisions, not {type(data).__name__}; make them with "
            "Decisions.from_arrays(signals, decisions, cost)"
        )
    with warnings.catch_warnings():
        # Decisions hold arrays; the columns have been put in the order of the names.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        predicted = _predictions(model, _in_order(model, data), data)
    seen = ~np.isnan(data.decisions)
    observed = seen.any(axis=1)
    errors = np.nan_to_num(predicted - data.decisions)
    return Evaluation(
        Mean.of(np.square(errors).sum(axis=1)[observed]),
        n_samples=len(data),
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


def _predictions(model: Any, signals: Array, data: Decisions) -> Array:
    """Return predictions in the shape of the decisions; costs are given where a model has none."""
    inner, inputs = find_inside(model, signals)
    # A model that is not fitted has no cost yet; predict raises the error.
    if getattr(inner, "cost_", "unknown") is None:
        predicted = inner.predict(inputs, costs=data.cost_matrix)
    else:
        predicted = model.predict(signals)
    predicted = np.asarray(predicted, dtype=float)
    if predicted.size != data.decisions.size:
        raise DataError(
            f"evaluate: the model predicts shape {predicted.shape}, but the decisions have shape "
            f"{data.decisions.shape}"
        )
    return predicted.reshape(data.decisions.shape)


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
