"""Run experiments: ``python -m experiments all``."""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from pathlib import Path

from rich.console import Console

from experiments.catalogue import EXPERIMENTS
from experiments.frame.cluster import cluster
from experiments.frame.experiment import SEEDS, Settings
from experiments.frame.page import write_experiment, write_page
from experiments.frame.runner import Cell, Pace, duration, run, unfinished
from experiments.frame.store import Store

RESULTS = Path(__file__).parents[1] / "results"


def seeds_of(text: str) -> tuple[int, ...]:
    """Return the seeds that a text names.

    Examples
    --------
    >>> seeds_of("0-2,7")
    (0, 1, 2, 7)
    """
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            seeds += range(int(first), int(last or first) + 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not like 0-9 or 0,3,7") from None
    if not seeds:
        raise argparse.ArgumentTypeError(f"{text!r} names no seed")
    return tuple(dict.fromkeys(seeds))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    names = ["all", *EXPERIMENTS]
    parser.add_argument("names", nargs="*", default=["all"], metavar="NAME", help=", ".join(names))
    parser.add_argument("--seeds", type=seeds_of, help="such as 100-109, the default (quick: 0)")
    parser.add_argument("--quick", action="store_true", help="small sizes, cheap rows, one seed")
    parser.add_argument("--solver-seconds", type=float, help="limit of each solver run (60)")
    parser.add_argument("--at-most", type=float, default=math.inf, help="leave out longer cells")
    parser.add_argument("--output", type=Path, help="folder of the results (results/)")
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time (1)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, whose workers run cells")
    parser.add_argument("--again", action="store_true", help="run finished cells once more")
    parser.add_argument("--no-run", action="store_true", help="only write tables and the page")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"no {', '.join(unknown)}; there are: {', '.join(names)}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for and write the results; return the exit code."""
    options = _options(sys.argv[1:] if arguments is None else arguments)
    chosen = [
        experiment
        for name, experiment in EXPERIMENTS.items()
        if name in options.names or "all" in options.names
    ]
    seeds = options.seeds or ((0,) if options.quick else SEEDS)
    settings = Settings(seeds, options.quick, options.solver_seconds or 60.0)
    store = Store(options.output or (RESULTS / "quick" if options.quick else RESULTS))
    console = Console(stderr=True)
    failed = []
    if not options.no_run:
        cells, pace = unfinished(chosen, settings, store, options.again, options.at_most)
        try:
            failed = _run(cells, pace, store, console, options)
        except KeyboardInterrupt:
            failed = ["interrupted; finished cells are kept, and the same command goes on"]
    for experiment in chosen:
        write_experiment(experiment, settings, store)
    page = write_page(list(EXPERIMENTS.values()), settings, store)
    Console().print(f"results: {page}", highlight=False, soft_wrap=True)
    for line in failed:
        console.print(f"failed: {line}", style="red", markup=False, soft_wrap=True)
    return 1 if failed else 0


def _run(
    cells: list[Cell], pace: Pace, store: Store, console: Console, options: argparse.Namespace
) -> list[str]:
    """Run cells where there are any; return those that failed."""
    if not cells:
        console.print("every cell is finished")
        return []
    from experiments.frame.models import warm_up

    console.print(f"{len(cells)} cells to run, about {duration(pace.left(cells))}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.scheduler:
            # Workers import the experiments themselves: they run at the top of a checkout.
            with cluster(options.scheduler) as n_jobs:
                return run(cells, pace, store, console, n_jobs)
        warm_up()
        return run(cells, pace, store, console, options.jobs)


if __name__ == "__main__":
    sys.exit(main())
