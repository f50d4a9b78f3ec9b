"""Means over samples, and their table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

LABELS = {
    "returned": "returned decision",
    "predictability": "predictability",
    "suboptimality": "suboptimality",
    "true_predictability": "true predictability",
    "true_suboptimality": "true suboptimality",
}


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
        body = "".join(
            f"<tr><td>{escape(label)}</td><td>{escape(mean)}</td><td>{escape(error)}</td></tr>"
            for label, mean, error in self._known()
        )
        return (
            f"<table><caption>{_samples(self.n_samples)}</caption><tr><th>loss "
            f"({escape(self.norm)})</th><th>mean</th><th>std. error</th></tr>{body}</table>"
        )


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def _samples(count: int) -> str:
    return "1 sample" if count == 1 else f"{count} samples"
