"""
A learned region in a market model
==================================

*Put what was learned about a plant as constraints into CVXPY, Pyomo and an MPS file, and plan it
together with everything else.*

The cold store of :doc:`flexible_plant_under_prices` sits behind one meter with a load and a
generator. Power is bought at the day's prices, the generator burns fuel, and every MW of the day's
highest purchase is charged. The best joint plan asks the store for schedules that prices alone
never asked for: a forecast of its schedule does not answer that, its region does.

It needs the extras ``plot`` and ``pyomo``; ``--quick`` takes fewer days and models.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

import cold_store
import feaslearn as fl
from cold_store import HOURS
from example_tools import OURS, main, print_table, steps
from flexible_plant_under_prices import Learned, compare, days

Array = np.ndarray

# %%
# The same model, three times
# ---------------------------
# The learned region goes into the model as constraints on the charge of the store, from which
# ``steps`` leads to its power: in CVXPY (solved by Clarabel), in Pyomo (solved by HiGHS), and as an
# MPS file, to which HiGHS adds the rest of the site.

LOAD = 1.5 + 0.8 * np.sin((np.arange(HOURS) - 11.0) / HOURS * 2.0 * np.pi)  # MW
FUEL, GENERATOR, PEAK = 70.0, 1.0, 150.0  # $/MWh, MW, $ for each MW of the highest purchase


def market(power: Any, price: Any) -> tuple[Any, list[Any]]:
    """Return the cost of a day and the constraints of the meter, for power as an expression."""
    buy, burn = cp.Variable(HOURS, nonneg=True), cp.Variable(HOURS, nonneg=True)
    cost = price @ buy + FUEL * cp.sum(burn) + PEAK * cp.max(buy)
    return cost, [buy + burn == LOAD + power, burn <= GENERATOR]


def in_cvxpy(store: Learned, signal: Array) -> float:
    """Solve the market of one day in CVXPY."""
    plant = fl.export.to_cvxpy(store.model.region(signal))
    cost, constraints = market(store.steps @ plant.x, signal[:HOURS])
    return float(
        cp.Problem(cp.Minimize(cost), [*constraints, *plant.constraints]).solve(solver=cp.CLARABEL)
    )


def in_pyomo(store: Learned, signal: Array) -> float:
    """Solve the market of one day in Pyomo, with HiGHS."""
    import pyomo.environ as pyo

    day = pyo.ConcreteModel()
    day.plant = fl.export.to_pyomo(store.model.region(signal)).model
    charge = list(day.plant.x.values())
    hours = range(HOURS)
    day.buy = pyo.Var(hours, bounds=(0.0, None))
    day.burn = pyo.Var(hours, bounds=(0.0, GENERATOR))
    day.peak = pyo.Var()
    day.serve = pyo.Constraint(
        hours,
        rule=lambda day, t: (
            day.buy[t] + day.burn[t]
            == LOAD[t] + sum(store.steps[t, k] * charge[k] for k in hours if store.steps[t, k])
        ),
    )
    day.highest = pyo.Constraint(hours, rule=lambda day, t: day.peak >= day.buy[t])
    day.cost = pyo.Objective(
        expr=sum(signal[t] * day.buy[t] + FUEL * day.burn[t] for t in hours) + PEAK * day.peak
    )
    pyo.SolverFactory("appsi_highs").solve(day)
    return float(pyo.value(day.cost))


def in_mps(store: Learned, signal: Array) -> float:
    """Write the region as MPS, add the meter with HiGHS, write that as MPS too, and solve it."""
    import highspy

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "plant.mps")
        names = fl.export.to_mps(store.model.region(signal), path)
        program = highspy.Highs()
        program.silent()
        program.readModel(path)
        charge = [program.getColByName(name)[1] for name in names.values()]
        first = program.getNumCol()  # what is bought, what is burnt, and the highest purchase
        for t in range(HOURS):
            program.addCol(signal[t], 0.0, highspy.kHighsInf, 0, [], [])
        for _ in range(HOURS):
            program.addCol(FUEL, 0.0, GENERATOR, 0, [], [])
        program.addCol(PEAK, -highspy.kHighsInf, highspy.kHighsInf, 0, [], [])
        for t in range(HOURS):
            used = np.flatnonzero(store.steps[t])
            columns = [first + t, first + HOURS + t, *(charge[k] for k in used)]
            entries = [1.0, 1.0, *(-store.steps[t, used])]
            program.addRow(LOAD[t], LOAD[t], len(columns), columns, entries)
            highest = [first + 2 * HOURS, first + t]
            program.addRow(0.0, highspy.kHighsInf, 2, highest, [1.0, -1.0])
        path = str(Path(folder) / "market.mps")
        program.writeModel(path)
        solver = highspy.Highs()
        solver.silent()
        solver.readModel(path)
        solver.run()
        return float(solver.getInfo().objective_function_value)


# %%
# What the learned region costs
# -----------------------------
# Each plan is carried out on the true plant: where that cannot run it, it runs the nearest schedule
# it can, and the rest of the site adjusts. Beside the learned regions stand the schedules that
# regressors forecast, and the true schedule of a plant that is left to its own bill.


class Day:
    """The site with the true plant, for one day after the other."""

    def __init__(self) -> None:
        self.price, self.heat = cp.Parameter(HOURS), cp.Parameter()
        self.plan, power = cp.Parameter(HOURS), cp.Variable(HOURS)
        self.power, true = power, cold_store.in_cvxpy(power, self.heat)
        cost, meter = market(power, self.price)
        self.best = cp.Problem(cp.Minimize(cost), [*meter, *true])
        self.nearest = cp.Problem(cp.Minimize(cp.norm1(power - self.plan)), true)
        fixed, meter = market(self.plan, self.price)
        self.site = cp.Problem(cp.Minimize(fixed), meter)

    def optimum(self, signal: Array) -> float:
        """Return the least cost of a day, with the true plant; it is the day from now on."""
        self.price.value, self.heat.value = signal[:HOURS], signal[HOURS]
        return float(self.best.solve(solver=cp.HIGHS))

    def carried_out(self, plan: Array) -> float:
        """Return the cost of a plan once the plant has run it as nearly as it can."""
        self.plan.value = plan
        self.nearest.solve(solver=cp.HIGHS)
        self.plan.value = self.power.value
        return float(self.site.solve(solver=cp.HIGHS))


class Joint:
    """The site with a learned region, for one day after the other."""

    def __init__(self, learned: Learned) -> None:
        self.price, self.plant = cp.Parameter(HOURS), fl.export.to_cvxpy(learned.model)
        self.power = learned.steps @ self.plant.x
        cost, meter = market(self.power, self.price)
        self.problem = cp.Problem(cp.Minimize(cost), [*meter, *self.plant.constraints])

    def plan(self, signal: Array) -> Array:
        """Return the power of the plant in the joint plan of a day."""
        self.plant.set_signal(signal)
        self.price.value = signal[:HOURS]
        self.problem.solve(solver=cp.HIGHS)
        return np.asarray(self.power.value)


def regrets(test: fl.Decisions, models: dict[str, Any]) -> tuple[dict[str, Array], Array]:
    """Return the cost of each plan above the true optimum in $ by day, and the optima."""
    joint = {name: Joint(each) for name, each in models.items() if isinstance(each, Learned)}
    plans = {
        f"forecast, {name}": models[name].predict(test.signals)
        for name in models
        if name not in joint
    }
    plans["left to its own bill"] = test.decisions
    costs: dict[str, list[float]] = {name: [] for name in [*joint, *plans]}
    day, best = Day(), []
    for i in steps(range(len(test)), "market"):
        best.append(day.optimum(test.signals[i]))
        for name, each in joint.items():
            costs[name].append(day.carried_out(each.plan(test.signals[i])))
        for name, each in plans.items():
            costs[name].append(day.carried_out(each[i]))
    optima = np.array(best)
    return {name: np.array(each) - optima for name, each in costs.items()}, optima


class Results(NamedTuple):
    """The optima of some days in three tools, and regrets by plan and day."""

    optima: dict[str, Array]
    regrets: dict[str, Array]


def run(quick: bool = False, seed: int = 0) -> Results:
    """Print both tables; return what is in them."""
    train, test = days(quick, seed)
    models = compare(train, test, quick)[1]
    shown = test.signals[:: max(1, len(test) // 3)][:3]
    tools = {"CVXPY": in_cvxpy, "Pyomo": in_pyomo, "MPS": in_mps}
    optima = {
        tool: np.array([solve(models[OURS], signal) for signal in shown])
        for tool, solve in tools.items()
    }
    print_table(
        "least cost of three days with the learned region, $",
        ("", "first", "second", "third"),
        [(tool, *(f"{value:.3f}" for value in row)) for tool, row in optima.items()],
    )
    found, best = regrets(test, models)
    print_table(
        f"{len(test)} days: above the true optimum of {best.mean():.2f} $ a day",
        ("plan", "mean", "worst day"),
        [(name, f"{each.mean():.2f} $", f"{each.max():.2f} $") for name, each in found.items()],
    )
    return Results(optima, found)


# %%
# What comes out
# --------------
# The three tools agree. A forecast, however good, answers another question, and so does the plant
# left to its own bill: most of the money between them and the optimum the learned region saves. The
# rows learned from the name plate alone save less than the store does, with few days less still.


def draw(results: Results) -> Any:
    """Draw what the plans cost."""
    import matplotlib.pyplot as plt

    figure, money = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
    names = list(results.regrets)[::-1]
    means = [results.regrets[name].mean() for name in names]
    money.barh(names, means, color=["C3" if name == OURS else "0.6" for name in names])
    money.bar_label(money.containers[0], fmt=" %.1f", fontsize=8)
    money.set(xlabel="cost of the day above the true optimum ($)")
    money.margins(x=0.12)
    return figure


if __name__ == "__main__":
    main("learned_region_in_a_market", run, draw)
