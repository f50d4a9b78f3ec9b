"""The paper's figure of training loss and test metrics under smoothing, and monotonicity."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.models import CORRECTED, LOSSES, algorithm_2, problem
from experiments.frame.pictures import BLUE, GREEN, GREY, ORANGE, new_figure, save
from feaslearn import paper

#: A loss has risen if it did by more than this share of the largest.
ROUNDING = 1e-9


def name(algorithm: int, loss: str) -> str:
    """Return what the table calls a row."""
    return f"Alg {algorithm}, {loss}"


def rows(settings: Settings) -> list[Row]:
    """Return both algorithms with both losses."""
    found = [
        Row(
            name(algorithm, loss),
            {"algorithm": algorithm, "loss": loss, "kept": 8 if settings.quick else 30},
            seconds=4.0,
        )
        for algorithm, loss in product((1, 2), LOSSES)
    ]
    return found[2:3] if settings.quick else found


def measure(seed: int, *, algorithm: int, loss: str, kept: int) -> dict[str, Any]:
    """Train on the l1 ball, and measure the iterates on the way.

    The map is constant, so that the parameters of an iterate are those of a model.
    """
    data = paper.datasets.make_l1_ball(600, random_state=seed)
    train, test = data[:100], data[100:]
    posed = problem(paper.Affine(fl.Simplex(5)), train, CORRECTED, loss)
    if algorithm == 1:
        found = paper.algorithm1(posed, n_starts=1, max_iter=500, seed=seed)
    else:
        found = algorithm_2(posed, CORRECTED, max_iter=500, seed=seed)
    history = found.history
    values = rises(found)
    chosen = np.unique(np.geomspace(1, len(history), kept).astype(int)) - 1
    path: dict[str, list[float]] = {"iteration": chosen.tolist()}
    for index in chosen:
        iterate = replace(found, theta=history[index]["theta"])
        for key, value in metrics(iterate, train, test).items():
            path.setdefault(key, []).append(value)
    if algorithm == 2:
        path["smoothed"] = [history[index]["smoothed_loss"] for index in chosen]
        path["epsilon"] = [history[index]["epsilon"] for index in chosen]
        values["total_rises"] = total_rises(history)
    values["first_true"], values["last_true"] = path["true_predictability"][:: len(chosen) - 1]
    return {**values, "iterations": len(history) - 1, "path": path}


def metrics(found: paper.Found, train: paper.Data, test: paper.Data) -> dict[str, Any]:
    """Return the exact training loss and the four metrics on test rows."""
    measured = paper.evaluate(found, test)
    return {
        "train": paper.evaluate(found, train).predictability,
        "predictability": measured.predictability,
        "suboptimality": measured.suboptimality,
        "true_predictability": measured.true_predictability,
        "true_suboptimality": measured.true_suboptimality,
    }


def rises(found: paper.Found) -> dict[str, Any]:
    """Return in which share of the steps the exact loss of a single sample rises."""
    losses = np.array([found.problem.rows(each["theta"]).values for each in found.history])
    return {"sample_rises": float((np.diff(losses, axis=0) > ROUNDING * losses[0].max()).mean())}


def total_rises(history: list[dict[str, Any]]) -> float:
    """Return in which share of the steps at one ε the smoothed loss rises."""
    smoothed, epsilon = (
        np.array([iterate[key] for iterate in history]) for key in ("smoothed_loss", "epsilon")
    )
    same = np.diff(epsilon) == 0.0
    return float((np.diff(smoothed)[same] > ROUNDING * smoothed[0]).mean()) if same.any() else 0.0


def _monotone(found: Found) -> tuple[bool | None, str]:
    total = max(found.mean(name(2, loss), "total_rises") for loss in LOSSES)
    single = {
        name(a, loss): found.mean(name(a, loss), "sample_rises")
        for a, loss in product((1, 2), LOSSES)
    }
    told = ", ".join(f"{row} {share:.0%}" for row, share in single.items())
    return max(single.values()) == 0.0, (
        f"the total at one ε rises in {total:.0%} of the steps, but the (exact) loss of a "
        f"single sample rises in a share "
        f"of all sample-steps: {told}"
    )


def _training_loss_grows(found: Found) -> tuple[bool | None, str]:
    paths = found.raw(name(2, "predictability"), "path")
    grew = [max(path["smoothed"]) > path["smoothed"][0] for path in paths]
    jumps = [
        float((np.diff(path["smoothed"])[np.diff(path["epsilon"]) > 0] > 0).mean())
        for path in paths
    ]
    verdict = True if all(grew) else None if any(grew) else False
    return verdict, (
        f"between drawn iterates with a larger ε it rises in {np.nanmean(jumps):.0%}; above "
        f"its start in {sum(grew)} of {len(grew)} seeds"
    )


def _true_losses_fall(found: Found) -> tuple[bool | None, str]:
    paths, told, fell = found.raw(name(2, "predictability"), "path"), [], []
    for loss in LOSSES:
        curves = [np.array(path[f"true_{loss}"]) for path in paths]
        ends = [bool(curve[-1] < curve[0]) for curve in curves]
        ups = np.mean([(np.diff(curve) > 1e-9).mean() for curve in curves])
        first, last = (np.mean([curve[at] for curve in curves]) for at in (0, -1))
        fell += ends
        told.append(
            f"true {loss} {first:.3f} to {last:.2g} on average, lower in {sum(ends)} of "
            f"{len(ends)} seeds, up in {ups:.0%} of the drawn steps"
        )
    return all(fell), "; ".join(told)


def draw(found: Found, folder: Path) -> list[str]:
    """Draw the metrics of the first seed, and of all seeds their median."""
    path = found.raw(name(2, "predictability"), "path")[0]
    figure, axes = new_figure(7.0, 4.2)
    curves = {
        "smoothed": ("training loss, smoothed", GREY, "--"),
        "train": ("training loss", BLUE, "-"),
        "predictability": ("ℓp_θ, test", "#D55E00", "-"),
        "true_predictability": ("ℓp, test", "#56B4E9", ":"),
        "suboptimality": ("ℓsub_θ, test", ORANGE, "-"),
        "true_suboptimality": ("ℓsub, test", GREEN, "-"),
    }
    x = np.array(path["iteration"]) + 1
    for key, (label, color, style) in curves.items():
        axes.plot(x, np.maximum(path[key], 1e-14), style, color=color, label=label)
    axes.set(xscale="log", yscale="log", xlabel="iteration", ylabel="mean squared loss")
    axes.set_title("Algorithm 2, predictability, l1 ball, p = 5, first data set")
    axes.legend(fontsize=8, frameon=False)
    return [save(figure, folder, "convergence.png")]


EXPERIMENT = Experiment(
    name="convergence",
    title="Convergence under smoothing",
    about=(
        "The l1 ball with p = 5, 100 rows and 500 to test on, 500 iterations, constant map. "
        "*Rises, one sample*: share of "
        "sample-steps in which the exact loss of a sample rises; *rises, total*: share of "
        "steps at one ε in which the "
        "smoothed total does."
    ),
    rows=rows,
    measure=measure,
    columns={
        "iterations": "iterations",
        "first_true": "ℓp at the start",
        "last_true": "ℓp at the end",
        "total_rises": "rises, total",
        "sample_rises": "rises, one sample",
    },
    helpers=(metrics, rises, total_rises, problem, algorithm_2),
    draw=draw,
    claims=(
        Claim("Proposition (convergence): the loss of every pair falls monotonically", _monotone),
        Claim(
            "Figure: the training loss increases as smoothing is taken away", _training_loss_grows
        ),
        Claim(
            "Figure: meanwhile the true losses decrease (from the first to the last iterate)",
            _true_losses_fall,
        ),
    ),
)
