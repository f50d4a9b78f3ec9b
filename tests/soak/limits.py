"""Give every trainer a deadline that is too short for its problem, and see when its search stops.

    python tests/soak/limits.py             5 seconds each
    python tests/soak/limits.py --seconds 10 --cases "annealing,facets"

A deadline is kept if the search looks at its clock at most a tenth of the limit and two seconds
after it; measuring the result comes on top. Kernels are compiled on a small problem first: the time
of that is not counted. Exit code 1 if a deadline is not kept.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from feaslearn.exceptions import FeaslearnError
from feaslearn.runs import Clock
from soak.cases import ALL, Case


def stopped_after(case: Case, seconds: float) -> tuple[float, float, str]:
    """Return when a clock first said that the time is up, how long all took, and its end."""
    stopped: list[float] = []
    model, data = case(True, max_seconds=seconds)
    began, look = time.monotonic(), Clock.out

    def looked(clock: Clock) -> bool:
        if late := look(clock):
            stopped.append(time.monotonic() - began)
        return late

    Clock.out = looked  # type: ignore[method-assign]
    try:
        status = str(model.fit(*data).result_.status)
    except FeaslearnError as problem:  # no model yet at the deadline
        status = f"{type(problem).__name__}: {problem}"
    finally:
        Clock.out = look  # type: ignore[method-assign]
    took = time.monotonic() - began
    return next(iter(stopped), took), took, status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cases", default=",".join(ALL))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    late = False
    print("| fit | search stopped (s) | measured (s) | ended with |", flush=True)
    print("|---|---|---|---|", flush=True)
    for name in asked.cases.split(","):
        model, data = ALL[name](False, max_seconds=20.0)
        model.fit(*data)
        stopped, took, status = stopped_after(ALL[name], asked.seconds)
        late |= stopped > 1.1 * asked.seconds + 2.0
        print(f"| {name} | {stopped:.1f} | {took - stopped:.1f} | {status} |", flush=True)
    return late


if __name__ == "__main__":
    raise SystemExit(main())
