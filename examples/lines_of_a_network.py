"""
The lines of a network
======================

*Which lines does a network have, and which of them can dispatch tell us?*

Three plants serve five regions. Prices, demands, and how much plants and lines can carry are known;
which regions are joined by a line is not. ``NetworkLearner`` finds the network with the fewest
lines that explains every dispatch, proves that there is none better, and says which lines every
equally good network has. It needs the extra ``plot``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import feaslearn as fl
from example_tools import main, print_table

RING = [(1, 2), (2, 3), (3, 4), (4, 5), (1, 5)]

# %%
# Fit
# ---
# The true network is a ring. All ten pairs of regions are candidates, so there are 1024 networks.


def learn(n_samples: int, line_capacity: float) -> fl.NetworkLearner:
    """Learn the lines from some hours of dispatch."""
    data = fl.datasets.make_power5(n_samples, random_state=0, line_capacity=line_capacity)
    learner = fl.NetworkLearner(
        5,
        [1, 3, 5],
        generator_capacity=3.5,
        line_capacity=line_capacity,
        cost=[0, 1, 2],
        demand=range(3, 8),
    )
    return learner.fit(data.signals, data.decisions)


# %%
# What the data can tell
# ----------------------
# With lines of capacity 3.5 no line is ever full, and all that shows is that the network is
# connected. With 1.5 some lines fill up, and give themselves away.


class Results(NamedTuple):
    """A learner and what it identifies, by the capacity of the lines; what to observe next."""

    learners: dict[float, fl.NetworkLearner]
    identified: dict[float, Any]
    next_signal: Any


def run(quick: bool = False) -> Results:
    """Print what is certain; return the learners."""
    learners = {capacity: learn(40 if quick else 100, capacity) for capacity in (3.5, 1.5)}
    identified = {capacity: learner.identify() for capacity, learner in learners.items()}
    print_table(
        "lines of capacity",
        ("", *(str(capacity) for capacity in learners)),
        [
            ("loss", *(f"{learner.loss_:.2e}" for learner in learners.values())),
            ("lines learned", *(told(learner.lines_) for learner in learners.values())),
            ("networks as good", *(str(each.n_networks[1]) for each in identified.values())),
            ("certain", *(told(each.certain) for each in identified.values())),
            ("impossible", *(told(each.impossible) for each in identified.values())),
        ],
    )
    following = learners[1.5].next_signal(widen=1.5)
    prices, demands = following.signal[:3].round(2), following.signal[3:].round(2)
    print(f"observe next: prices {prices}, demands {demands}")
    print(f"of {following.n_networks} networks {following.expected_left:.1f} would be left")
    return Results(learners, identified, following)


def told(lines: Any) -> str:
    """Return lines as text."""
    return " ".join(f"{first}-{second}" for first, second in lines) or "none"


# %%
# The picture
# -----------
# The true lines lie behind; those learned are certain or not, and dotted ones could be instead.


def draw(results: Results) -> Any:
    """Draw both networks."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9.5, 5.0), layout="constrained")
    around = np.linspace(0.0, 2.0 * np.pi, 5, endpoint=False)
    places = dict(zip(range(1, 6), np.column_stack([np.cos(around), np.sin(around)]), strict=True))
    for panel, (capacity, learner) in zip(panels, results.learners.items(), strict=True):
        found = results.identified[capacity]
        layers = {
            "true": (RING, {"color": "#009E73", "lw": 11, "alpha": 0.3}),
            "possible": (found.undetermined, {"color": "#999999", "ls": ":"}),
            "learned": (learner.lines_, {"color": "#E69F00", "lw": 2.5}),
            "certain": (found.certain, {"color": "#0072B2", "lw": 3.5}),
        }
        for name, (lines, style) in layers.items():
            for k, line in enumerate(lines):
                label = f"{name} ({len(lines)})" if k == 0 else None
                panel.plot(*np.array([places[node] for node in line]).T, label=label, **style)
        for node, place in places.items():
            panel.annotate(str(node), place, ha="center", va="center", bbox={"fc": "white"})
        panel.set_title(f"capacity {capacity}: at least {found.n_networks[0]} networks fit")
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
        panel.set_aspect("equal")
        panel.set_axis_off()
    return figure


if __name__ == "__main__":
    main("lines_of_a_network", run, draw)
