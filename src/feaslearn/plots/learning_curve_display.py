"""Displays of losses while training, and with more samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, FeaslearnWarning
from feaslearn.metrics import neg_returned_loss
from feaslearn.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILION,
    finish,
    one_panel,
)
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_fitted

COLORS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE)


#: What the quantities that every trainer records are called.
LABELS = {"objective": "training loss", "returned_loss": "loss of returned decisions"}


@dataclass(eq=False, repr=False)
class LearningCurveDisplay:
    r"""The training loss :math:`\frac1N \sum_i \ell_\theta(s_i, x_i)` at each iterate.

    Made by `from_samples` it shows instead how the loss on held-out rows falls with the number of
    samples.

    Parameters
    ----------
    history : mapping of str to sequence of float
        What was recorded, by name.
    lower_bound : float, default=None
        No region of the class has a smaller loss, where that is known.
    curves : sequence of Curve, default=()
        Curves with a spread, in the place of a history.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes, once drawn.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(60, n=2, random_state=0)
    >>> model = fl.RegionRegressor(fl.Affine(fl.Simplex(3)), cost=data.cost, random_state=0)
    >>> model = model.fit(data.signals, data.decisions)
    >>> display = fl.plots.LearningCurveDisplay.from_estimator(model)  # doctest: +SKIP
    >>> display.figure_.savefig("training.png")  # doctest: +SKIP
    """

    history: Mapping[str, Sequence[float]]
    lower_bound: float | None = None
    curves: Sequence[Curve] = ()

    @classmethod
    def from_estimator(cls, model: RegionRegressor, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw what was recorded while a model was trained.

        Parameters
        ----------
        model : RegionRegressor
            A fitted model.
        ax : matplotlib Axes, default=None
            Where to draw; default a new figure.

        Returns
        -------
        LearningCurveDisplay
            The display, drawn.
        """
        check_fitted(model)
        return cls(model.result_.history, model.result_.lower_bound).plot(ax=ax)

    @classmethod
    def from_samples(
        cls,
        model: RegionRegressor,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sizes: ArrayLike | None = None,
        cv: Any = 5,
        ax: Any = None,
    ) -> LearningCurveDisplay:
        """Fit a model to more and more samples, and draw its loss on those held out.

        Parameters
        ----------
        model : RegionRegressor
            A model; it is fitted anew, ``cv`` times for each size.
        X, y : array-like
            Signals and decisions.
        sizes : array-like of shape (m,), default=None
            Numbers of samples, or shares of those there are; default five up to all.
        cv : int or splitter, default=5
            How rows are held out.
        ax : matplotlib Axes, default=None
            Where to draw; default a new figure.

        Returns
        -------
        LearningCurveDisplay
            The display, drawn.
        """
        from sklearn.model_selection import learning_curve

        wanted = np.linspace(0.2, 1.0, 5) if sizes is None else np.asarray(sizes)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FeaslearnWarning)  # of fits to small folds
                counts, inside, outside = learning_curve(
                    model, X, y, train_sizes=wanted, cv=cv, scoring=neg_returned_loss
                )
        except ValueError as error:
            raise DataError(f"learning curve: {error}") from error
        curves = (
            Curve("training samples", counts, -inside, ORANGE),
            Curve("held-out samples", counts, -outside, BLUE),
        )
        return cls({}, None, curves).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> LearningCurveDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; default a new figure.

        Returns
        -------
        LearningCurveDisplay
            This display.
        """
        losses = recorded_losses(self.history)
        if not losses and not self.curves:
            raise DataError("nothing was recorded: the trainer found its answer in one step")
        ax = one_panel(ax, 6.5, 4.0)
        self.figure_, self.ax_ = ax.figure, ax
        if self.curves:
            draw_curves(ax, self.curves)
            return self
        for name, color in zip(losses, COLORS * len(losses), strict=False):
            values = losses[name]
            ax.plot(values, color=color, marker="o" if len(values) < 2 else "", label=name)
        if self.lower_bound is not None:
            ax.axhline(self.lower_bound, color=GREY, ls="--", label="lower bound")
        everything = np.concatenate(list(losses.values()))
        if everything.min() > 0.0 and everything.max() > 20.0 * everything.min():
            ax.set_yscale("log")
        finish(ax, xlabel="iterate", ylabel="loss")
        ax.legend(frameon=False)
        return self


# Curves with a spread over folds.


class Curve(NamedTuple):
    """A loss (m, folds) at m abscissas, with a name and a colour."""

    name: str
    abscissas: NDArray[Any]
    losses: Array
    color: str


def recorded_losses(history: Mapping[str, Sequence[float]]) -> dict[str, Array]:
    """Return what was recorded by names for readers: losses, which share an axis, if any."""
    said = {
        LABELS.get(name, name.replace("_", " ")): np.asarray(values, dtype=float)
        for name, values in history.items()
        if len(values)
    }
    return {name: values for name, values in said.items() if "loss" in name} or said


def draw_curves(ax: Any, curves: Sequence[Curve]) -> None:
    """Draw the mean of each curve over its folds, and one standard error around it."""
    for name, abscissas, losses, color in curves:
        mean = losses.mean(axis=1)
        error = losses.std(axis=1, ddof=1) / np.sqrt(losses.shape[1]) if losses.shape[1] > 1 else 0
        ax.plot(abscissas, mean, "o-", color=color, label=name)
        ax.fill_between(abscissas, mean - error, mean + error, color=color, alpha=0.2, lw=0)
    ax.set_ylim(bottom=0.0)
    finish(ax, xlabel="number of samples", ylabel="squared distance to the observed decision")
    ax.legend(frameon=False, title="mean, ± 1 standard error over folds")
