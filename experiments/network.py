"""Problem 2 of the paper: the lines of the network, by integer programs and by enumeration."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import feaslearn as fl
from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.pictures import GREEN, ORANGE, new_figure, save
from feaslearn.datasets.power import PLANTS, RING

ARGUMENTS: dict[str, Any] = {
    "nodes": 5,
    "generators": list(PLANTS),
    "generator_capacity": 3.5,
    "line_capacity": 3.5,
    "cost": [0, 1, 2],
    "demand": range(3, 8),
}
MILP = "Integer program, {loss}"
CUTS, ALL = "By cuts (default)", "All 1024 networks"
#: Seconds that the paper estimates for the loss of each network.
EACH = 2.64


def rows(settings: Settings) -> list[Row]:
    """Return the ways to learn the network; the program with all samples at once takes long."""
    paper = {"seconds": 23.5, "loss": 0.0, "lines": 4.0}
    found = [
        Row(MILP.format(loss=loss), {"solver": "milp", "loss": loss}, paper)
        for loss in ("predictability", "suboptimality")
    ]
    found += [
        Row(CUTS, {"solver": "auto"}),
        Row(ALL, {"solver": "enumeration"}, {"seconds": EACH * 1024}),
    ]
    if not settings.quick:
        at_once = {"solver": "milp", "lazy": False}
        found.append(
            Row("Integer program, all samples at once", at_once, paper, most_seeds=3, seconds=30.0)
        )
    return found


def measure(
    seed: int, *, solver: str, loss: str = "predictability", lazy: bool = True
) -> dict[str, Any]:
    """Learn the network from 100 dispatches, and say what the data leave open."""
    data = fl.datasets.make_power5(n_samples=100, random_state=seed)
    if solver == "enumeration":
        model: Any = fl.baselines.EnumeratedNetwork(**ARGUMENTS, loss=loss)
    else:
        model = fl.NetworkLearner(**ARGUMENTS, loss=loss, solver=solver, lazy=lazy)
    model.fit(data.signals[:5], data.decisions[:5])  # loads the solver, compiles the kernels
    began = time.process_time()
    model.fit(data.signals, data.decisions)
    values = {"seconds": time.process_time() - began, "loss": model.loss_}
    values["lines"] = len(model.lines_)
    if solver == "enumeration":
        zero = model.losses_ < 1e-9
        return {**values, "networks": int(zero.sum())}
    if solver == "auto":
        found = model.identify()
        values["networks"] = found.n_networks[0]
        values["sparsest"] = found.by_size[len(model.lines_)]
        values["certain"] = len(found.certain)
        values["pairs"] = [list(map(int, line)) for line in model.lines_]
        values["unsigned_cost"] = unsigned_cost(data)
    return values


def unsigned_cost(data: fl.Decisions) -> float:
    """Return the mean cost of the true network when lines are columns of two ones, not ±1.

    So the paper prints them, A in {0, 1}: then a flow enters both ends, and energy is free.
    """
    from scipy.optimize import linprog

    lines = np.zeros((5, len(RING)))
    for column, (i, j) in enumerate(RING):
        lines[[i - 1, j - 1], column] = 1.0
    plants = np.zeros((5, 3))
    plants[np.array(PLANTS) - 1, range(3)] = 1.0
    bounds = [(0.0, 3.5)] * 3 + [(-3.5, 3.5)] * len(RING)
    costs = [
        linprog(
            [*signal[:3], *np.zeros(len(RING))],
            A_eq=np.hstack([plants, -lines]),
            b_eq=signal[3:],
            bounds=bounds,
        )
        for signal in data.signals[:20]
    ]
    return float(np.mean([found.fun if found.success else np.nan for found in costs]))


def _zero_loss(found: Found) -> tuple[bool | None, str]:
    losses = {
        loss: float(found.values(MILP.format(loss=loss), "loss").max())
        for loss in ("predictability", "suboptimality")
    }
    told = ", ".join(f"{loss} {value:.1e}" for loss, value in losses.items())
    return max(losses.values()) < 1e-6, f"largest loss of a seed: {told}"


def _four_lines(found: Found) -> tuple[bool | None, str]:
    lines = found.values(CUTS, "lines")
    networks, sparsest = found.mean(CUTS, "networks"), found.mean(CUTS, "sparsest")
    return bool((lines == 4).all()), (
        f"{lines.min():.0f} to {lines.max():.0f} lines; but {networks:.0f} of 1024 networks "
        f"have zero loss, "
        f"{sparsest:.0f} of them with that few lines (means), and "
        f"{found.mean(CUTS, 'certain'):.0f} lines are certain"
    )


def _enumeration_is_slow(found: Found) -> tuple[bool | None, str]:
    every, milp = (found.mean(row, "seconds") for row in (ALL, MILP.format(loss="predictability")))
    return True if every > 10 * milp else None if every > milp else False, (
        f"all networks {every:.2f} s (paper: {EACH * 1024:.0f} s, estimated), integer "
        f"program {milp:.2f} s (23.5 s), by "
        f"cuts {found.mean(CUTS, 'seconds'):.3f} s; enumeration has a greedy dispatch"
    )


def _unsigned(found: Found) -> tuple[bool | None, str]:
    cost = found.mean(CUTS, "unsigned_cost")
    return cost > 0.1, (
        f"with columns of two ones a flow enters both ends: the mean cost of the true "
        f"network is {cost:.2g}, "
        "energy is free; signed incidence, or {-1, 0, 1}, is needed"
    )


def draw(found: Found, folder: Path) -> list[str]:
    """Draw the true network and the learned one."""
    learned = [tuple(line) for line in found.raw(CUTS, "pairs")[0]]
    figure, axes = new_figure(8.5, 4.6, 1, 2)
    around = 2.0 * np.pi * np.arange(5) / 5
    places = np.column_stack([np.cos(around), np.sin(around)])
    for ax, lines, title in (
        (axes[0], RING, "true network (assumed: the ring)"),
        (axes[1], learned, f"learned, zero loss: {len(learned)} lines"),
    ):
        for some, style in (
            (RING if lines is learned else (), {"color": GREEN, "lw": 11, "alpha": 0.3}),
            (lines, {"color": ORANGE, "lw": 2.5}),
        ):
            for line in some:
                ax.plot(*places[np.array(line) - 1].T, **style)
        for node, place in enumerate(places, 1):
            box = {"boxstyle": "square" if node in PLANTS else "circle", "fc": "white"}
            ax.annotate(str(node), place, ha="center", va="center", bbox=box)
        ax.set_title(title)
        ax.set_aspect("equal")
        ax.set_axis_off()
    return [save(figure, folder, "network.png")]


EXPERIMENT = Experiment(
    name="network",
    title="Problem 2: learning the lines of the network",
    about=(
        "100 dispatches without noise, ten candidate lines; the sparsest network of least "
        "loss is asked for. The integer program has one binary for each candidate line, however "
        "many the dispatches. *Networks* is "
        "how many of the 1024 explain every dispatch. Seconds of the paper: Gurobi, and its "
        "own estimate for enumeration."
    ),
    rows=rows,
    measure=measure,
    columns={
        "loss": "loss",
        "lines": "lines",
        "networks": "networks of zero loss",
        "sparsest": "of these with as few lines",
        "certain": "certain lines",
        "seconds": "seconds",
    },
    helpers=(unsigned_cost,),
    draw=draw,
    claims=(
        Claim("Problem 2: both losses reach zero (every seed)", _zero_loss),
        Claim("Problem 2: four lines suffice instead of five", _four_lines),
        Claim(
            "Problem 2: enumerating all networks takes far longer than the integer program",
            _enumeration_is_slow,
        ),
        Claim("Problem 2: A in {0, 1} describes the lines", _unsigned),
    ),
)
