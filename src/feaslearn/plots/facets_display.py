"""Display of learned facets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.plots.canvas import BLUE, DIVERGING, GREY, finish, new_panels
from feaslearn.regressor import FacetTable, LearnedFacet, RegionRegressor
from feaslearn.regressor.reader import decision_names

#: Longest name that fits under a column.
LONGEST = 18


@dataclass(eq=False, repr=False)
class FacetsDisplay:
    r"""Facets :math:`a_j'x \le f_j'\phi(s)`: their coefficients and how often each binds.

    On the left the coefficients of the decisions, in the middle those of the features on the
    right-hand side, each row in units of its largest one, in the form that ``print(model.facets_)``
    writes; on the right the number of training samples in which the facet binds, with its mean
    shadow price. Facets that the data do not determine are grey.

    Parameters
    ----------
    table : FacetTable
        The learned facets.
    decisions, features : sequence of str
        Names of the decisions, and of the features without the constant.
    printed : mapping of str to ndarray of shape (n + k + 1,), default=None
        Coefficients of decisions, constant and features by the name of the facet, as its text has
        them; without them, rows orthogonal to the equalities are drawn.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure, once drawn.
    axes_ : ndarray of matplotlib Axes
        Decisions, features, bars.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, line_capacity=1.5, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> model = model.fit(data.signals, data.decisions)
    >>> display = fl.plots.FacetsDisplay.from_estimator(model)  # doctest: +SKIP
    >>> display.figure_.savefig("facets.png")  # doctest: +SKIP
    """

    table: FacetTable
    decisions: Sequence[str]
    features: Sequence[str]
    printed: Mapping[str, Array] | None = None

    @classmethod
    def from_estimator(cls, model: RegionRegressor, *, most: int = 12) -> FacetsDisplay:
        """Draw the facets of a fitted model.

        Parameters
        ----------
        model : RegionRegressor
            A fitted model with facets.
        most : int, default=12
            Facets to show, those that bind most often first.

        Returns
        -------
        FacetsDisplay
            The display, drawn.
        """
        names, covered = decision_names(model), vars(model)["_seen"].rows
        printed = dict(zip(covered.names, covered.printed, strict=True))
        return cls(model.facets_, names, model.features_.names[1:], printed).plot(most=most)

    def plot(self, *, most: int = 12) -> FacetsDisplay:
        """Draw the picture.

        Parameters
        ----------
        most : int, default=12
            Facets to show, those that bind most often first.

        Returns
        -------
        FacetsDisplay
            This display.
        """
        shown = self.table[:most]
        if not shown:
            raise DataError("no facets were learned, so there is nothing to draw")
        n, k = len(self.decisions), len(self.features)
        size, ratios = (5.0 + 0.5 * (n + k), 1.8 + 0.4 * len(shown)), [n, max(k, 1), 5]
        figure, ((*axes,),) = new_panels(1, 3, size, width_ratios=ratios, sharey=True)
        rows = np.array([self._row(facet) for facet in shown])
        normals, limits = rows[:, :n], rows[:, n + 1 :].reshape(len(shown), k)
        image = _coefficients(axes[0], normals, self.decisions, "coefficients of decisions")
        _coefficients(axes[1], limits, self.features, "limit moves with")
        _bars(axes[2], shown)
        names = [facet.name or f"facet_{j}" for j, facet in enumerate(shown, 1)]
        axes[0].set_yticks(range(len(shown)), names)
        figure.colorbar(image, ax=axes, shrink=0.8, label="share of the row's largest")
        if len(shown) < len(self.table):
            figure.suptitle(f"{len(shown)} of {len(self.table)} facets")
        self.figure_, self.axes_ = figure, np.array(axes)
        return self

    def _row(self, facet: LearnedFacet) -> Array:
        """Return the coefficients of a facet, with the signs of its text."""
        row = None if self.printed is None else self.printed.get(facet.name)
        if row is None or not row.any():
            row = np.append(facet.normal, facet.limit)
        return -row if " >= " in facet.text else row


def _coefficients(ax: Any, matrix: Array, names: Sequence[str], title: str) -> Any:
    """Draw a matrix of coefficients, each row in units of its largest."""
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    shares = matrix / np.where(largest > 0.0, largest, 1.0)
    image = ax.imshow(shares, cmap=DIVERGING, vmin=-1.0, vmax=1.0, aspect="auto")
    texts = [each if len(each) <= LONGEST else f"{each[: LONGEST - 1]}…" for each in names]
    ax.set_xticks(range(len(names)), texts, rotation=60)
    for label in ax.get_xticklabels():
        # A dollar sign in a name is no formula.
        label.set_parse_math(False)
    ax.set_title(title, fontsize="medium")
    return image


def _bars(ax: Any, facets: Sequence[Any]) -> None:
    """Draw how often each facet binds, with its price."""
    counts = [facet.binds for facet in facets]
    colors = [BLUE if facet.identified else GREY for facet in facets]
    bars = ax.barh(range(len(facets)), counts, color=colors)
    ax.bar_label(bars, [f"{facet.price:.3g}" for facet in facets], padding=3)
    ax.set_xlim(0, 1.25 * max(1, *counts))
    ax.set_title("samples it binds in, and its shadow price", fontsize="medium")
    finish(ax)
