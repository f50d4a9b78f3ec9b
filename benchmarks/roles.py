"""Are wrong roles of columns noticed, and right ones not?

Eight wrong inputs, made from data sets that are right: those the checks were developed on, and a
draw that they were not: the kinds of ``common/kinds.py``, and random worlds whose prices are
integers, have a trend or are spreads around zero, whose decisions have noise of 0, 5 or 20 % or few
digits, and of which there are 30 to 400 rows. ``python benchmarks/roles.py [--draw SEED]``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

import feaslearn as fl
from common.kinds import KINDS
from common.worlds import draw_world
from feaslearn.inference.roles import Roles, check_roles

Array = NDArray[np.float64]

ROWS, WORLDS = 400, 60
#: Wrong inputs, and the checks that name them.
NAMES = {
    "sense": "sense",
    "order": "order",
    "demands": "roles",
    "swapped": "roles",
    "standard": "prices",
    "unit": "units",
    "leak": "signals",
    "shuffled": "rows",
}
#: Data sets that the checks were developed on.
SETS: dict[str, Callable[[int], fl.Decisions]] = {
    "power5": lambda seed: fl.datasets.make_power5(ROWS, random_state=seed),
    "power5, lines": lambda seed: fl.datasets.make_power5(
        ROWS, line_capacity=1.6, random_state=seed
    ),
    "power5, noise": lambda seed: fl.datasets.make_power5(ROWS, noise=0.2, random_state=seed),
    "l1 ball": lambda seed: fl.datasets.make_l1_ball(ROWS, n=5, random_state=seed),
    "l1 ball, noise": lambda seed: fl.datasets.make_l1_ball(
        ROWS, n=2, low=-1.0, noise=0.2, random_state=seed
    ),
    "switch": lambda seed: fl.datasets.make_switch(ROWS, random_state=seed),
    "plant": lambda seed: fl.datasets.make_flexible_plant(ROWS, random_state=seed),
}


def as_roles(signals: Array, costs: Array, decisions: Array) -> Roles:
    """Return columns in their roles, with names."""
    names = [
        [f"{what}{j}" for j in range(many.shape[1])]
        for what, many in zip("sc", (signals, costs), strict=True)
    ]
    return Roles(signals, costs, decisions, *names, [f"x{j}" for j in range(decisions.shape[1])])


def roles_of(data: fl.Decisions) -> Roles:
    """Return the columns of a data set in their roles."""
    costs = data.cost_matrix
    others = [
        j for j, s in enumerate(data.signals.T) if not any(np.array_equal(s, c) for c in costs.T)
    ]
    return as_roles(data.signals[:, others], costs, data.decisions)


def developed() -> Iterator[tuple[str, Roles]]:
    """Yield the sets that the checks were developed on."""
    for name, make in SETS.items():
        for seed in range(3):
            yield name, roles_of(make(seed))


def fresh(seed: int) -> Iterator[tuple[str, Roles]]:
    """Yield a draw of other data sets."""
    for name, (rows, noise, make) in KINDS.items():
        signals, decisions = make(max(rows, 30), seed)
        n = decisions.shape[1]
        random = np.random.default_rng([seed, rows])
        errors = noise * decisions.std(axis=0) * random.normal(size=decisions.shape)
        yield name, as_roles(signals[:, n:], signals[:, :n], decisions + errors)
    for world in range(WORLDS):
        name, given = draw_market(1000 * (seed + 1) + world)
        if np.ptp(given.decisions, axis=0).any():
            yield name, given


def draw_market(seed: int) -> tuple[str, Roles]:
    """Return decisions in a random world at prices of some kind, with noise or few digits."""
    random = np.random.default_rng([seed, 30])
    rows = int(random.choice([30, 60, 120, 400]))
    world = draw_world(seed)
    features, costs = world.features[:rows], world.costs[:rows]
    prices = str(random.choice(["normal", "integers", "trend", "spreads"]))
    if prices == "integers":
        costs = np.rint(3.0 * costs)
    elif prices == "trend":
        walk = random.normal(size=costs.shape).cumsum(axis=0) / np.sqrt(rows)
        costs = costs + walk + np.linspace(-1.0, 1.0, rows)[:, None]
    elif prices == "spreads":
        costs = costs - costs.mean(axis=1, keepdims=True)
    # In some worlds decisions have sizes from 1 to 1000.
    sizes = 10.0 ** random.uniform(0.0, 3.0 * (random.random() < 0.4), costs.shape[1])
    found = world.region.solve(features, sizes * costs)
    kept = ~np.isnan(found).any(axis=1)
    decisions = sizes * found[kept]
    noise = float(random.choice([0.0, 0.05, 0.2]))
    if noise:
        decisions = decisions + noise * decisions.std(axis=0) * random.normal(size=decisions.shape)
    elif random.random() < 0.5:
        decisions = np.round(decisions, 2)
    kind = f"world, {prices}, {rows} rows, noise {noise:.0%}" + ", sizes" * int(np.ptp(sizes) > 0.0)
    return kind, as_roles(features[kept, 1:], costs[kept], decisions)


def wrong_inputs(given: Roles) -> Iterator[tuple[str, Roles]]:
    """Yield wrong inputs by name."""
    n = given.decisions.shape[1]
    random = np.random.default_rng(0)
    yield "sense", given._replace(maximises=True)
    if n > 1:
        yield "order", given._replace(costs=np.roll(given.costs, 1, axis=1))
    if given.signals.shape[1] >= n:
        signals = np.hstack([given.signals[:, n:], given.costs])
        yield "demands", as_roles(signals, given.signals[:, :n], given.decisions)
    yield "swapped", given._replace(costs=given.decisions, decisions=given.costs)
    spread = np.maximum(given.costs.std(axis=0), np.finfo(float).tiny)
    yield "standard", given._replace(costs=(given.costs - given.costs.mean(axis=0)) / spread)
    moving = random.choice(np.flatnonzero(np.ptp(given.decisions, axis=0) > 0.0))
    if n > 1:
        factor = np.ones(n)
        factor[moving] = random.choice([1e-3, 1e3])
        yield "unit", given._replace(decisions=given.decisions * factor)
    signals = np.hstack([given.signals, given.decisions[:, [moving]]])
    yield "leak", as_roles(signals, given.costs, given.decisions)
    yield "shuffled", given._replace(decisions=random.permutation(given.decisions))


def found_in(given: Roles) -> str:
    """Return the check that says no, "-" if there is none, "?" where too little can be told."""
    findings = check_roles(given)
    wrong = [each.check for each in findings if each.level == "no"]
    unknown = any(each.level == "unknown" for each in findings)
    return wrong[0] if wrong else "?" if unknown else "-"


def measure(sets: Iterator[tuple[str, Roles]]) -> int:
    """Print what is said of the inputs of each set, and shares; return false alarms."""
    seen: Counter[tuple[str, str]] = Counter()
    alarms, count = 0, 0
    for name, given in sets:
        right = found_in(given)
        alarms += right not in "-?"
        count += 1
        missed = []
        for what, wrong in wrong_inputs(given):
            found = found_in(wrong)
            seen[what, found if found in "-?" else "noticed"] += 1
            seen[what, "named"] += found == NAMES[what]
            missed += [what] if found == "-" else [f"{what} (?)"] if found == "?" else []
        alarm = f"false alarm: {right}; " if right not in "-?" else ""
        size = f"{given.decisions.shape[1]} decisions"
        print(f"{name}, {size}: {alarm}missed: {', '.join(missed) or 'none'}", flush=True)
    print(f"\n{'wrong input':14}{'noticed':>10}{'by name':>10}{'missed':>10}{'cannot tell':>14}")
    for what in NAMES:
        cells = [seen[what, key] for key in ("noticed", "named", "-", "?")]
        print(f"{what:14}{cells[0]:>10}{cells[1]:>10}{cells[2]:>10}{cells[3]:>14}")
    print(f"warnings on data sets that are right: {alarms} of {count} (claim: 0)\n", flush=True)
    return alarms


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is noticed; the exit code says whether there was a false alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", type=int, default=1, help="seed of the fresh sets")
    seed = parser.parse_args(arguments).draw
    return int(measure(developed()) + measure(fresh(seed)) > 0)


if __name__ == "__main__":
    sys.exit(main())
