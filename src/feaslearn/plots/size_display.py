"""A picture of the loss by the size of a hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from feaslearn.exceptions import DataError, UnsupportedError
from feaslearn.metrics import neg_returned_loss
from feaslearn.plots.canvas import BLUE, GREY, ORANGE, pyplot
from feaslearn.plots.loss_curve import Curve, draw_curves, quietly
from feaslearn.regressor import RegionRegressor

Array = NDArray[np.float64]

#: Parameters that say how large a hypothesis is, and what they count.
SIZES = {
    "hypothesis__primitive__p": "size p of the primitive set",
    "hypothesis__max_facets": "most facets",
}


class SizeDisplay:
    r"""The loss by the number p of columns of :math:`A(s)`, or of facets, by cross-validation.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Sizes that were tried.
    training, held_out : array-like of shape (m, folds)
        Loss on the rows of the fit, and on those held out.
    label : str, default="size"
        What the sizes count.

    Attributes
    ----------
    best_ : int
        The size with the least mean loss on held-out rows.
    ax_ : matplotlib Axes
        The axes, once drawn.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_l1_ball(60, n=2, random_state=0)
    >>> model = fl.RegionRegressor(fl.Affine(fl.Simplex(3)), cost=data.cost, random_state=0)
    >>> display = fl.plots.SizeDisplay.from_estimator(
    ...     model, data.signals, data.decisions, sizes=[1, 2, 3, 4])  # doctest: +SKIP
    >>> display.best_  # doctest: +SKIP
    2
    """

    def __init__(
        self,
        sizes: ArrayLike,
        training: ArrayLike,
        held_out: ArrayLike,
        label: str = "size",
    ) -> None:
        self.sizes = np.asarray(sizes)
        self.training = np.atleast_2d(np.asarray(training, dtype=float))
        self.held_out = np.atleast_2d(np.asarray(held_out, dtype=float))
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        model: RegionRegressor,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sizes: Sequence[int],
        cv: Any = 5,
        ax: Any = None,
    ) -> SizeDisplay:
        """Fit a model with hypotheses of several sizes, and draw its losses.

        Parameters
        ----------
        model : RegionRegressor
            A model with a primitive set ``Z(p)`` or facets; it is fitted anew, ``cv`` times for
            each size.
        X, y : array-like
            Signals and decisions.
        sizes : sequence of int
            Sizes to try.
        cv : int or splitter, default=5
            How rows are held out.
        ax : matplotlib Axes, default=None
            Where to draw; default a new figure.

        Returns
        -------
        SizeDisplay
            The display, drawn.
        """
        from sklearn.model_selection import validation_curve

        known = model.get_params(deep=True)
        name = next((name for name in SIZES if name in known), None)
        if name is None:
            raise UnsupportedError(
                f"{model.hypothesis!r} has no size; a primitive set such as Simplex(p) and "
                "Facets(max_facets) have one"
            )
        if not len(sizes):
            raise DataError("sizes: none is listed; list at least one")
        with quietly():
            inside, outside = validation_curve(
                model, X, y, param_name=name, param_range=sizes, cv=cv, scoring=neg_returned_loss
            )
        return cls(sizes, -inside, -outside, SIZES[name]).plot(ax=ax)

    @property
    def best_(self) -> int:
        """The size with the least mean loss on held-out rows."""
        return int(self.sizes[self.held_out.mean(axis=1).argmin()])

    def plot(self, *, ax: Any = None) -> SizeDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; default a new figure.

        Returns
        -------
        SizeDisplay
            This display.
        """
        if not len(self.sizes) == len(self.training) == len(self.held_out):
            raise DataError(
                f"{len(self.sizes)} sizes for {len(self.training)} and {len(self.held_out)} rows "
                "of losses"
            )
        if ax is None:
            ax = pyplot().subplots(figsize=(6.5, 4.0), layout="constrained")[1]
        ax.axvline(self.best_, color=GREY, ls=":", label=f"least: {self.best_}")
        curves = (
            Curve("training rows", self.sizes, self.training, ORANGE),
            Curve("held-out rows", self.sizes, self.held_out, BLUE),
        )
        draw_curves(ax, curves, self.label)
        ax.set_xticks(self.sizes)
        self.figure_, self.ax_ = ax.figure, ax
        return self
