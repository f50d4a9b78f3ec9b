"""Problem 2 of the paper: the lines of the network, by integer programs and by enumeration."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from experiments.frame.pictures import GREEN, ORANGE, new_figure, save
from feaslearn import paper
from feaslearn.paper.datasets import PLANTS, RING

#: The most that each plant delivers, and each line carries.
CAPACITY = 3.5
MILP, ALL = "Integer program, {loss}", "All 1024 networks"
#: Seconds that the paper estimates for the loss of each network.
EACH = 2.64


def rows(settings: Settings) -> list[Row]:
    """Return the ways to learn the network; the program with all samples at once takes long."""
    paper = {"seconds": 23.5, "loss": 0.0, "lines": 4.0}
    found = [
        Row(MILP.format(loss=loss), {"solver": "milp", "loss": loss}, paper)
        for loss in ("predictability", "suboptimality")
    ]
    found.append(Row(ALL, {"solver": "enumeration"}, {"seconds": EACH * 1024}))
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
    data = paper.datasets.make_power5(n_samples=100, random_state=seed)
    learn(data[:5], solver, loss, lazy)  # loads the solver
    began = time.process_time()
    found = learn(data, solver, loss, lazy)
    values = {"seconds": time.process_time() - began, "loss": found.loss}
    values["lines"] = len(found.lines)
    if solver == "enumeration":
        values["networks"] = len(found.best)
        values["sparsest"] = found.by_size[len(found.lines)]
        values["certain"] = len(found.certain)
        values["pairs"] = [list(line) for line in found.lines]
        values["unsigned_cost"] = unsigned_cost(data)
    return values


def learn(data: paper.Data, solver: str, loss: str, lazy: bool) -> paper.LearnedNetwork:
    """Learn the network among lines between any two nodes."""
    candidates = paper.TransportNetwork(5, None, CAPACITY, PLANTS, CAPACITY)
    if solver == "enumeration":
        return paper.baselines.enumerated_network(data, candidates, loss)
    return paper.learn_network(data, candidates, loss, solver="milp", lazy=lazy, identify=False)


def unsigned_cost(data: paper.Data) -> float:
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
    lines = found.values(ALL, "lines")
    networks, sparsest = found.mean(ALL, "networks"), found.mean(ALL, "sparsest")
    return bool((lines == 4).all()), (
        f"{lines.min():.0f} to {lines.max():.0f} lines; but {networks:.0f} of 1024 networks "
        f"have zero loss, "
        f"{sparsest:.0f} of them with that few lines (means), and "
        f"{found.mean(ALL, 'certain'):.0f} lines are certain"
    )


def _enumeration_is_slow(found: Found) -> tuple[bool | None, str]:
    every, milp = (found.mean(row, "seconds") for row in (ALL, MILP.format(loss="predictability")))
    return True if every > 10 * milp else None if every > milp else False, (
        f"all networks {every:.2f} s (paper: {EACH * 1024:.0f} s, estimated), integer "
        f"program {milp:.2f} s (23.5 s); the dispatch of a network is greedy, without a solver"
    )


def _unsigned(found: Found) -> tuple[bool | None, str]:
    cost = found.mean(ALL, "unsigned_cost")
    return cost > 0.1, (
        f"with columns of two ones a flow enters both ends: the mean cost of the true "
        f"network is {cost:.2g}, "
        "energy is free; signed incidence, or {-1, 0, 1}, is needed"
    )


def draw(found: Found, folder: Path) -> list[str]:
    """Draw the true network and the learned one."""
    learned = [tuple(line) for line in found.raw(ALL, "pairs")[0]]
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
    helpers=(learn, unsigned_cost),
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
