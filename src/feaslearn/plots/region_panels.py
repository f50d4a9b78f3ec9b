"""Panels of a region: on a line, in a plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from feaslearn.arrays import Array
from feaslearn.plots.canvas import BLUE, GREY, ORANGE, VERMILION, finish, write
from feaslearn.region import Region
from feaslearn.tolerances import GAIN_TOL, ROUNDING

State = Literal["fine", "relaxed", "empty"]

#: Length of the arrow, as a share of what is drawn.
ARROW = 0.18
#: Figures of more inches than this have room for a legend in one row.
WIDE = 7.5
#: Said in the place of the region, and beside one that is relaxed.
EMPTY = "no decision satisfies everything here"

#: Points that stick out less than this, relative to the size of the region, are on the outline.
TOLERANCE = 3e-4
#: Each quarter of a curved outline is halved so often: 4 * 2**6 points at most.
DEPTH = 6


class Scene(NamedTuple):
    """What is drawn: the region, the labels of its decisions, dots, and the optimum."""

    region: Region
    labels: list[str]
    observed: Array
    state: State
    optimum: Array | None = None
    down: Array = np.zeros(0)
    level: Array | None = None


def draw_interval(ax: Any, scene: Scene, i: int) -> None:
    """Draw the range of one decision, dots above each other by their number."""
    if scene.state != "empty":
        low, high = (side[i] for side in scene.region.bounding_box())
        ax.plot([low, high], [0.0, 0.0], color=BLUE, lw=7, alpha=0.4, solid_capstyle="butt")
        ax.plot([low, high], [0.0, 0.0], "|", color=BLUE, ms=18, mew=2)
    rows = scene.observed[:, i]
    ax.plot(rows, np.full(len(rows), 0.5), "o", color=GREY, ms=4, alpha=0.4, mew=0)
    if scene.optimum is not None:
        draw_optimum(ax, scene.optimum[i], 0.0)
    _say_empty(ax, scene)
    ax.set_ylim(-0.6, 1.1)
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    write(ax, "xlabel", scene.labels[i])


def draw_plane(ax: Any, scene: Scene, i: int, j: int) -> None:
    """Draw a projection onto two decisions."""
    ax.plot(*scene.observed[:, [i, j]].T, "o", color=GREY, ms=4, alpha=0.5, mew=0)
    if scene.state != "empty":
        corners = outline(scene.region.minimize, scene.region.n, i, j)
        draw_outline(ax, corners, BLUE, dashed=scene.state == "relaxed")
    _say_empty(ax, scene)
    if scene.optimum is not None:
        ax.margins(0.12)
        ax.autoscale_view()
        level = None if scene.level is None else scene.level[[i, j]]
        _draw_descent(ax, scene.optimum[[i, j]], scene.down[[i, j]], level)
        draw_optimum(ax, *scene.optimum[[i, j]])
    finish(ax, xlabel=scene.labels[i], ylabel=scene.labels[j])


def draw_optimum(ax: Any, x: float, y: float, size: int = 15) -> None:
    """Draw the cheapest decision as a star."""
    ax.plot(x, y, "*", color=VERMILION, ms=size, mec="white", zorder=5)


def draw_outline(
    ax: Any, corners: Array, color: Any, dashed: bool = False, fill: float = 0.18
) -> None:
    """Draw an outline: a polygon filled, a segment as a line, a point as a dot."""
    style = "--" if dashed else "-"
    if len(corners) == 1:
        ax.plot(*corners.T, "o", color=color, ms=9, zorder=3)
    elif len(corners) == 2:
        ax.plot(*corners.T, style, color=color, lw=4, solid_capstyle="round", zorder=3)
    else:
        closed = np.vstack([corners, corners[:1]])
        ax.fill(*corners.T, color=color, alpha=fill / 3 if dashed else fill, lw=0)
        ax.plot(*closed.T, style, color=color, lw=1.8, zorder=3)


def draw_legend(scene: Scene, figure: Any, ax: Any = None) -> None:
    """Say what the marks mean: below the panels of a figure, or within axes that were given."""
    from matplotlib.lines import Line2D

    relaxed, star = scene.state == "relaxed", {"marker": "*", "ms": 12, "ls": ""}
    arrow = {"marker": r"$\rightarrow$", "ms": 14, "ls": ""}
    name, line = ("region, relaxed", "--") if relaxed else ("learned region", "-")
    kinds: list[tuple[bool, str, str, dict[str, Any]]] = [
        (scene.state != "empty", name, BLUE, {"lw": 3, "ls": line}),
        (len(scene.observed) > 0, "observed decisions", GREY, {"marker": "o", "ls": ""}),
        (scene.optimum is not None, "cheapest decision", VERMILION, star),
        (bool(scene.down.any()), "cheaper", ORANGE, arrow),
    ]
    marks = [
        Line2D([], [], color=color, label=label, **style)
        for is_drawn, label, color, style in kinds
        if is_drawn
    ]
    if ax is not None:
        ax.legend(handles=marks, fontsize="small")
        return
    wide = figure.get_figwidth() > WIDE
    figure.legend(handles=marks, loc="outside lower center", ncols=4 if wide else 2, frameon=False)
    if scene.state == "relaxed":
        figure.suptitle(f"{EMPTY}: relaxed", fontsize="medium")


def _draw_descent(ax: Any, at: Array, down: Array, level: Array | None) -> None:
    """Draw an arrow to where it gets cheaper, and the line along which cost stays the same."""
    if not down.any():
        return
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    ends = at + down / np.linalg.norm(down / size) * ARROW
    limits = ax.get_xlim(), ax.get_ylim()
    style = {"arrowstyle": "-|>", "color": ORANGE, "lw": 2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=ends, xytext=at, arrowprops=style, zorder=4)
    if level is not None and level.any():
        ax.axline(at, at + level, color=ORANGE, lw=1, ls=":", zorder=2)
    # The arrow needs room; the line does not.
    ax.set_xlim(min(limits[0][0], ends[0]), max(limits[0][1], ends[0]))
    ax.set_ylim(min(limits[1][0], ends[1]), max(limits[1][1], ends[1]))


def _say_empty(ax: Any, scene: Scene) -> None:
    if scene.state == "empty":
        ax.text(0.5, 0.5, EMPTY, ha="center", transform=ax.transAxes, fontsize="small")


# The outline of a region seen along two of its decisions.


def outline(minimize: Callable[[Array], Array], n: int, i: int, j: int) -> Array:
    r"""Return the corners of the projection of a region onto decisions i and j."""

    def reach(direction: Array) -> Array:
        cost = np.zeros(n)
        cost[i], cost[j] = -direction
        return np.asarray(minimize(cost))[[i, j]]

    axes = np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    first = np.array([reach(axis) for axis in axes])
    span = np.ptp(first, axis=0)
    # Each decision has units of its own; what is next to nothing beside the other is rounding.
    no_span = GAIN_TOL * np.abs(first).max(axis=0) + ROUNDING * np.abs(first).max()
    # Both decisions count alike, whatever their units.
    scale = np.where(span > no_span, span, 1.0)
    corners: list[Array] = []
    for start, end in zip(first, np.roll(first, -1, axis=0), strict=True):
        corners += [start, *_between(reach, start, end, scale, DEPTH)]
    return _tidy(np.array(corners), scale, no_span)


def _between(
    reach: Callable[[Array], Array], start: Array, end: Array, scale: Array, depth: int
) -> list[Array]:
    """Return the points of the outline from one of its points to the next, without these."""
    edge = (end - start) / scale
    length = float(np.hypot(*edge))
    if length < GAIN_TOL or depth == 0:
        return []
    normal = np.array([edge[1], -edge[0]]) / length
    found = reach(normal / scale)
    if normal @ ((found - start) / scale) <= TOLERANCE:
        return []
    before = _between(reach, start, found, scale, depth - 1)
    return [*before, found, *_between(reach, found, end, scale, depth - 1)]


def _tidy(corners: Array, scale: Array, no_span: Array) -> Array:
    """Drop corners that repeat the one before, or lie on the line between their neighbours."""
    kept: list[Array] = []
    for corner in corners:
        if not kept or np.abs((corner - kept[-1]) / scale).max() > GAIN_TOL:
            kept.append(corner)
    if len(kept) > 1 and np.abs((kept[0] - kept[-1]) / scale).max() <= GAIN_TOL:
        kept.pop()
    if (np.ptp(corners, axis=0) <= no_span).all():
        return np.asarray(kept[:1])
    points = np.array(kept)
    if len(points) > 2:
        ahead, behind = np.roll(points, -1, axis=0) - points, points - np.roll(points, 1, axis=0)
        ahead, behind = ahead / scale, behind / scale
        turn = behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]
        size = np.hypot(*ahead.T) * np.hypot(*behind.T)
        back = (ahead * behind).sum(axis=1) < 0.0
        points = points[(turn > GAIN_TOL * size) | back]
    return points
