"""The linear policy on every five-line network: can any topology give the paper's 2.58?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from experiments.frame.experiment import Claim, Experiment, Row, Settings
from experiments.frame.found import Found
from feaslearn import paper
from feaslearn.exceptions import FeaslearnError

LINES = list(combinations(range(1, 6), 2))
ROW = "Linear policy on all five-line networks"
PRINTED = 2.58


def rows(settings: Settings) -> list[Row]:
    """Return one row; quick mode looks at every tenth network."""
    return [Row(ROW, {"every": 10 if settings.quick else 1}, {"mean": PRINTED}, seconds=10.0)]


def measure(seed: int, *, every: int) -> dict[str, Any]:
    """Return the least, mean and largest test loss over networks that can serve the demand."""
    losses = []
    for lines in list(combinations(LINES, 5))[::every]:
        try:
            data = paper.datasets.make_power5(300, random_state=seed, lines=lines)
        except FeaslearnError:
            continue  # this network cannot serve every demand
        train, test = data[:100], data[100:]
        policy = paper.baselines.linear_policy(train)
        losses.append(paper.evaluate(policy.predict(test), test).returned)
    return {
        "least": min(losses),
        "mean": float(np.mean(losses)),
        "largest": max(losses),
        "networks": len(losses),
    }


def _reachable(found: Found) -> tuple[bool | None, str]:
    largest = float(found.values(ROW, "largest").max())
    return largest >= PRINTED, (
        f"{found.mean(ROW, 'networks'):.0f} networks serve the stated demand; the linear "
        f"policy loses "
        f"{found.mean(ROW, 'least'):.3f} to {found.mean(ROW, 'largest'):.3f} on average over "
        f"seeds, at most {largest:.3f}"
    )


EXPERIMENT = Experiment(
    name="topologies",
    title="The linear policy under every topology",
    about="100 rows to learn from, 200 to test on, for every choice of five lines that can "
    "serve the demand.",
    rows=rows,
    measure=measure,
    columns={"least": "least", "mean": "mean", "largest": "largest", "networks": "networks"},
    claims=(
        Claim("Power5, quadratic cost: 2.58 on the stated data, whatever the topology", _reachable),
    ),
)
