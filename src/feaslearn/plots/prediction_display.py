"""Display of predicted against observed decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.exceptions import DataError
from feaslearn.metrics.evaluation import Score
from feaslearn.plots.canvas import (
    BLUE,
    GREY,
    Units,
    find,
    finish,
    labels,
    new_panels,
    rows_of_decisions,
    write,
)
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import decision_names

#: Panels side by side, and in all.
ACROSS, MOST = 4, 24


@dataclass(eq=False, repr=False)
class PredictionDisplay:
    r"""Predicted decisions :math:`\hat x(s)` against observed ones, a panel for each decision.

    Parameters
    ----------
    observed, predicted : array-like of shape (N, n)
        Decisions; NaN where one was not observed.
    names : sequence of str, default=None
        Names of the decisions.
    units : mapping of str to str, or str, default=None
        Their units by name, or one for all.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure, once drawn.
    axes_ : ndarray of matplotlib Axes
        Its panels.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> model = model.fit(data.signals, data.decisions)
    >>> display = fl.plots.PredictionDisplay.from_estimator(
    ...     model, data.signals, data.decisions, units="MW")  # doctest: +SKIP
    >>> display.figure_.savefig("predictions.png")  # doctest: +SKIP
    """

    observed: ArrayLike
    predicted: ArrayLike
    _: KW_ONLY
    names: Sequence[str] | None = None
    units: Units = None

    @classmethod
    def from_estimator(
        cls,
        model: RegionRegressor,
        X: ArrayLike,
        y: ArrayLike,
        *,
        costs: ArrayLike | None = None,
        decisions: Sequence[int | str] | None = None,
        units: Units = None,
    ) -> PredictionDisplay:
        """Draw the predictions of a fitted model.

        Parameters
        ----------
        model : RegionRegressor
            A fitted model.
        X, y : array-like
            Signals and decisions.
        costs : array-like of shape (N, n), default=None
            Costs to use instead of those read from the signals.
        decisions : sequence of int or str, default=None
            The decisions that are shown, by name or position; default all.
        units : mapping of str to str, or str, default=None
            Their units by name, or one for all.

        Returns
        -------
        PredictionDisplay
            The display, drawn.
        """
        names = decision_names(model)
        observed = rows_of_decisions(y, len(names))
        predicted = np.asarray(model.predict(X, costs=costs), dtype=float)
        display = cls(observed, predicted.reshape(-1, len(names)), names=names, units=units)
        return display.plot(decisions=decisions)

    def plot(self, *, decisions: Sequence[int | str] | None = None) -> PredictionDisplay:
        """Draw the picture.

        Parameters
        ----------
        decisions : sequence of int or str, default=None
            The decisions that are shown, by name or position; default all.

        Returns
        -------
        PredictionDisplay
            This display.
        """
        n = 1 if np.ndim(self.observed) == 1 else np.shape(self.observed)[-1]
        observed, predicted = (
            rows_of_decisions(values, n) for values in (self.observed, self.predicted)
        )
        if observed.shape != predicted.shape:
            raise DataError(f"{observed.shape} were observed and {predicted.shape} predicted")
        names = [f"x{j}" for j in range(n)] if self.names is None else list(self.names)
        named, chosen = labels(names, self.units), find(decisions, names, "decisions")
        if len(chosen) > MOST:
            raise DataError(
                f"{len(chosen)} decisions; choose up to {MOST} with decisions=[...] of {n}"
            )
        across = min(len(chosen), ACROSS)
        down = -(-len(chosen) // across)
        figure, grid = new_panels(down, across, (0.6 + 2.9 * across, 0.4 + 2.9 * down))
        for panel in grid.ravel()[len(chosen) :]:
            panel.set_axis_off()
        for panel, j in zip(grid.ravel(), chosen, strict=False):
            _draw_pairs(panel, observed[:, j], predicted[:, j], named[j])
        self.figure_, self.axes_ = figure, grid.ravel()[: len(chosen)]
        return self


def _draw_pairs(ax: Any, observed: Any, predicted: Any, label: str) -> None:
    """Draw one decision, and the diagonal on which predictions are right."""
    seen = ~np.isnan(observed)
    ax.plot(observed, predicted, "o", color=BLUE, ms=4, alpha=0.5, mew=0)
    if seen.any():
        both = np.concatenate([observed[seen], predicted[seen]])
        ax.plot([both.min(), both.max()], [both.min(), both.max()], color=GREY, lw=1, ls="--")
    text = label
    if seen.sum() > 1:
        r2 = Score.of(observed[seen, None], predicted[seen, None]).r2
        text += "\nconstant" if r2 is None else f"\nR² {r2:.3f}"
    write(ax, "title", text, fontsize="medium")
    finish(ax, xlabel="observed", ylabel="predicted")
    ax.set_aspect("equal", adjustable="datalim")
