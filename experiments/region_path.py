"""The paper's figure of the region as it moves over the iterations, and an animation of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.models import CORRECTED, LOSSES, algorithm_2, problem
from experiments.frame.pictures import BLUE, GREY, new_figure, save
from feaslearn import paper

#: Iterations that are kept: dense at first, then sparse.
KEPT = (0, 1, 2, 3, 5, 8, 12, 16, 20, 25, 30, 40, 50, 60, 80, 100, 130, 160, 200, 300)
SHOWN = (0, 5, 20, 50, 100, 200)
CLOSE = 1e-2


def rows(settings: Settings) -> list[Row]:
    """Return both losses; quick mode has one."""
    return [Row(f"Alg 2, {loss}", {"loss": loss}) for loss in LOSSES][: 1 if settings.quick else 2]


def measure(seed: int, *, loss: str) -> dict[str, Any]:
    """Learn a square from a random start, and keep the columns of the map on the way."""
    data = paper.datasets.make_l1_ball(100, n=2, low=-1.0, random_state=seed)
    posed = problem(paper.Affine(fl.Simplex(4)), data, CORRECTED, loss)
    found = algorithm_2(posed, CORRECTED, start=paper.random_start, max_iter=max(KEPT), seed=seed)
    # The map is constant: its columns are the corners of the region.
    shapes = [posed.maps(iterate["theta"]).A[0].T for iterate in found.history]
    apart = np.array([distance(shape) for shape in shapes])
    near = np.flatnonzero(apart < CLOSE)
    return {
        "train": found.objective,
        "apart": float(apart[-1]),
        "recovered": int(near[0]) if len(near) else None,
        "at_200": float(apart[min(200, len(apart) - 1)]),
        "columns": [np.round(shapes[min(k, len(shapes) - 1)], 4).tolist() for k in KEPT],
    }


def distance(columns: np.ndarray) -> float:
    """Return the Hausdorff distance between the hull of columns and the square ``|x - e|₁ ≤ 1``."""
    angles = np.linspace(0.0, 2 * np.pi, 720, endpoint=False)
    directions = np.stack([np.cos(angles), np.sin(angles)])
    learned = (columns @ directions).max(axis=0)
    true = directions.sum(axis=0) + np.abs(directions).max(axis=0)
    return float(np.abs(learned - true).max())


def _by_iteration_200(found: Found) -> tuple[bool | None, str]:
    near = {row: found.values(row, "at_200") < CLOSE for row in found.cells}
    told = ", ".join(f"{row} {int(good.sum())} of {len(good)}" for row, good in near.items())
    return bool(np.concatenate(list(near.values())).any()), (
        f"within {CLOSE} of the square at iteration 200: {told} seeds (random starts; the paper "
        "shows one run, and does not say which start it took)"
    )


def _outline(ax: Any, columns: np.ndarray, iteration: int) -> None:
    """Draw the true square, the columns and their hull."""
    from scipy.spatial import ConvexHull, QhullError

    square = np.array([[2, 1], [1, 2], [0, 1], [1, 0], [2, 1]])
    ax.plot(*square.T, color=GREY, linewidth=4, alpha=0.5)
    try:
        order = ConvexHull(columns).vertices
    except QhullError:
        order = np.arange(len(columns))
    hull = columns[[*order, order[0]]]
    ax.fill(*hull.T, color=BLUE, alpha=0.2)
    ax.plot(*hull.T, color=BLUE)
    ax.plot(*columns.T, "o", color=BLUE, markersize=4)
    ax.set(xlim=(-0.4, 2.4), ylim=(-0.4, 2.4), aspect="equal")
    ax.set_title(f"iteration {iteration}", fontsize=9)


def draw(found: Found, folder: Path) -> list[str]:
    """Draw small multiples and the animation of the first data set."""
    row = next(iter(found.cells))
    recovered = [
        columns
        for columns, at in zip(found.raw(row, "columns"), found.values(row, "at_200"), strict=True)
        if at < CLOSE
    ]
    path = np.array((recovered or found.raw(row, "columns"))[0])
    figure, axes = new_figure(7.5, 5.0, 2, 3)
    for ax, iteration in zip(axes.flat, SHOWN, strict=True):
        _outline(ax, path[KEPT.index(iteration)], iteration)
    names = [save(figure, folder, "region_path.png")]
    return [*names, _animate(path, folder)]


def _animate(path: np.ndarray, folder: Path) -> str:
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure, ax = new_figure(3.2, 3.2)

    def frame(number: int) -> None:
        ax.clear()
        _outline(ax, path[number], KEPT[number])

    animation = FuncAnimation(figure, frame, frames=len(KEPT))
    animation.save(folder / "region_path.gif", writer=PillowWriter(fps=3), dpi=60)
    return "region_path.gif"


EXPERIMENT = Experiment(
    name="region_path",
    title="The region as it moves over the iterations",
    about=(
        "min c'x : |x - e|₁ ≤ 1, n = 2, c uniform on [-1, 1], four columns from a random "
        "start, 100 rows, no noise. *Distance* is "
        "the Hausdorff distance to the true square. The figure shows the first data set on "
        "which it is recovered."
    ),
    rows=rows,
    measure=measure,
    columns={
        "train": "train",
        "at_200": "distance at 200",
        "apart": "distance at the end",
        "recovered": "recovered at",
    },
    helpers=(distance, problem, algorithm_2),
    draw=draw,
    claims=(
        Claim(
            "Figure: Algorithm 2 recovers the region by iteration 200, in a run", _by_iteration_200
        ),
    ),
)
