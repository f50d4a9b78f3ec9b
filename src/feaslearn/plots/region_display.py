"""Display of one learned region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.exceptions import DataError, EmptySetError, InfeasibleProblemError
from feaslearn.plots import region_panels as panels
from feaslearn.plots.canvas import (
    Units,
    at_signal,
    find,
    labels,
    new_panels,
    rows_of_decisions,
    write,
)
from feaslearn.region import Region
from feaslearn.regressor import RegionRegressor
from feaslearn.tolerances import VISIBLE_TOL

#: Pairs of more decisions than this are too small to see.
MOST_DECISIONS = 8


@dataclass(eq=False, repr=False)
class RegionDisplay:
    r"""The region :math:`R(s)` at one signal, with decisions, the optimum and where costs fall.

    One decision is drawn as an interval, two as a plane, and more as the projections onto every
    pair. Regions that are flat, or a single point, are drawn as what they are. A curved outline is
    found by its support :math:`\max_{x \in R(s)} d'x` in many directions.

    Parameters
    ----------
    region : Region
        The region.
    observed : array-like of shape (N, n), default=None
        Decisions to draw as dots.
    cost : array-like of shape (n,), default=None
        What is minimised: the optimum is marked, with an arrow to where it gets cheaper.
    units : mapping of str to str, or str, default=None
        Units of the decisions by name, or one for all.
    relaxed : bool, default=False
        Whether no decision satisfies everything here and what is drawn is the region relaxed.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure, once drawn.
    axes_ : ndarray of matplotlib Axes
        Its panels, one or one for each pair.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(100, random_state=0)
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0)
    >>> model = model.fit(data.signals, data.decisions)
    >>> display = fl.plots.RegionDisplay.from_estimator(
    ...     model, data.signals[0], y=data.decisions, units="MW")  # doctest: +SKIP
    >>> display.figure_.savefig("region.png")  # doctest: +SKIP
    """

    region: Region
    _: KW_ONLY
    observed: ArrayLike | None = None
    cost: ArrayLike | None = None
    units: Units = None
    relaxed: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: RegionRegressor,
        signal: ArrayLike,
        *,
        y: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        decisions: Sequence[int | str] | None = None,
        units: Units = None,
        ax: Any = None,
    ) -> RegionDisplay:
        """Draw the region of a fitted model at a signal.

        Parameters
        ----------
        model : RegionRegressor
            A fitted model.
        signal : array-like of shape (K,)
            A signal, or a frame of one row.
        y : array-like of shape (N, n), default=None
            Decisions to draw as dots.
        costs : array-like of shape (n,), default=None
            What-if prices in place of those read from the signal.
        decisions : sequence of int or str, default=None
            The decisions that are seen, by name or position; default all.
        units : mapping of str to str, or str, default=None
            Units of the decisions by name, or one for all.
        ax : matplotlib Axes, default=None
            Where one or two decisions are drawn; default a new figure.

        Returns
        -------
        RegionDisplay
            The display, drawn.
        """
        here = at_signal(model, signal, costs)
        display = cls(here.region, observed=y, cost=here.cost, units=units, relaxed=here.relaxed)
        return display.plot(decisions=decisions, ax=ax)

    def plot(
        self,
        *,
        decisions: Sequence[int | str] | None = None,
        ax: Any = None,
    ) -> RegionDisplay:
        """Draw the picture.

        Parameters
        ----------
        decisions : sequence of int or str, default=None
            The decisions that are seen, by name or position; default all.
        ax : matplotlib Axes, default=None
            Where one or two decisions are drawn; default a new figure.

        Returns
        -------
        RegionDisplay
            This display.
        """
        chosen = find(decisions, self.region.names, "decisions")
        if len(chosen) > MOST_DECISIONS:
            raise DataError(
                f"{len(chosen)} decisions make {len(chosen) * (len(chosen) - 1) // 2} pairs; "
                f"choose up to {MOST_DECISIONS} with decisions=[...]"
            )
        if ax is not None and len(chosen) > 2:
            raise DataError(f"ax holds one panel; {len(chosen)} decisions need a figure of theirs")
        scene = self._scene()
        if len(chosen) <= 2:
            size = 6.5, 2.5 * len(chosen)
            panel = new_panels(1, 1, size)[1][0, 0] if ax is None else ax
            if len(chosen) == 1:
                panels.draw_interval(panel, scene, chosen[0])
            else:
                panels.draw_plane(panel, scene, *chosen)
            panels.draw_legend(scene, panel.figure, ax)
            self.figure_, self.axes_ = panel.figure, np.array([panel])
        else:
            self._in_pairs(scene, chosen)
        return self

    def _scene(self) -> panels.Scene:
        """Put together what every panel shows."""
        region, names = self.region, labels(self.region.names, self.units)
        observed = rows_of_decisions(self.observed, region.n)
        try:
            region.bounding_box()
        except (EmptySetError, InfeasibleProblemError):
            return panels.Scene(region, names, observed, "empty")
        scene = panels.Scene(region, names, observed, "relaxed" if self.relaxed else "fine")
        cost = np.zeros(0) if self.cost is None else np.asarray(self.cost, dtype=float)
        if not cost.any():
            return scene
        down, level = slopes(region, cost)
        return scene._replace(optimum=region.minimize(cost), down=down, level=level)

    def _in_pairs(self, scene: panels.Scene, chosen: Sequence[int]) -> None:
        count = len(chosen) - 1
        size = (1.0 + 2.1 * count, 1.0 + 2.0 * count)
        figure, grid = new_panels(count, count, size, sharex="col", sharey="row")
        for ax in grid[np.triu_indices(count, 1)]:
            ax.set_axis_off()
        for left, low in combinations(range(count + 1), 2):
            ax = grid[low - 1, left]
            panels.draw_plane(ax, scene, chosen[left], chosen[low])
            if left > 0:
                write(ax, "ylabel", "")
            if low < count:
                write(ax, "xlabel", "")
        panels.draw_legend(scene, figure)
        self.figure_, self.axes_ = figure, grid[np.tril_indices(count)]


# Where cost falls and where it stays the same, within the affine hull of a region.


def slopes(region: Region, cost: Array) -> tuple[Array, Array | None]:
    """Return the direction in which cost falls fastest, and that in which it does not change."""
    rng = np.random.default_rng(0)
    directions = np.vstack([np.eye(region.n), rng.standard_normal((region.n, region.n))])
    points = np.array([region.minimize(d) for d in np.vstack([directions, -directions])])
    center = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - center, full_matrices=False)
    size = max(float(sizes[0]), VISIBLE_TOL * max(1.0, float(np.abs(center).max())))
    basis = axes[sizes > VISIBLE_TOL * size]
    down = -(basis.T @ (basis @ cost))
    if np.linalg.norm(down) <= VISIBLE_TOL * np.linalg.norm(cost):
        return np.zeros(region.n), None
    if len(basis) != 2:
        return down, None
    u, v = basis @ down
    return down, np.asarray(basis.T @ np.array([-v, u]))
