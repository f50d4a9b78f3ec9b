"""The five regions, 100 dispatches without noise: samples all at once, or as they are needed.

The paper learns this network in 23.5 s on a commercial solver and estimates 2.64 s for the loss of
each of 1024 networks. Here the same integer program is solved twice in one run, with all samples at
once and with samples added when a network gets them wrong, then by cuts (the default), and all
networks are enumerated. Run it with ``python experiments/network_power5.py`` (``--quick`` leaves
out the program with all samples at once and the 10 000 samples).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import feaslearn as fl

ARGUMENTS: dict[str, Any] = {
    "nodes": 5,
    "generators": [1, 3, 5],
    "generator_capacity": 3.5,
    "line_capacity": 3.5,
    "cost": [0, 1, 2],
    "demand": range(3, 8),
}


def timed_fit(data: fl.Decisions, **options: Any) -> tuple[fl.NetworkLearner, float]:
    """Fit a learner and return it with the seconds it took.

    Parameters
    ----------
    data : Decisions
        Signals and dispatches.
    **options
        Further arguments of the learner.

    Returns
    -------
    learner : NetworkLearner
        The learner.
    seconds : float
        The time.
    """
    began = time.perf_counter()
    learner = fl.NetworkLearner(**ARGUMENTS, **options).fit(data.signals, data.decisions)
    return learner, time.perf_counter() - began


def run(quick: bool) -> dict[str, float]:
    """Print the times, and return them by name.

    Parameters
    ----------
    quick : bool
        Whether to leave out what takes long.

    Returns
    -------
    dict of str to float
        Seconds.
    """
    small = fl.datasets.make_power5(n_samples=100, random_state=0)
    timed_fit(small[:5], solver="milp")  # loads the solver and compiles the kernels
    cases: dict[str, tuple[fl.Decisions, dict[str, Any]]] = {}
    for loss in ("predictability", "suboptimality"):
        cases[f"as needed, {loss}"] = (small, {"solver": "milp", "loss": loss})
        if not quick:
            cases[f"all at once, {loss}"] = (small, {"solver": "milp", "loss": loss, "lazy": False})
    cases["by cuts"] = (small, {})
    if not quick:
        large = fl.datasets.make_power5(n_samples=10_000, random_state=0)
        cases["as needed, N=10000"] = (large, {"solver": "milp"})
        cases["by cuts, N=10000"] = (large, {})
    seconds = {}
    print(f"{'':<28} {'seconds':>8} {'loss':>9} {'bound':>9} lines (bound)")
    for name, (data, options) in cases.items():
        learner, seconds[name] = timed_fit(data, **options)
        least = learner.result_.details["lower bound on lines"]
        print(
            f"{name:<28} {seconds[name]:>8.3f} {learner.loss_:>9.2g} {learner.bound_:>9.2g} "
            f"{len(learner.lines_)} ({least:.0f})"
        )
    return seconds


def main() -> None:
    """Print times, ratios and the equivalent networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    seconds = run(quick)
    if not quick:
        for loss in ("predictability", "suboptimality"):
            ratio = seconds[f"all at once, {loss}"] / seconds[f"as needed, {loss}"]
            print(f"all at once takes {ratio:.1f} times as long as samples as needed ({loss})")
    data = fl.datasets.make_power5(n_samples=100, random_state=0)
    began = time.perf_counter()
    everything = fl.baselines.EnumeratedNetwork(**ARGUMENTS).fit(data.signals, data.decisions)
    print(f"enumerating {len(everything.losses_)} networks: {time.perf_counter() - began:.3f} s")
    found = timed_fit(data)[0].identify()
    print(f"equivalent networks {found.n_networks}, by number of lines {found.by_size}")


if __name__ == "__main__":
    main()
