"""The paper's illustrations of the losses, computed instead of sketched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.pictures import BLUE, GREEN, GREY, ORANGE, new_figure, save
from feaslearn import paper

#: Corners of the learned and of the true region, the cost, and an observed decision.
LEARNED = np.array([[0.6, 0.3], [2.6, 0.5], [3.0, 2.0], [1.6, 3.0], [0.3, 2.0]])
TRUE = np.array([[0.9, 0.9], [2.2, 0.2], [3.2, 1.4], [2.4, 2.7], [0.8, 2.3]])
COST = np.array([0.35, 1.0])
OBSERVED = {"inside, too dear": [1.9, 1.6], "outside, cheap": [1.4, -0.2], "optimal": [0.6, 0.3]}


def rows(settings: Settings) -> list[Row]:
    """Return one row for each observed decision."""
    del settings
    return [Row(name, {"observed": name}, most_seeds=1) for name in OBSERVED]


def region(corners: np.ndarray) -> paper.Image:
    """Return the hull of corners."""
    return paper.Image(fl.Simplex(len(corners)), corners.T)


def measure(seed: int, *, observed: str) -> dict[str, Any]:
    """Return the losses of one decision, and the points that show them."""
    del seed  # nothing is random
    learned, true, x = region(LEARNED), region(TRUE), np.array(OBSERVED[observed])
    predicted, best = learned.minimize(COST), true.minimize(COST)
    infeasible = learned.distance(x)
    excess = float(COST @ (x - predicted))
    true_excess = float(COST @ (predicted - best))
    return {
        "g": infeasible,
        "J": excess,
        "predictability": float(np.linalg.norm(x - predicted)),
        "suboptimality": float(np.hypot(infeasible, max(excess, 0.0))),
        "true_predictability": float(np.linalg.norm(predicted - best)),
        "true_suboptimality": float(np.hypot(true.distance(predicted), max(true_excess, 0.0))),
        "points": {
            "x": x.tolist(),
            "predicted": predicted.tolist(),
            "feasible": learned.at(learned.nearest(x).latent).tolist(),
            "best": best.tolist(),
            "true_feasible": true.at(true.nearest(predicted).latent).tolist(),
        },
    }


def _all_zero_together(found: Found) -> tuple[bool | None, str]:
    at = max(found.mean("optimal", key) for key in ("predictability", "suboptimality"))
    return at < 1e-9, f"both learned losses of the optimal decision are {at:.1e}"


def _panel(ax: Any, corners: np.ndarray, color: str, label: str) -> None:
    ax.fill(*corners.T, color=color, alpha=0.2)
    ax.plot(*corners[[*range(len(corners)), 0]].T, color=color, label=label)
    ax.annotate(
        "",
        xy=(0.15 - 0.2 * COST[0], 3.0 - 0.5 * COST[1]),
        xytext=(0.15, 3.0),
        arrowprops={"arrowstyle": "->"},
    )
    ax.text(0.2, 2.75, "−c")
    ax.set(xlim=(-0.2, 3.6), ylim=(-0.6, 3.3), aspect="equal")


def _level(ax: Any, point: list[float], label: str) -> None:
    """Draw the line of all points that cost the same."""
    x = np.array([-0.2, 3.6])
    ax.plot(x, point[1] - COST[0] / COST[1] * (x - point[0]), ":", color=GREY)
    ax.text(3.3, point[1] - COST[0] / COST[1] * (3.3 - point[0]) + 0.05, label, fontsize=7)


def _arrow(ax: Any, start: list[float], end: list[float], label: str, color: str) -> None:
    ax.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "->", "color": color})
    middle = (np.array(start) + np.array(end)) / 2.0
    # On different sides, so that labels of arrows from one point do not meet.
    if color == GREEN:
        ax.text(*(middle + 0.08), label, color=color, fontsize=9)
    else:
        ax.text(*(middle - 0.08), label, color=color, fontsize=9, ha="right", va="top")


def draw(found: Found, folder: Path) -> list[str]:
    """Draw the losses of two decisions, and the true losses of the prediction."""
    figure, axes = new_figure(10.5, 3.8, 1, 3)
    for ax, row in zip(axes, ("inside, too dear", "outside, cheap"), strict=False):
        values = {
            key: found.mean(row, key) for key in ("g", "J", "predictability", "suboptimality")
        }
        points = found.raw(row, "points")[0]
        _panel(ax, LEARNED, BLUE, "learned region")
        _level(ax, points["x"], "c'x")
        _level(ax, points["predicted"], "least cost")
        _arrow(
            ax,
            points["x"],
            points["predicted"],
            f"γ, ℓp = {values['predictability']:.2f}",
            "#D55E00",
        )
        if values["g"] > 1e-9:
            _arrow(ax, points["x"], points["feasible"], f"γ_f = {values['g']:.2f}", GREEN)
        ax.plot(*points["x"], "ko")
        ax.plot(*points["predicted"], "o", color=BLUE)
        ax.set_title(
            f"{row}\nJ = {values['J']:.2f}, ℓsub = {values['suboptimality']:.2f}", fontsize=9
        )
    ax, points = axes[2], found.raw("optimal", "points")[0]
    _panel(ax, LEARNED, BLUE, "learned region")
    _panel(ax, TRUE, ORANGE, "true region")
    near, cheap = (
        found.mean("optimal", f"true_{key}") for key in ("predictability", "suboptimality")
    )
    _arrow(ax, points["predicted"], points["best"], f"ℓp = {near:.2f}", "#D55E00")
    _arrow(ax, points["predicted"], points["true_feasible"], "γ_f", GREEN)
    ax.plot(*points["predicted"], "o", color=BLUE)
    ax.plot(*points["best"], "o", color=ORANGE)
    ax.set_title(f"true losses of the prediction\nℓp = {near:.2f}, ℓsub = {cheap:.2f}", fontsize=9)
    ax.legend(fontsize=7, loc="upper right", frameon=False)
    return [save(figure, folder, "losses.png")]


EXPERIMENT = Experiment(
    name="losses",
    title="The losses, drawn",
    about="Two pentagons, one cost and three observed decisions; every length in the figure "
    "is computed (norms not squared).",
    rows=rows,
    measure=measure,
    columns={
        "g": "γ_f",
        "J": "J",
        "predictability": "ℓp_θ",
        "suboptimality": "ℓsub_θ",
        "true_predictability": "ℓp of the prediction",
        "true_suboptimality": "ℓsub of the prediction",
    },
    helpers=(region,),
    draw=draw,
    claims=(
        Claim(
            "Figure: where the prediction is the observed decision, losses vanish",
            _all_zero_together,
        ),
    ),
)
