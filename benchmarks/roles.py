"""Are wrong roles of columns noticed, and right ones not?

Eight wrong inputs on data sets in which they can be told, and no warning on 24 that are right.
``python benchmarks/roles.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import feaslearn as fl
from feaslearn.inference.roles import Roles, check_roles

ROWS = 400
SETS: dict[str, Callable[[int], fl.Decisions]] = {
    "power5": lambda seed: fl.datasets.make_power5(ROWS, random_state=seed),
    "power5, lines": lambda seed: fl.datasets.make_power5(
        ROWS, line_capacity=1.6, random_state=seed
    ),
    "power5, noise": lambda seed: fl.datasets.make_power5(ROWS, noise=0.2, random_state=seed),
    "ieee14": lambda seed: fl.datasets.make_ieee14(ROWS, random_state=seed),
    "l1 ball": lambda seed: fl.datasets.make_l1_ball(ROWS, n=5, random_state=seed),
    "l1 ball, noise": lambda seed: fl.datasets.make_l1_ball(
        ROWS, n=2, low=-1.0, noise=0.2, random_state=seed
    ),
    "switch": lambda seed: fl.datasets.make_switch(ROWS, random_state=seed),
    "plant": lambda seed: fl.datasets.make_flexible_plant(ROWS, random_state=seed),
}


def roles_of(data: fl.Decisions) -> Roles:
    """Return the columns of a data set in their roles."""
    costs = data.cost_matrix
    others = [
        j for j, s in enumerate(data.signals.T) if not any(np.array_equal(s, c) for c in costs.T)
    ]
    names = data.names
    return Roles(
        data.signals[:, others],
        costs,
        data.decisions,
        [names.signals[j] for j in others],
        [f"price of {name}" for name in names.decisions],
        names.decisions,
    )


def wrong_inputs(given: Roles) -> Iterator[tuple[str, Roles]]:
    """Yield wrong inputs by name."""
    n = given.decisions.shape[1]
    yield "sense", given._replace(maximises=True)
    yield "order", given._replace(costs=np.roll(given.costs, 1, axis=1))
    if given.signals.shape[1] >= n:
        signals = np.hstack([given.signals[:, n:], given.costs])
        names = [f"s{j}" for j in range(signals.shape[1])]
        yield (
            "demands",
            given._replace(costs=given.signals[:, :n], signals=signals, signal_names=names),
        )
    yield "swapped", given._replace(costs=given.decisions, decisions=given.costs)
    spread = np.maximum(given.costs.std(axis=0), np.finfo(float).tiny)
    yield "standard", given._replace(costs=(given.costs - given.costs.mean(axis=0)) / spread)
    factor = np.where(np.arange(n) == 0, 1000.0, 1.0)
    yield "unit", given._replace(decisions=given.decisions * factor)
    signals = np.hstack([given.signals, given.decisions[:, :1]])
    yield "leak", given._replace(signals=signals, signal_names=[*given.signal_names, "leak"])
    shuffled = np.random.default_rng(0).permutation(given.decisions)
    yield "shuffled", given._replace(decisions=shuffled)


def main() -> None:
    """Print what is said of each input, and how often nothing was to be said."""
    alarms = count = 0
    for name, make in SETS.items():
        for seed in range(3):
            given = roles_of(make(seed))
            count += 1
            alarms += any(found.level == "no" for found in check_roles(given))
        said = []
        for what, wrong in wrong_inputs(roles_of(make(0))):
            found = [each.check for each in check_roles(wrong) if each.level == "no"]
            said.append(f"{what}: {found[0] if found else '-'}")
        print(f"{name:16}" + ", ".join(said))
    print(f"warnings on data sets that are right: {alarms} of {count} (claim: 0)")


if __name__ == "__main__":
    main()
