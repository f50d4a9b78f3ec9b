"""Display of a region that moves with one signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError
from feaslearn.plots.canvas import (
    BLUE,
    SEQUENTIAL,
    Units,
    at_signal,
    find,
    finish,
    labels,
    new_panels,
    one_panel,
    pyplot,
    write,
)
from feaslearn.plots.region_panels import draw_optimum, draw_outline, outline
from feaslearn.region import Region
from feaslearn.regressor import RegionRegressor
from feaslearn.regressor.reader import check_signals, one_row, signal_names

#: Panels side by side.
PANELS = 5


@dataclass(eq=False, repr=False)
class RegionPathDisplay:
    r"""Regions :math:`R(s)` while one signal moves and the others stay: overlaid, or side by side.

    Parameters
    ----------
    values : array-like of shape (m,)
        Values of the signal, in order.
    regions : sequence of Region
        The region at each of them.
    signal : str, default="signal"
        The signal's name.
    optima : sequence of array-like of shape (n,), default=None
        The cheapest decision at each value.
    relaxed : sequence of bool, default=None
        At which values no decision satisfies everything, so that the region is relaxed.
    units : mapping of str to str, or str, default=None
        Units of the decisions and the signal by name, or one for all decisions.

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
    >>> display = fl.plots.RegionPathDisplay.from_estimator(
    ...     model, data.signals, signal=3)  # doctest: +SKIP
    >>> display.figure_.savefig("path.png")  # doctest: +SKIP
    """

    values: Array
    regions: Sequence[Region]
    _: KW_ONLY
    signal: str = "signal"
    optima: Sequence[ArrayLike] | None = None
    relaxed: Sequence[bool] | None = None
    units: Units = None

    def __post_init__(self) -> None:
        self.values = np.asarray(self.values, dtype=float)

    @classmethod
    def from_estimator(
        cls,
        model: RegionRegressor,
        X: ArrayLike,
        *,
        signal: int | str,
        values: ArrayLike | None = None,
        at: ArrayLike | None = None,
        decisions: Sequence[int | str] | None = None,
        style: Literal["overlay", "panels"] = "overlay",
        units: Units = None,
        ax: Any = None,
    ) -> RegionPathDisplay:
        """Draw how the region of a fitted model moves with a signal.

        Parameters
        ----------
        model : RegionRegressor
            A fitted model.
        X : array-like or frame of shape (N, K)
            Signals: the range of the one that moves, and the medians of the others.
        signal : int or str
            The signal that moves, by name or position.
        values : array-like of shape (m,), default=None
            Its values; default five from its least to its greatest in ``X``.
        at : array-like of shape (K,), default=None
            The other signals; default their medians.
        decisions : sequence of int or str, default=None
            The two decisions that are seen; default those that moved most in the data of the fit.
        style : {"overlay", "panels"}, default="overlay"
            All regions in one panel, or one panel for each.
        units : mapping of str to str, or str, default=None
            Units of the decisions and the signal by name, or one for all decisions.
        ax : matplotlib Axes, default=None
            Where regions are overlaid; default a new figure.

        Returns
        -------
        RegionPathDisplay
            The display, drawn.
        """
        signals = check_signals(model, X)
        names = signal_names(model)
        (k,) = find([signal], names, "signal")
        base = np.median(signals, axis=0) if at is None else check_signals(model, one_row(at))[0]
        column = signals[:, k]
        steps = np.linspace(column.min(), column.max(), 5) if values is None else values
        rows = np.tile(base, (len(np.atleast_1d(steps)), 1))
        rows[:, k] = steps
        found = [at_signal(model, row) for row in rows]
        optima = [each.region.minimize(each.cost) for each in found if each.cost is not None]
        display = cls(
            rows[:, k],
            [each.region for each in found],
            signal=names[k],
            optima=optima or None,
            relaxed=[each.relaxed for each in found],
            units=units,
        )
        if decisions is None and len(display.regions[0].names) > 1:
            ranges = np.ptp(vars(model)["_seen"].decisions, axis=0)
            decisions = sorted(np.argsort(-ranges, kind="stable")[:2].tolist())
        return display.plot(decisions=decisions, style=style, ax=ax)

    def plot(
        self,
        *,
        decisions: Sequence[int | str] | None = None,
        style: Literal["overlay", "panels"] = "overlay",
        ax: Any = None,
    ) -> RegionPathDisplay:
        """Draw the picture.

        Parameters
        ----------
        decisions : sequence of int or str, default=None
            The two decisions that are seen; default the first two.
        style : {"overlay", "panels"}, default="overlay"
            All regions in one panel, or one panel for each.
        ax : matplotlib Axes, default=None
            Where regions are overlaid; default a new figure.

        Returns
        -------
        RegionPathDisplay
            This display.
        """
        if not self.regions or len(self.regions) != len(self.values):
            raise DataError(f"{len(self.regions)} regions for {len(self.values)} values")
        if style not in ("overlay", "panels"):
            raise DataError(f"style={style!r} is not known; use 'overlay' or 'panels'")
        names = self.regions[0].names
        if len(names) < 2:
            raise DataError("a region that moves is seen along two decisions; there is only one")
        chosen = find((0, 1) if decisions is None else decisions, names, "decisions")
        if len(chosen) != 2:
            raise DataError(f"a region that moves is seen along two decisions, not {len(chosen)}")
        # Regions that are a single point along these decisions: a dot alone says nothing.
        self._points = 0
        if style == "overlay":
            self._overlay(chosen, ax)
        elif ax is None:
            self._panels(chosen)
        else:
            raise DataError('ax holds one panel; style="panels" needs a figure for itself')
        named = labels(names, self.units, [self.signal])
        for panel in self.axes_:
            finish(panel, xlabel=named[chosen[0]])
        write(self.axes_[0], "ylabel", named[chosen[1]])
        if self._points:
            where = "every value" if self._points == len(self.values) else f"{self._points} values"
            text = (
                f"{names[chosen[0]]} and {names[chosen[1]]} cannot move at {where} of {self.signal}"
            )
            self.figure_.suptitle(f"{text}:\nlimits leave a single point", fontsize="small")
        return self

    def _draw(self, ax: Any, index: int, chosen: Sequence[int], color: Any, fill: float) -> None:
        region = self.regions[index]
        corners = outline(region.minimize, region.n, chosen[0], chosen[1])
        self._points += len(corners) == 1
        relaxed = bool(self.relaxed and self.relaxed[index])
        draw_outline(ax, corners, color, relaxed, fill)
        if self.optima is not None:
            x, y = np.asarray(self.optima[index])[list(chosen)]
            draw_optimum(ax, x, y, size=11)

    def _overlay(self, chosen: Sequence[int], ax: Any) -> None:
        plt, ax = pyplot(), one_panel(ax, 6.5, 4.8)
        low, high = float(self.values.min()), float(self.values.max())
        norm = plt.Normalize(low, high if high > low else low + 1.0)
        colors = plt.get_cmap(SEQUENTIAL)
        for index, value in enumerate(self.values):
            # The lightest end of the scale does not show on white.
            self._draw(ax, index, chosen, colors(0.9 * norm(value)), fill=0.06)
        shades = plt.cm.ScalarMappable(norm, colors)
        bar = ax.figure.colorbar(shades, ax=ax, ticks=np.unique(self.values))
        write(bar.ax, "ylabel", self._signal_label())
        self.figure_, self.axes_ = ax.figure, np.array([ax])

    def _panels(self, chosen: Sequence[int]) -> None:
        count = len(self.values)
        columns = min(count, PANELS)
        rows = -(-count // columns)
        size = (1.0 + 2.1 * columns, 0.6 + 2.3 * rows)
        self.figure_, grid = new_panels(rows, columns, size, sharex=True, sharey=True)
        panels, self.axes_ = grid.ravel(), grid.ravel()[:count]
        for panel in panels[count:]:
            panel.set_axis_off()
        for index, (panel, value) in enumerate(zip(self.axes_, self.values, strict=True)):
            self._draw(panel, index, chosen, BLUE, fill=0.18)
            panel.tick_params(labelbottom=index + columns >= count)
            write(panel, "title", f"{self._signal_label()} = {value:.4g}", fontsize="small")

    def _signal_label(self) -> str:
        units = self.units if not isinstance(self.units, str) else None
        return labels([self.signal], units, self.regions[0].names)[0]
